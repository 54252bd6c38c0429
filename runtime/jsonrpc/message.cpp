#include "jsonrpc/message.hpp"

#include "jsonrpc/json_builder.hpp"
#include "jsonrpc/unread.hpp"

#include <iterator>
#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

Malformed invalid_request(RequestId id, const std::string& complaint) {
  return {std::move(id), RpcError(ErrorCode::kInvalidRequest, "invalid request: " + complaint)};
}

// The text to echo for an id of an allowed type, nothing for any other.
std::optional<RequestId> id_text(const Json& id, const std::string& source) {
  if (id.is_number_float()) return source;
  if (id.is_number_integer() || id.is_string()) return id.dump();
  return std::nullopt;
}

Message classify(Json root, const std::string& id_source, const MessageLimits& limits) {
  const auto version = root.find("jsonrpc");
  const auto id = root.find("id");
  RequestId id_echo(kNullId);
  if (id != root.end()) {
    const auto text = id_text(*id, id_source);
    if (!text) return invalid_request(id_echo, "id must be a string or a number");
    if (text->size() > limits.max_id_bytes) {
      count(limits.counts, Limit::kIdBytes);
      return invalid_request(id_echo, "id is longer than " + std::to_string(limits.max_id_bytes) + " bytes");
    }
    id_echo = *text;
  }
  if (version == root.end() || *version != "2.0") return invalid_request(id_echo, "jsonrpc must be \"2.0\"");

  const auto method = root.find("method");
  if (method == root.end()) {
    const auto result = root.find("result");
    const auto error = root.find("error");
    if ((result == root.end()) == (error == root.end())) return invalid_request(id_echo, "method is missing");
    return Response{id_echo, result == root.end() ? Json() : *result, error == root.end() ? Json() : *error};
  }
  if (!method->is_string()) return invalid_request(id_echo, "method must be a string");

  Json params;
  if (const auto given = root.find("params"); given != root.end()) {
    if (!given->is_structured() && !given->is_binary())
      return invalid_request(id_echo, "params must be an object or an array");
    params = std::move(*given);
  }
  if (id == root.end()) return Notification{method->get<std::string>(), std::move(params)};
  return Request{id_echo, method->get<std::string>(), std::move(params)};
}

Malformed too_many_values() { return invalid_request(RequestId(kNullId), "the message has too many members"); }

Message message_from(JsonBuilder& builder, bool is_json, const MessageLimits& limits) {
  if (!is_json) {
    if (builder.too_deep()) count(limits.counts, Limit::kDepth);
    if (!builder.structure_complaint().empty()) {
      return invalid_request(RequestId(kNullId), builder.structure_complaint());
    }
    return Malformed{RequestId(kNullId),
                     RpcError(ErrorCode::kParseError, "parse error: " + builder.syntax_complaint())};
  }
  Json root = builder.take();
  if (root.is_binary()) return unread_text(root).front() == '[' ? refused_batch() : too_many_values();
  if (root.is_array()) {
    if (root.empty()) return invalid_request(RequestId(kNullId), "the batch is empty");
    return Batch{{std::make_move_iterator(root.begin()), std::make_move_iterator(root.end())}};
  }
  if (!root.is_object()) return invalid_request(RequestId(kNullId), "a message is a JSON object");
  return classify(std::move(root), builder.id_source(), limits);
}

}  // namespace

Message parse_message(std::string_view text, const MessageLimits& limits) {
  if (text.size() <= kReadAtOnceBytes) {
    JsonBuilder builder(limits.max_depth);
    const bool is_json = Json::sax_parse(text.begin(), text.end(), &builder);
    return message_from(builder, is_json, limits);
  }
  const char* position = text.data();
  const char* end = text.data() + text.size();
  JsonBuilder builder(limits.max_depth, &position);
  const bool is_json = Json::sax_parse(TellingIterator(&position), TellingIterator(&end), &builder);
  return message_from(builder, is_json, limits);
}

RequestId id_of_beginning(std::string_view text, const MessageLimits& limits) {
  text = text.substr(0, kReadAtOnceBytes);
  JsonBuilder builder(limits.max_depth);
  Json::sax_parse(text.begin(), text.end(), &builder);  // which stops where the text does
  const Json root = builder.take();
  const auto id = root.find("id");
  const auto found = id == root.end() ? std::nullopt : id_text(*id, builder.id_source());
  return found && found->size() <= limits.max_id_bytes ? *found : RequestId(kNullId);
}

Message message_of(Json element, const MessageLimits& limits) {
  if (!element.is_object()) return invalid_request(RequestId(kNullId), "a message is a JSON object");
  const auto id = element.find("id");
  const std::string id_source = id == element.end() ? std::string() : id->dump();
  return classify(std::move(element), id_source, limits);
}

Malformed refused_batch() {
  return invalid_request(RequestId(kNullId),
                         "batches are for sessions of revision 2025-03-26; send one message at a time");
}

Malformed other_protocol() {
  return {RequestId(kNullId), RpcError(ErrorCode::kParseError,
                                       "parse error: the first message on a connection begins with { or [; nothing of "
                                       "this connection was executed, and it is closed. HTTP has a port of its own "
                                       "(http.port), and TLS is for ports where it is switched on (tcp.tls)")};
}

}  // namespace rkllm_mcp
