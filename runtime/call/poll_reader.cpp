#include "call/poll_reader.hpp"

#include "jsonrpc/failure.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rkllm_mcp {

RpcError stream_not_found() {
  return {ErrorCode::kStreamNotFound, "stream session not exists or expired", Json::object()};
}

RpcError chunks_not_found(std::uint64_t from_seq, std::uint64_t first_seq) {
  const RpcError error = stream_not_found();
  return {error.code(), error.what(), Json{{"from_seq", from_seq}, {"first_seq", first_seq}}};
}

void PollReader::announce(std::shared_ptr<Reply> reply, std::string announcement, std::chrono::milliseconds patience) {
  announcing_ = std::move(reply);
  announcement_ = std::move(announcement);
  patience_.set_after(patience);
}

void PollReader::out_of_patience() {
  const auto self = shared_from_this();  // its last act lets go of it
  contain([this] {
    announce_now();
    answer_waiting();
  });
}

void PollReader::announce_now() {
  const auto reply = std::exchange(announcing_, nullptr);
  if (!reply) return;
  patience_.clear();
  if (!stream()->waiting() && stream()->drained()) outcome_ = stream()->take_outcome(options_.encoding);
  if (outcome_ && outcome_->error) {
    reply->error(as_rpc_error(outcome_->error));
    return finish();
  }
  reply->last(announcement_);
}

void PollReader::poll(std::shared_ptr<Reply> reply, std::chrono::milliseconds wait) {
  expiry_.clear();  // also one that has passed, and whose turn on the loop has not come
  expiry_running_ = false;
  announce_now();
  answer_waiting();  // only the newest poll waits
  if (has_news() || queue_position_ || wait.count() == 0) return answer(*reply);

  waiting_ = std::move(reply);
  patience_.set_after(wait);
}

void PollReader::drain() {
  if (const auto position = stream()->take_queue_position()) {
    queue_position_ = position;
    if (waiting_) return answer_waiting();
  }
  if (!has_news()) return;
  announce_now();
  if (waiting_) return answer_waiting();
  if (!expiry_running_) restart_expiry();
}

// The next poll is told, if nobody waits.
void PollReader::fail(const std::exception_ptr& fault) {
  stream()->stop();
  outcome_.emplace().error = fault;
  announce_now();
  answer_waiting();
  if (!expiry_running_) restart_expiry();
}

void PollReader::answer_waiting() {
  if (!waiting_) return;
  patience_.clear();
  const auto reply = std::exchange(waiting_, nullptr);
  answer(*reply);
}

Chunk PollReader::take_all(const Peer& peer) {
  const std::size_t limit = peer.max_message_bytes();
  if (limit == std::numeric_limits<std::size_t>::max()) return stream()->take_entry().value_or(Chunk());
  return stream()->take(true, limit - writer_.overhead_bytes()).value_or(Chunk());
}

void PollReader::answer(Reply& reply) {
  if (reply.peer().closed()) {  // its client will come again: nothing may be taken for an answer that gets lost
    if (has_news()) restart_expiry();
    return;
  }
  writer_.answer_as(reply.id());
  const Chunk chunk = take_all(reply.peer());
  const bool empty = chunk.delta.empty() && chunk.token_ids.empty();
  if (!outcome_ && stream()->drained()) outcome_ = stream()->take_outcome(options_.encoding);
  if (outcome_ && !outcome_->error) {
    ChunkWriter ending = writer_;
    const std::string message = ending.end(chunk, *outcome_);
    if (reply.fits(message)) {
      reply.last(message);
      return finish();
    }
    // Another transport may carry what this one cannot: the ending waits for the next poll.
    if (empty) {
      reply.error(reply.too_long(message));
      return restart_expiry();
    }
  }
  if (outcome_ && empty) {
    reply.last(writer_.failure(as_rpc_error(outcome_->error)));
    return finish();
  }
  if (!empty) queue_position_.reset();
  // With an error still to tell, or an ending that did not fit, the text comes first and the rest with the next poll.
  reply.last(empty ? nothing_yet() : writer_.chunk(chunk));
  if (has_news()) restart_expiry();
}

std::string PollReader::nothing_yet() {
  const auto position = std::exchange(queue_position_, std::nullopt);
  return position ? writer_.queue_position(*position) : writer_.nothing_new();
}

void PollReader::restart_expiry() {
  expiry_running_ = true;
  expiry_.set_after(options_.expiry);
}

void PollReader::expire() {
  const auto self = shared_from_this();  // its last act lets go of it
  expired_();
  finish();
}

}  // namespace rkllm_mcp
