#include "mcp/protocol/request_responder.hpp"

#include "json_members.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/catalogue.hpp"

#include <string>
#include <utility>

namespace rkllm_mcp::mcp {
namespace {

// Blocks may come from elsewhere.
void replace_unknown(const Revision& revision, Json& block) {
  const std::string type = text_in(block, "type");
  if (type == "audio" && !revision.audio) block = text_block("[audio, " + text_in(block, "mimeType") + "]");
  if (type == "resource_link" && !revision.resource_links) block = text_block(text_in(block, "uri"));
}

}  // namespace

Json content_for(const Revision& revision, Json body) {
  if (revision.audio && revision.resource_links) return body;
  if (const auto content = body.find("content"); content != body.end() && content->is_array()) {
    for (Json& block : *content) replace_unknown(revision, block);
  }
  if (const auto messages = body.find("messages"); messages != body.end() && messages->is_array()) {
    for (Json& message : *messages) {
      if (message.is_object() && message.contains("content")) replace_unknown(revision, message["content"]);
    }
  }
  return body;
}

void RequestResponder::result(Json body) {
  reply_->result(revision_.era.result(content_for(revision_, std::move(body)), std::nullopt, server_));
}

void RequestResponder::notify(std::string_view method, const Json& params) {
  reply_->message(notification_message(method, params));
}

}  // namespace rkllm_mcp::mcp
