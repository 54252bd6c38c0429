#include "client/mcp/message_facts.hpp"

#include "json_members.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "mcp/protocol/agreed_names.hpp"

#include <algorithm>

namespace rkllm_mcp::client {
namespace {

bool is_id(const Json& json) { return json.is_string() || json.is_number(); }

void note_ids(const Json& message, MessageFacts& facts) {
  if (!message.is_object()) return;
  const auto id = message.find("id");
  if (id == message.end() || !is_id(*id)) return;
  if (message.contains("result") || message.contains("error")) {
    facts.answers.push_back(*id);
  } else if (message.contains("method")) {
    facts.requests.push_back(*id);
  }
}

}  // namespace

MessageFacts facts_of(std::string_view message) {
  MessageFacts facts;
  const auto parsed = parse_bounded(message);
  if (!parsed) return facts;
  const Json& json = *parsed;
  if (json.is_array()) {
    for (const Json& element : json) note_ids(element, facts);
  }
  if (!json.is_object()) return facts;
  note_ids(json, facts);
  facts.method = text_in(json, "method");
  const auto params = json.find("params");
  if (params == json.end() || !params->is_object()) return facts;
  if (const char* key = mcp::named_param(facts.method)) facts.name = text_in(*params, key);
  const auto meta = params->find("_meta");
  if (meta != params->end() && meta->is_object()) facts.revision = text_in(*meta, mcp::kMetaRevision);
  if (facts.method != "notifications/cancelled") return facts;
  if (const auto id = params->find("requestId"); id != params->end() && is_id(*id)) facts.cancels = *id;
  return facts;
}

std::string error_in_place(const Json& id, std::string_view complaint, const Json& data) {
  return Json{{"jsonrpc", "2.0"},
              {"id", id},
              {"error", {{"code", kInternalError}, {"message", std::string(complaint)}, {"data", data}}}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string on_one_line(std::string message) {
  std::ranges::replace_if(
      message, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return message;
}

}  // namespace rkllm_mcp::client
