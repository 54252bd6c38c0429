// The way back to whoever sent one request: any number of messages, then exactly one last one (or none, when the
// protocol says that the request ends unanswered). Shared by those who may answer; event loop only.
#pragma once

#include "immutable.hpp"
#include "jsonrpc/message.hpp"
#include "memory_budget.hpp"
#include "transport/answer_sink.hpp"
#include "transport/peer.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class Reply : public std::enable_shared_from_this<Reply> {
 public:
  // `finished` is called once, after the last message (from inside the function that sent it).
  Reply(AnswerSink& answer, RequestId id, std::function<void()> finished = {})
      : answer_(answer.keep()), id_(std::move(id)), finished_(std::move(finished)) {
    answer_->expected();
  }
  // For a notification: executed, never answered.
  static Reply unanswered(AnswerSink& answer) {
    Reply reply(answer, RequestId(kNullId));
    reply.muted_ = true;
    return reply;
  }

  const RequestId& id() const { return id_; }
  AnswerSink& answer() const { return *answer_; }
  Peer& peer() const { return answer_->peer(); }
  bool answered() const { return answered_; }
  bool muted() const { return muted_; }

  // What the request takes of the memory for requests, for as long as anybody needs it.
  void set_memory(const std::optional<Immutable<MemoryShare>>& memory) { memory_ = memory; }
  const std::optional<Immutable<MemoryShare>>& memory() const { return memory_; }

  void message(std::string_view text);  // one of those before the last
  // The last, as ready text; only the first call counts. If it throws, the request is still to be answered.
  void last(std::string text);
  // Why a last message of so many bytes cannot be sent, nothing if it can: it does not fit one message of the peer, or
  // there is no memory for it. last() then sends that error in its place.
  std::optional<RpcError> objection(std::size_t bytes) const;
  void result(const Json& result);
  void error(const RpcError& error);
  void nothing();  // ends the request without an answer
  // From now on nothing is sent, whatever is called: a cancelled MCP request.
  void mute() { muted_ = true; }
  void on_finished(std::function<void()> finished) { finished_ = std::move(finished); }
  // Calls `action` once: with the last message as it was sent, with "" if that was muted, or with nothing if there was
  // none.
  using LastFunction = std::function<void(std::optional<std::string_view>)>;
  void on_last(LastFunction action) { on_last_ = std::move(action); }
  // Calls `action` once, when the request has been answered, or has ended without an answer.
  void on_answered(std::function<void(const Reply&)> action) { on_answered_ = std::move(action); }
  // The request has become a call: the log line about it is written when the call ends, and not for the request.
  void mark_as_call() { is_of_call_ = true; }
  bool is_of_call() const { return is_of_call_; }
  std::optional<ErrorCode> error_code() const { return error_code_; }  // of error()

 private:
  void end_with(std::string text, std::optional<ErrorCode> error);
  void finish(std::optional<std::string_view> last);

  std::shared_ptr<AnswerSink> answer_;
  RequestId id_;
  std::function<void()> finished_;
  std::optional<Immutable<MemoryShare>> memory_;  // the call that the request becomes has it, too
  LastFunction on_last_;
  std::function<void(const Reply&)> on_answered_;
  std::optional<ErrorCode> error_code_;
  bool is_of_call_ = false;
  bool answered_ = false;
  bool muted_ = false;
};

}  // namespace rkllm_mcp
