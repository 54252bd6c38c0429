#include "jsonrpc/reply.hpp"

#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "run_loop.hpp"

#include <utility>

namespace rkllm_mcp {
namespace {

// Messages of fewer bytes are sent whatever memory there is: an error in their place would take no less.
constexpr std::size_t kShortBytes = 1024;

}  // namespace

void Reply::message(std::string_view text) {
  if (!answered_ && !muted_) peer().send(text);
}

void Reply::last(std::string text) { end_with(std::move(text), std::nullopt); }

void Reply::end_with(std::string text, std::optional<ErrorCode> error) {
  if (answered_) return;
  if (muted_) {
    answered_ = true;
    if (has_fault("a request that was cancelled leaves its exchange open")) return;
    answer_->none();
    return finish(std::string_view());
  }
  if (const auto why = objection(text.size())) {
    text = error_message(id_, *why);
    error = why->code();
  }
  std::string to_keep;
  if (on_last_) to_keep = text;
  answered_ = true;  // from here on: there may have been no memory for the copy
  or_else([&] { answer_->last(std::move(text), error); }, [this] { answered_ = false; });
  finish(to_keep);
}

std::optional<RpcError> Reply::objection(std::size_t bytes) const {
  const std::size_t most = peer().facts().max_message_bytes;
  if (bytes > most) {
    return too_large("the reply does not fit one message of this transport; ask over tcp, http or ws", bytes, most);
  }
  if (bytes > kShortBytes && !answer_->has_room_for(bytes)) return no_memory();
  return std::nullopt;
}

void Reply::result(const Json& result) { last(result_message(id_, result)); }

void Reply::error(const RpcError& error) {
  if (!answered_) error_code_ = error.code();
  end_with(error_message(id_, error), error.code());
}

void Reply::nothing() {
  if (std::exchange(answered_, true)) return;
  answer_->none();
  finish(std::nullopt);
}

void Reply::finish(std::optional<std::string_view> last) {
  if (const auto on_answered = std::exchange(on_answered_, {})) on_answered(*this);
  if (const auto on_last = std::exchange(on_last_, {})) on_last(last);
  if (const auto finished = std::exchange(finished_, {})) finished();
}

}  // namespace rkllm_mcp
