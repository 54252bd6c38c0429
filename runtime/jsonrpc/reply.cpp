#include "jsonrpc/reply.hpp"

#include "jsonrpc/envelope.hpp"

#include <utility>

namespace rkllm_mcp {

void Reply::message(std::string_view text) {
  if (!answered_ && !muted_) peer_->send(text);
}

void Reply::last(std::string_view text) {
  if (answered_) return;
  answered_ = true;
  if (muted_) {
    peer_->end_unanswered();
    return finish(std::string_view());
  }
  std::string refusal;
  if (!fits(text)) {
    refusal = error_message(id_, too_long(text));
  } else if (!peer_->has_room_for(text.size())) {
    refusal = error_message(id_, no_memory());
  }
  if (!refusal.empty()) text = refusal;
  peer_->send_last(text);
  finish(text);
}

bool Reply::fits(std::string_view text) const { return text.size() <= peer_->max_message_bytes(); }

RpcError Reply::too_long(std::string_view text) const {
  return too_large("the reply does not fit one message of this transport; ask over tcp, http or ws", text.size(),
                   peer_->max_message_bytes());
}

void Reply::result(const Json& result) { last(result_message(id_, result)); }

void Reply::error(const RpcError& error) {
  if (!answered_) {
    error_code_ = error.code();
    peer_->answers_with(error.code());
  }
  last(error_message(id_, error));
}

void Reply::nothing() {
  if (std::exchange(answered_, true)) return;
  peer_->end_unanswered();
  finish(std::nullopt);
}

void Reply::finish(std::optional<std::string_view> last) {
  if (const auto on_answered = std::exchange(on_answered_, {})) on_answered(*this);
  if (const auto on_last = std::exchange(on_last_, {})) on_last(last);
  if (const auto finished = std::exchange(finished_, {})) finished();
}

}  // namespace rkllm_mcp
