// A channel on a clock that stands still, whose stream does what the test says, and whose owner notes what it is told.
#pragma once

#include "simulation/sim_bench.hpp"
#include "support/usual_limits.hpp"
#include "transport/bytes/byte_stream.hpp"
#include "transport/bytes/channel.hpp"
#include "transport/limits.hpp"

#include <asio/buffer.hpp>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

// What the stream waits for and has been told, and the other side as the test plays it.
class StreamScript {
 public:
  bool is_read() const { return static_cast<bool>(reading); }
  // The other side sends this; the channel must be reading, and take all of it at once.
  void deliver(std::string_view bytes) {
    if (!reading || bytes.size() > buffer.size()) throw std::logic_error("the channel does not read so much");
    std::memcpy(buffer.data(), bytes.data(), bytes.size());
    std::exchange(reading, nullptr)({}, bytes.size());
  }
  void end_input() { std::exchange(reading, nullptr)(asio::error::eof, 0); }
  void fail_reading() { std::exchange(reading, nullptr)(asio::error::connection_reset, 0); }
  void hang_up() { std::exchange(hangup, nullptr)(); }

  // What is offered and not taken yet; empty if nothing is.
  std::string_view offered() const { return writing ? offered_ : std::string_view(); }
  // The other side takes so many bytes of that.
  void take(std::size_t bytes) {
    taken += offered().substr(0, bytes);
    std::exchange(writing, nullptr)({}, bytes);
  }
  void take_all() { take(offered().size()); }
  void fail_writing() { std::exchange(writing, nullptr)(asio::error::broken_pipe, 0); }

  ByteStream::TransferHandler reading{};
  asio::mutable_buffer buffer{};
  ByteStream::TransferHandler writing{};
  std::string_view offered_{};
  ByteStream::HangupHandler hangup{};
  std::string taken{};
  bool may_still_send = true;  // what shutdown_write() says of the other side
  bool is_shut_down = false;
  bool is_closed = false;
};

class ScriptedStream final : public ByteStream {
 public:
  ScriptedStream(asio::io_context& loop, StreamScript& script) : loop_(loop), script_(script) {}

  void async_read_some(asio::mutable_buffer buffer, TransferHandler handler) override {
    script_.buffer = buffer;
    script_.reading = std::move(handler);
  }
  void async_write_some(asio::const_buffer buffer, TransferHandler handler) override {
    script_.offered_ = {static_cast<const char*>(buffer.data()), buffer.size()};
    script_.writing = std::move(handler);
  }
  void async_wait_hangup(HangupHandler handler) override { script_.hangup = std::move(handler); }
  bool shutdown_write() override {
    script_.is_shut_down = true;
    return script_.may_still_send;
  }
  // What was waited for ends, from the loop, as with a stream of the system.
  void close() override {
    script_.is_closed = true;
    script_.hangup = nullptr;
    for (auto* const waiting : {&script_.reading, &script_.writing}) {
      if (!*waiting) continue;
      asio::post(loop_, [handler = std::exchange(*waiting, nullptr)] { handler(asio::error::operation_aborted, 0); });
    }
  }

 private:
  asio::io_context& loop_;
  StreamScript& script_;
};

// What an owner has been told, in its order: "received TEXT", "ended", "ready", "closed", "go away".
class NotingOwner final : public Channel::Owner {
 public:
  void channel_received(std::string_view bytes) override {
    told.push_back("received " + std::string(bytes));
    if (on_received) on_received(bytes);
  }
  void channel_ended() override { told.emplace_back("ended"); }
  void channel_ready() override {
    told.emplace_back("ready");
    if (on_ready) on_ready();
  }
  void channel_closed() override { told.emplace_back("closed"); }
  void go_away() override { told.emplace_back("go away"); }

  std::vector<std::string> told{};
  std::function<void(std::string_view)> on_received{};
  std::function<void()> on_ready{};
};

class ScriptedChannel {
 public:
  explicit ScriptedChannel(const ConnectionLimits& limits = usual_limits<ConnectionLimits>())
      : channel(
            std::make_shared<Channel>(bench.loop(), std::make_unique<ScriptedStream>(bench.loop(), stream), limits)) {
    channel->when_finished([this] { ++finished; });
    channel->start(owner);
  }
  ScriptedChannel(const ScriptedChannel&) = delete;
  ScriptedChannel& operator=(const ScriptedChannel&) = delete;
  ~ScriptedChannel() {
    channel->discard();
    bench.settle();
  }

  // Written in a pass of the loop of its own.
  void write(std::string_view text) {
    channel->write({text});
    bench.settle();
  }

  simulation::SimBench bench;
  StreamScript stream;
  std::shared_ptr<NotingOwner> owner = std::make_shared<NotingOwner>();
  std::shared_ptr<Channel> channel;
  int finished = 0;
};

}  // namespace rkllm_mcp::test
