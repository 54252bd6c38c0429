#include "jsonrpc/message.hpp"

#include "faults.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

Malformed invalid_request(RequestId id, const std::string& complaint) {
  return {std::move(id), RpcError(ErrorCode::kInvalidRequest, "invalid request: " + complaint)};
}

// Whether the members are those of an answer: a result or an error, and not both.
bool is_answer(const Json& root) {
  const auto version = root.find("jsonrpc");
  return version != root.end() && *version == "2.0" && !root.contains("method") &&
         root.contains("result") != root.contains("error");
}

Message classify(Json root, const std::string& written_id, const MessageLimits& limits) {
  const auto version = root.find("jsonrpc");
  const auto id = root.find("id");
  RequestId id_echo(kNullId);
  if (id != root.end()) {
    // Error answers have the id null where the request's could not be read. They must not be answered in their turn:
    // two servers over UDP, of which one is sent a forged datagram in the other's name, would not stop.
    const bool is_taken_null = id->is_null() && (limits.null_ids == NullIds::kTaken || is_answer(root));
    if (!id->is_string() && !id->is_number() && !is_taken_null)
      return invalid_request(id_echo, "id must be a string or a number");
    if (written_id.size() > limits.max_id_bytes) {
      count(limits.counts, Limit::kIdBytes);
      return invalid_request(id_echo, "id is longer than " + std::to_string(limits.max_id_bytes) + " bytes");
    }
    if (!is_taken_null) id_echo = has_fault("an id comes back as a value is written") ? id->dump() : written_id;
  }
  if (version == root.end() || *version != "2.0") return invalid_request(id_echo, "jsonrpc must be \"2.0\"");

  const auto method = root.find("method");
  if (method == root.end()) {
    if (!is_answer(root)) return invalid_request(id_echo, "method is missing");
    Response response{RequestId(kNullId), root.value("result", Json()), root.value("error", Json())};
    // The id is one that this server has made, however the client writes it.
    if (id != root.end() && !id->is_null()) response.id = id->dump();
    return response;
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

Message message_from(JsonBuilder& builder, bool is_json, std::string_view text, const MessageLimits& limits) {
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
    return Batch{{std::make_move_iterator(root.begin()), std::make_move_iterator(root.end())}, written_ids(text)};
  }
  if (!root.is_object()) return invalid_request(RequestId(kNullId), "a message is a JSON object");
  const auto ids = root.contains("id") ? written_ids(text) : std::vector<std::string>{{}};
  return classify(std::move(root), ids.front(), limits);
}

// Takes the member "id" of the outermost object and builds nothing else: where it is asked for, memory may be short.
class IdSeeker {
 public:
  const Json& id() const { return id_; }

  // What nlohmann's sax_parse calls. False stops the parser.
  bool null() { return take(nullptr); }
  bool boolean(bool flag) { return take(flag); }
  bool number_integer(std::int64_t number) { return take(number); }
  bool number_unsigned(std::uint64_t number) { return take(number); }
  bool number_float(double number, const std::string&) { return take(number); }
  bool string(std::string& text) { return take(std::move(text)); }
  bool binary(Json::binary_t&) { return false; }  // not in JSON text
  bool start_object(std::size_t) { return open(); }
  bool start_array(std::size_t) { return ++depth_ > 1 && open_value(); }  // a batch has no id
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(const std::string& name) {
    is_next_ = depth_ == 1 && name == "id";
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) { return false; }

 private:
  bool open() {
    ++depth_;
    return open_value();
  }
  bool open_value() {
    if (std::exchange(is_next_, false)) id_ = nullptr;
    return true;
  }
  bool close() {
    --depth_;
    return true;
  }
  bool take(Json value) {
    if (std::exchange(is_next_, false)) id_ = std::move(value);
    return true;
  }

  std::size_t depth_ = 0;
  bool is_next_ = false;
  Json id_;
};

// Walks over JSON text. In text that is cut off or not valid, what it finds may be wrong.
class Walk {
 public:
  explicit Walk(std::string_view json) : json_(json) {
    while (!at_end() && json_[at_] != '{' && json_[at_] != '[') ++at_;  // white space, perhaps a byte order mark
  }

  bool at_end() const { return at_ >= json_.size(); }
  // Whether the next character is `wanted`, which is then passed.
  bool take(char wanted) {
    skip_blanks();
    if (at_end() || json_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  // The text of the next value.
  std::string_view value() {
    skip_blanks();
    const std::size_t begin = at_;
    std::size_t depth = 0;
    do {
      if (at_end()) break;  // of the beginning of a message
      const char c = json_[at_];
      if (c == '"') {
        skip_string();
      } else if (c == '{' || c == '[') {
        ++depth;
        ++at_;
      } else if (c == '}' || c == ']') {
        --depth;
        ++at_;
      } else if (depth > 0) {
        ++at_;
      } else {
        at_ = std::min(json_.find_first_of(",]} \t\r\n", at_), json_.size());  // behind a number or a word
      }
    } while (depth > 0 && !at_end());
    return json_.substr(begin, at_ - begin);
  }

 private:
  void skip_blanks() { at_ = std::min(json_.find_first_not_of(" \t\r\n", at_), json_.size()); }
  void skip_string() {
    ++at_;
    while (!at_end() && json_[at_] != '"') at_ += json_[at_] == '\\' ? 2 : 1;
    ++at_;
  }

  std::string_view json_;
  std::size_t at_ = 0;
};

bool is_id(std::string_view name) {
  return name == "\"id\"" || (name.find('\\') != std::string_view::npos && Json::parse(name, nullptr, false) == "id");
}

// The id, as it is written, of the object whose opening brace has just been passed; empty: it has none.
std::string id_of_members(Walk& walk) {
  std::string id;
  while (!walk.take('}') && !walk.at_end()) {
    const bool is_wanted = is_id(walk.value());
    walk.take(':');
    const std::string_view value = walk.value();
    if (is_wanted && !walk.at_end()) id = value;  // a value at the end of the text may have been cut off
    walk.take(',');
  }
  return id;
}

}  // namespace

Message parse_message(std::string_view text, const MessageLimits& limits) {
  if (text.size() <= kReadAtOnceBytes) {
    JsonBuilder builder(limits.max_depth);
    const bool is_json = Json::sax_parse(text.begin(), text.end(), &builder);
    return message_from(builder, is_json, text, limits);
  }
  const char* position = text.data();
  const char* end = text.data() + text.size();
  JsonBuilder builder(limits.max_depth, &position);
  const bool is_json = Json::sax_parse(TellingIterator(&position), TellingIterator(&end), &builder);
  return message_from(builder, is_json, text, limits);
}

RequestId id_of_beginning(std::string_view text, const MessageLimits& limits) {
  text = text.substr(0, kReadAtOnceBytes);
  IdSeeker seeker;
  Json::sax_parse(text.begin(), text.end(), &seeker);  // which stops where the text does
  const Json& id = seeker.id();
  if (!id.is_string() && !id.is_number()) return RequestId(kNullId);
  // The text may be cut off or damaged: an id counts only if the parser and the plain scan find the same one.
  const std::string written = written_ids(text).front();
  const bool is_whole = Json::parse(written, nullptr, false) == id;
  return is_whole && written.size() <= limits.max_id_bytes ? RequestId(written) : RequestId(kNullId);
}

Message message_of(Json element, const std::string& written_id, const MessageLimits& limits) {
  if (!element.is_object()) return invalid_request(RequestId(kNullId), "a message is a JSON object");
  return classify(std::move(element), written_id, limits);
}

bool is_same_id(const RequestId& one, const RequestId& other) {
  if (one == other) return true;
  // Only text can be written in several ways. Long numbers are not compared by value: they may differ in digits that
  // no value keeps.
  const bool may_be_escaped = one.find('\\') != std::string::npos || other.find('\\') != std::string::npos;
  return may_be_escaped && id_value(one) == id_value(other);
}

Malformed refused_batch() {
  return invalid_request(RequestId(kNullId),
                         "batches are for sessions of revision 2025-03-26; send one message at a time");
}

Malformed other_protocol() {
  return {RequestId(kNullId), RpcError(ErrorCode::kParseError,
                                       "parse error: the first message on a connection begins with { or [; nothing of "
                                       "this connection was executed, and it is closed. HTTP has a port of its own, "
                                       "and TLS is for ports where it is switched on")};
}

std::vector<std::string> written_ids(std::string_view json) {
  Walk walk(json);
  if (walk.take('{')) return {id_of_members(walk)};
  std::vector<std::string> ids;
  if (!walk.take('[')) return ids;
  while (!walk.take(']') && !walk.at_end()) {
    Walk element(walk.value());
    ids.push_back(element.take('{') ? id_of_members(element) : std::string());
    walk.take(',');
  }
  return ids;
}

}  // namespace rkllm_mcp
