// One connection, whatever is spoken on it: reads as long as its owner can take more, writes what has gathered, notices
// stalls, idleness and the end, and closes without losing what was written.
//
// The owner is the protocol on top (lines, HTTP, WebSocket) and may hand the channel to another owner (an upgrade). The
// channel keeps its owner alive until it is closed, and itself as long as an operation is under way. The owner holds
// the channel, too: closing ends that circle, by letting go of the owner. What every owner does then is held by
// tests/runtime/transport/bytes/channel_owner_contract_test.cpp.
//
// What a callback about a connection throws ends that connection.
//
// Threads: belongs to the event loop.
#pragma once

#include "clock.hpp"
#include "deadline.hpp"
#include "run_loop.hpp"
#include "transport/bytes/byte_stream.hpp"
#include "transport/bytes/outbox.hpp"
#include "transport/limits.hpp"

#include <asio/io_context.hpp>

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void channel_received(std::string_view bytes) = 0;  // gone when the function returns
    virtual void channel_ended() = 0;                           // the other side sends nothing more; it may still read
    virtual void channel_ready() = 0;                           // ready() has turned true again
    // Called once, always by the loop: the channel is closed, and all that could be written has been. The owner tells
    // the layer above once, hands on nothing more that was received, and releases it.
    virtual void channel_closed() = 0;
    virtual void go_away() = 0;  // the server stops: say goodbye as the protocol has it, and close
  };

  Channel(asio::io_context& io, std::unique_ptr<ByteStream> stream, const ConnectionLimits& limits);

  // Gives the channel its (next) owner, and starts reading if that has not happened yet.
  void start(std::shared_ptr<Owner> owner);

  // Queues the parts one after the other. What is queued within one pass of the loop leaves in one write, but for the
  // long messages of the function below. Dropped once close() has been called.
  void write(std::initializer_list<std::string_view> parts);
  // Queues a message that nobody else needs, between short parts: a long one is not copied.
  void write(std::string_view head, std::string message, std::string_view end);
  bool ready() const { return !outbox_.full(); }
  bool has_room_for(std::size_t bytes) const { return waiting_.has_room_for(bytes); }
  asio::io_context& loop() { return io_; }
  bool is_open() const { return state_ == State::kOpen; }
  bool nothing_queued() const { return outbox_.size() == 0; }

  // Stops reading while the owner has enough to do. A client that leaves meanwhile is noticed only after
  // resume_input().
  void hold_input() {
    input_held_ = true;
    note_pause();
  }
  void resume_input();
  // Whether so many answers wait for the client that it should be asked for no more requests. channel_ready() comes
  // when that is over.
  bool congested() const { return outbox_.size() >= 2 * limits_.send_queue_bytes; }
  // Whether the client is not read at the moment, because of hold_input() or because it takes too few of its answers.
  bool input_paused() const { return input_held_ || congested(); }
  // The length of all pauses together that are over, see input_paused().
  Clock::duration time_paused() const { return time_paused_; }

  // The other side has ended its input and is owed something. Whether it still listens shows only when it is sent
  // something: a TCP socket that has been closed looks like one that has finished sending, until it refuses a packet.
  // Writes `filler`, which means nothing to whoever reads it, now and from time to time while nothing else is written.
  void keep_probing(std::string_view filler);

  // Has its owner say goodbye, if it has one still.
  void go_away();
  void close();  // when what is queued has been written
  void abort();  // at once: what is queued is lost
  // Runs something about this connection that the loop calls (a timer, say): what it throws ends the connection.
  // Reading and writing, through which everything goes, do the same in their own handlers.
  template <class Action>
  void contain(Action action) {
    or_else(std::move(action), [this] { abort(); });
  }

  // Runs `action` later, after what the loop has to call now, if the channel still has the owner that it has now.
  void later(std::function<void()> action);

  // Called once when the channel is of no more use, after the owner was told; for the set that counts connections.
  void when_finished(std::function<void()> action) { finished_ = std::move(action); }
  // Closes without telling anybody: the transport itself is going.
  void discard();

 private:
  // Open; closing: what is queued is still written; lingering: reads on so that the last bytes are not reset; closed.
  enum class State { kOpen, kClosing, kLingering, kClosed };

  void note_pause();
  void read();
  void on_read(const std::error_code& error, std::size_t bytes);
  void wake_writer();
  void write_some();
  void on_written(const std::error_code& error, std::size_t bytes);
  void finish_writing();
  void end_stream();
  void tell_closed();
  void out_of_patience();
  void check_idle();
  void probe();

  asio::io_context& io_;
  std::unique_ptr<ByteStream> stream_;
  const ConnectionLimits limits_;
  std::shared_ptr<Owner> owner_;
  std::function<void()> finished_;

  State state_ = State::kOpen;
  std::vector<char> input_;
  bool reading_ = false;  // or the owner looks at what has been read
  bool input_held_ = false;
  std::optional<Clock::time_point> paused_since_;
  Clock::duration time_paused_{0};
  bool ended_ = false;  // the other side has finished sending

  Outbox outbox_;
  MemoryShare waiting_;  // the memory that the outbox takes
  bool writing_ = false;
  bool wake_posted_ = false;

  bool stalled_ = false;  // patience_ runs because the client does not read, and not because it lingers
  Deadline patience_;     // until a stalled write, or a lingering client, is given up
  Deadline idle_;
  std::string filler_;  // see keep_probing()
  Deadline next_probe_;
  Clock::time_point last_traffic_;
};

}  // namespace rkllm_mcp
