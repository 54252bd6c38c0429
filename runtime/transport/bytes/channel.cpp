#include "transport/bytes/channel.hpp"

#include "faults.hpp"

#include <asio/error.hpp>
#include <asio/post.hpp>

#include <algorithm>
#include <utility>

namespace rkllm_mcp {

namespace {

// Quiet connections hold little; the buffer grows to what the client's bursts fill.
constexpr std::size_t kFirstInputBytes = 4 * 1024;
constexpr std::size_t kLargestInputBytes = 64 * 1024;
// How long a client may go on sending after the last byte was written to it.
constexpr std::chrono::milliseconds kLinger{1000};
constexpr std::chrono::milliseconds kBetweenProbes{1000};

}  // namespace

Channel::Channel(asio::io_context& io, std::unique_ptr<ByteStream> stream, const ConnectionLimits& limits)
    : io_(io),
      stream_(std::move(stream)),
      limits_(limits),
      input_(kFirstInputBytes),
      outbox_(limits.send_queue_bytes),
      waiting_(limits.memory),
      patience_(io, [this] { contain([this] { out_of_patience(); }); }),
      idle_(io, [this] { contain([this] { check_idle(); }); }),
      next_probe_(io, [this] { contain([this] { probe(); }); }),
      last_traffic_(Clock::now()) {}

void Channel::start(std::shared_ptr<Owner> owner) {
  owner_ = std::move(owner);
  if (limits_.idle.count() > 0) idle_.set_at(last_traffic_ + limits_.idle);
  read();
}

void Channel::resume_input() {
  input_held_ = false;
  note_pause();
  read();
}

// To be called whenever input_paused() may have changed.
void Channel::note_pause() {
  if (input_paused() == paused_since_.has_value()) return;
  const auto now = Clock::now();
  if (!paused_since_) {
    paused_since_ = now;
  } else {
    time_paused_ += now - *std::exchange(paused_since_, std::nullopt);
  }
}

void Channel::read() {
  if (reading_ || ended_ || state_ == State::kClosed) return;
  if (state_ == State::kOpen && input_paused()) return;
  reading_ = true;
  stream_->async_read_some(asio::buffer(input_),
                           [self = shared_from_this()](const std::error_code& error, std::size_t bytes) {
                             try {
                               self->on_read(error, bytes);
                             } catch (...) {
                               self->abort();
                               throw;
                             }
                           });
}

void Channel::on_read(const std::error_code& error, std::size_t bytes) {
  if (state_ == State::kClosed) return;
  if (error && error != asio::error::eof) return abort();
  if (error || bytes == 0) return end_stream();
  last_traffic_ = Clock::now();
  if (state_ == State::kOpen) {
    const auto owner = owner_;  // may be replaced meanwhile
    owner->channel_received({input_.data(), bytes});
  }
  reading_ = false;  // not before: the owner must not start a read into the buffer that it looks at
  if (bytes == input_.size() && bytes < kLargestInputBytes) input_.resize(2 * bytes);
  read();
}

void Channel::end_stream() {
  ended_ = true;
  if (state_ == State::kLingering) return abort();
  // From here on no read tells that the client is gone.
  stream_->async_wait_hangup([self = shared_from_this()] { self->abort(); });
  if (state_ == State::kOpen) {
    const auto owner = owner_;
    owner->channel_ended();
  }
}

void Channel::write(std::initializer_list<std::string_view> parts) {
  if (state_ != State::kOpen) return;
  std::size_t bytes = 0;
  for (const auto part : parts) bytes += part.size();
  outbox_.expect(bytes);
  wake_writer();  // first: where that throws, nothing has been queued
  for (const auto part : parts) outbox_.append(part);
  waiting_.set(outbox_.size());
  note_pause();
}

void Channel::write(std::string_view head, std::string message, std::string_view end) {
  if (state_ != State::kOpen) return;
  const bool is_long = message.size() >= Outbox::kLongBytes;  // and brings its own memory
  outbox_.expect(head.size() + end.size() + (is_long ? 0 : message.size()));
  wake_writer();  // first: where that throws, nothing has been queued
  outbox_.append(head);
  outbox_.take(std::move(message));
  outbox_.append(end);
  waiting_.set(outbox_.size());
  note_pause();
}

void Channel::wake_writer() {
  if (writing_ || wake_posted_) return;
  asio::post(io_, [self = shared_from_this()] {
    self->wake_posted_ = false;
    try {
      self->write_some();
    } catch (...) {
      self->abort();
      throw;
    }
  });
  wake_posted_ = true;  // not if that has thrown
}

// What is left of the latest write, else what has gathered since.
void Channel::write_some() {
  if (writing_ || state_ == State::kClosed || state_ == State::kLingering) return;
  if (outbox_.in_flight().empty() && !outbox_.begin()) {
    patience_.clear();
    if (state_ == State::kClosing) finish_writing();
    return;
  }
  writing_ = true;
  stalled_ = true;
  patience_.set_after(limits_.stall);
  const auto bytes = outbox_.in_flight();
  stream_->async_write_some(asio::buffer(bytes.data(), bytes.size()),
                            [self = shared_from_this()](const std::error_code& error, std::size_t count) {
                              try {
                                self->on_written(error, count);
                              } catch (...) {
                                self->abort();
                                throw;
                              }
                            });
}

void Channel::on_written(const std::error_code& error, std::size_t bytes) {
  if (state_ == State::kClosed) return;
  if (error) return abort();
  last_traffic_ = Clock::now();
  waiting_.set(outbox_.size() - std::min(outbox_.size(), bytes));
  const bool is_ready = outbox_.written(bytes);
  note_pause();
  // First let the owner refill, so that what it adds leaves with the next write.
  if (is_ready && state_ == State::kOpen) {
    const auto owner = owner_;
    owner->channel_ready();
    if (state_ == State::kClosed) return;
  }
  writing_ = false;
  write_some();
  read();
}

void Channel::later(std::function<void()> action) {
  asio::post(io_, [self = shared_from_this(), owner = owner_, action = std::move(action)] {
    if (owner && self->owner_ == owner) self->contain(action);
  });
}

void Channel::keep_probing(std::string_view filler) {
  if (has_fault("a client that has closed is taken for one that has finished sending")) return;
  filler_ = filler;
  probe();
}

void Channel::probe() {
  if (state_ != State::kOpen) return;
  if (nothing_queued()) write({filler_});
  next_probe_.set_after(kBetweenProbes);
}

void Channel::go_away() {
  if (const auto owner = owner_) contain([&] { owner->go_away(); });
}

void Channel::close() {
  if (state_ != State::kOpen) return;
  state_ = State::kClosing;
  idle_.clear();
  wake_writer();
  read();  // and drop what arrives: TCP resets a connection that is closed with unread input
}

void Channel::finish_writing() {
  if (!stream_->shutdown_write() || ended_) return abort();
  state_ = State::kLingering;
  stalled_ = false;
  patience_.set_after(kLinger);
  tell_closed();
}

void Channel::out_of_patience() {
  if (stalled_) count(limits_.counts, Limit::kStall);
  abort();
}

void Channel::abort() {
  if (state_ == State::kClosed) return;
  state_ = State::kClosed;
  stream_->close();
  idle_.clear();
  patience_.clear();
  tell_closed();
}

void Channel::tell_closed() {
  if (!owner_ && !finished_) return;
  const auto kept = has_fault("a connection that has closed keeps itself") ? owner_ : nullptr;
  asio::post(io_, [owner = std::exchange(owner_, kept), finished = std::exchange(finished_, nullptr)] {
    const auto finish = [&finished] {
      if (finished && !has_fault("the end of a connection is not told")) finished();
    };
    if (owner) or_else([&] { owner->channel_closed(); }, finish);
    finish();
  });
}

void Channel::discard() {
  owner_ = nullptr;
  finished_ = nullptr;
  abort();
}

void Channel::check_idle() {
  const auto deadline = last_traffic_ + limits_.idle;
  if (deadline > Clock::now()) return idle_.set_at(deadline);
  count(limits_.counts, Limit::kIdle);
  close();
}

}  // namespace rkllm_mcp
