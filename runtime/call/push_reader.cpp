#include "call/push_reader.hpp"

#include "faults.hpp"
#include "jsonrpc/envelope.hpp"

namespace rkllm_mcp {

void PushReader::drain() {
  if (ended_) return;
  Peer& peer = reply_->peer();
  // A client that does not read is told the newest place later.
  if (const auto position = peer.ready() ? stream()->take_queue_position() : std::nullopt;
      position && writer_.next_seq() == 0) {
    reply_->message(writer_.queue_position(*position));
  }
  const ChunkOf what = std::exchange(resuming_, false) ? ChunkOf::kAllThatWaits : ChunkOf::kOneToken;
  const std::size_t room = peer.facts().preferred_chunk_bytes;
  const std::size_t text_room = room > writer_.overhead_bytes() ? room - writer_.overhead_bytes() : 1;
  while (peer.closed() || peer.ready()) {  // for a client that has gone, what is left of the run is taken and dropped
    const auto chunk = stream()->take(what, text_room);
    if (!chunk) break;
    std::string message = writer_.chunk(*chunk);
    reply_->message(message);
    sent(std::move(message));
  }
  if (stream()->drained()) return send_end();
  if (peer.closed() || peer.ready() || waiting_) return;
  if (has_fault("a stream never hears that its client takes more")) return;
  const bool is_in_batch = &reply_->answer() != &peer.answer();
  if (is_in_batch && has_fault("a stream in a batch never hears that its client takes more")) return;
  waiting_ = true;
  peer.when_ready([self = std::static_pointer_cast<PushReader>(shared_from_this())] {
    self->waiting_ = false;
    self->resuming_ = true;
    self->contain([&self] { self->drain(); });
  });
}

void PushReader::fail(const std::exception_ptr& fault) {
  ended_ = true;
  stream()->stop();
  const bool has_ended = reply_->answered();
  std::string message = writer_.failure(as_rpc_error(fault));
  reply_->last(message);
  try {
    if (!has_ended) sent(std::move(message));
  } catch (const std::bad_alloc&) {
    // The message is not retained: a client that asks for it again gets nothing. The request ends all the same.
  }
  finish();
}

void PushReader::client_gone() {
  waiting_ = false;  // a closed peer never becomes ready again
  drain();
}

void PushReader::send_end() {
  ended_ = true;
  struct Ending {
    CallOutcome outcome;
    WrittenAnswer message;
  };
  // Both steps hold it: one makes the message, the other sends it.
  const auto ending = std::make_shared<Ending>(Ending{stream()->take_outcome(), {}});
  const bool is_long = bytes_of_rows(ending->outcome) > kWrittenAtOnceBytes;
  const auto write = [ending, writer = writer_, how = options_.values] {
    try {
      ending->message = write_answer(ending->outcome, how, [&] {
        if (ending->outcome.error) return writer.failure(as_rpc_error(ending->outcome.error));
        return ChunkWriter(writer).end(Chunk{}, ending->outcome);
      });
    } catch (...) {
      ending->outcome = {};
      ending->message = {writer.failure(as_rpc_error(std::current_exception()))};
    }
  };
  if (is_long && options_.writing != nullptr) {
    return options_.writing->run(write, [self = std::static_pointer_cast<PushReader>(shared_from_this()), ending] {
      self->contain([&] { self->send_last(std::move(ending->message.text)); });
    });
  }
  write();
  send_last(std::move(ending->message.text));
}

void PushReader::send_last(std::string message) {
  // Reply::last() would send an error of the request in its place, which ends no stream: the client would wait on.
  if (const auto why = reply_->objection(message.size())) message = writer_.failure(*why);
  std::string kept;  // a long one is copied only where it is kept
  if (options_.retained > 0) kept = message;
  if (has_fault("the end of a run is told twice")) reply_->message(message);
  reply_->last(std::move(message));
  sent(std::move(kept));
  finish();
}

void PushReader::sent(std::string message) {
  ++sent_;
  if (options_.retained > 0) retain(std::move(message));
}

// The last one is kept in any case, or its client would never learn of the end.
void PushReader::retain(std::string message) {
  std::size_t bytes = share_.bytes() + message.size();
  retained_.push_back(std::move(message));
  const auto is_too_much = [&] { return bytes > share_.bytes() && !share_.has_room_for(bytes - share_.bytes()); };
  while (retained_.size() > options_.retained || (retained_.size() > 1 && is_too_much())) {
    bytes -= retained_.front().size();
    retained_.pop_front();
  }
  share_.set(bytes);
}

void PushReader::announce(std::string announcement) {
  reply_->message(announcement);
  announcement_ = std::move(announcement);
}

void PushReader::send_all_again() {
  if (first_retained() > 0) return;
  if (!announcement_.empty()) reply_->peer().send(announcement_);
  send_again(0);
}

bool PushReader::send_again(std::uint64_t seq) {
  const std::uint64_t first = first_retained();
  if (seq < first) return false;
  Peer& peer = reply_->peer();
  if (seq >= sent_) peer.send(writer_.nothing_new());
  for (std::uint64_t next = seq; next < sent_ && (next == seq || peer.ready()); ++next) {
    peer.send(retained_[static_cast<std::size_t>(next - first)]);
  }
  return true;
}

}  // namespace rkllm_mcp
