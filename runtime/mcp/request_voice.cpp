#include "mcp/request_voice.hpp"

#include "jsonrpc/envelope.hpp"
#include "mcp/catalogue.hpp"

#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

void replace_unknown(const Revision& revision, Json& block) {
  const std::string type = block.is_object() ? block.value("type", "") : "";
  if (type == "audio" && !revision.audio) block = text_block("[audio, " + block.value("mimeType", "") + "]");
  if (type == "resource_link" && !revision.resource_links) block = text_block(block.value("uri", ""));
}

}  // namespace

Json content_for(const Revision& revision, Json body) {
  if (revision.audio && revision.resource_links) return body;
  if (const auto content = body.find("content"); content != body.end() && content->is_array()) {
    for (Json& block : *content) replace_unknown(revision, block);
  }
  if (const auto messages = body.find("messages"); messages != body.end() && messages->is_array()) {
    for (Json& message : *messages) {
      if (message.contains("content")) replace_unknown(revision, message["content"]);
    }
  }
  return body;
}

void RequestVoice::result(Json body) {
  reply_->result(revision_.era.result(content_for(revision_, std::move(body)), std::nullopt, server_));
}

void RequestVoice::notify(std::string_view method, const Json& params) {
  reply_->message(notification_message(method, params));
}

}  // namespace rkllm_mcp
