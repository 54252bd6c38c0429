#include "call/poll_reader.hpp"

#include "call/value_text.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace rkllm_mcp {
namespace {

// The most bytes of a chunk while memory is short.
constexpr std::size_t kShortChunkBytes = 16 * 1024;

}  // namespace

RpcError stream_not_found() {
  return {ErrorCode::kStreamNotFound, "stream session not exists or expired", Json::object()};
}

RpcError chunks_not_found(std::uint64_t from_seq, std::uint64_t first_seq) {
  const RpcError error = stream_not_found();
  return {error.code(), error.what(), Json{{"from_seq", from_seq}, {"first_seq", first_seq}}};
}

void PollReader::announce(Reply& reply, std::string announcement, std::chrono::milliseconds patience) {
  announcing_ = reply.shared_from_this();
  announcement_ = std::move(announcement);
  patience_.set_after(patience);
}

void PollReader::out_of_patience() {
  const auto self = shared_from_this();  // finish() may drop the last reference
  contain([this] {
    announce_now();
    answer_waiting();
  });
}

void PollReader::announce_now() {
  const auto reply = std::exchange(announcing_, nullptr);
  if (!reply) return;
  patience_.clear();
  if (!stream()->waiting()) take_outcome();
  if (outcome_ && outcome_->error) {
    reply->error(as_rpc_error(outcome_->error));
    return finish();
  }
  reply->last(announcement_);
}

void PollReader::poll(Reply& reply, std::chrono::milliseconds wait) {
  const auto self = shared_from_this();  // finish() may drop the last reference
  expiry_.clear();                       // also one that has passed, and whose callback has not run yet
  expiry_running_ = false;
  announce_now();
  answer_waiting();  // only the newest poll waits
  // Values that are still being written on another thread are no news yet.
  if (!stream()->waiting()) take_outcome();
  if (has_news() || queue_position_ || wait.count() == 0) return answer(reply);

  waiting_ = reply.shared_from_this();
  patience_.set_after(wait);
}

void PollReader::drain() {
  if (const auto position = stream()->take_queue_position()) {
    queue_position_ = position;
    if (waiting_) return answer_waiting();
  }
  if (!stream()->waiting()) take_outcome();
  if (!has_news()) return;
  announce_now();
  if (waiting_) return answer_waiting();
  if (!expiry_running_) restart_expiry();
}

// The request that waits is answered; if none waits, the next poll gets the error.
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
  if (has_fault("a poll that waits is not answered")) return;
  const auto reply = std::exchange(waiting_, nullptr);
  or_else([&] { answer(*reply); }, [&] { reply->error(as_rpc_error(std::current_exception())); });
}

Chunk PollReader::take_some(const Reply& reply) {
  std::size_t limit = reply.peer().facts().max_message_bytes;
  // Escaped, text may become longer.
  if (!reply.answer().has_room_for(2 * stream()->bytes_waiting())) limit = std::min(limit, kShortChunkBytes);
  if (limit == std::numeric_limits<std::size_t>::max()) return stream()->take_entry().value_or(Chunk());
  const std::size_t room = limit > writer_.overhead_bytes() ? limit - writer_.overhead_bytes() : 1;
  return stream()->take(ChunkOf::kAllThatWaits, room).value_or(Chunk());
}

void PollReader::answer(Reply& reply) {
  if (reply.peer().closed()) {  // its client will come again: nothing may be taken for an answer that gets lost
    if (has_news()) restart_expiry();
    return;
  }
  if (has_news() && !reply.answer().has_room_for(kShortChunkBytes)) {  // nothing may be taken that cannot be sent
    reply.error(no_memory());
    return restart_expiry();
  }
  writer_.answer_as(reply.id());
  const Chunk chunk = take_some(reply);
  const bool empty = chunk.delta.empty() && chunk.token_ids.empty();
  take_outcome();
  if (outcome_ && !outcome_->error) {
    const auto objection = send_ending(chunk, reply);
    if (!objection) return finish();
    if (empty && !outcome_->error) {  // the ending is kept for a poll over another transport, or until there is memory
      reply.error(*objection);
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

std::optional<RpcError> PollReader::send_ending(const Chunk& rest, Reply& reply) {
  if (auto objection = reply.objection(ending_bytes_ + reply.id().size())) return objection;
  ChunkWriter writer = writer_;
  std::string message = writer.end(rest, *outcome_);
  const bool is_alone = rest.delta.empty() && rest.token_ids.empty();
  if (ending_bytes_ > 0 && message.size() > options_.values.most_bytes) {
    const RpcError error = too_long_reply(message.size(), options_.values);
    if (is_alone) outcome_->error = std::make_exception_ptr(error);
    return error;
  }
  if (auto objection = reply.objection(message.size())) {
    if (is_alone) ending_bytes_ = message.size() - reply.id().size();
    return objection;
  }
  reply.last(std::move(message));
  return std::nullopt;
}

std::string PollReader::nothing_yet() {
  const auto position = std::exchange(queue_position_, std::nullopt);
  return position ? writer_.queue_position(*position) : writer_.nothing_new();
}

void PollReader::take_outcome() {
  if (outcome_ || are_values_being_written_ || !stream()->drained()) return;
  // Both steps hold it: one writes its values, the other keeps it.
  const auto outcome = std::make_shared<CallOutcome>(stream()->take_outcome());
  ending_bytes_ = bytes_of_rows(*outcome);  // as text they take more
  const auto write = [outcome, how = options_.values] {
    try {
      write_rows(*outcome, how);
    } catch (...) {
      *outcome = {};
      outcome->error = std::current_exception();
    }
  };
  if (ending_bytes_ <= kWrittenAtOnceBytes || options_.writing == nullptr) {
    write();
    outcome_ = std::move(*outcome);
    return;
  }
  are_values_being_written_ = true;
  options_.writing->run(write, [weak = weak_from_this(), outcome] {
    const auto self = std::static_pointer_cast<PollReader>(weak.lock());
    if (!self) return;
    self->are_values_being_written_ = false;
    self->outcome_ = std::move(*outcome);
    self->contain([&self] { self->drain(); });
  });
}

void PollReader::restart_expiry() {
  expiry_running_ = true;
  expiry_.set_after(options_.expiry);
}

void PollReader::expire() {
  const auto self = shared_from_this();  // finish() may drop the last reference
  expired_();
  if (has_fault("a polled stream that nobody asks for is kept")) return;
  finish();
}

}  // namespace rkllm_mcp
