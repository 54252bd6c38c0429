// Reads the frames of one run on the event loop, where its tokens are wanted, so that each wakes one thread only. The
// first frame that is something else goes to the thread that makes the call, which reads on from there.
//
// Threads: start() and await() on that thread, the rest on the event loop. While the pump reads, nobody else uses the
// socket's receiving side.
#pragma once

#include "thread.hpp"
#include "worker/frame_socket.hpp"
#include "worker/reply_reader.hpp"

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

namespace rkllm_mcp {

class TokenPump : public std::enable_shared_from_this<TokenPump> {
 public:
  // `socket` and `reader` are used until await() has returned or thrown, and not after that. Throws std::system_error,
  // before anything of the run is read, where no more files can be opened.
  TokenPump(asio::io_context& loop, FrameSocket& socket, ReplyReader& reader);

  void start();
  // The first frame that holds no tokens. Meanwhile `look` is called at least once in each `interval`, with the number
  // of signs of life so far: frames that have come, and looks during which a reader had no room. What it throws ends
  // the waiting. Throws also what FrameSocket::receive() does.
  Frame await(std::chrono::milliseconds interval, const std::function<void(std::uint64_t signs)>& look);

 private:
  void room_may_have_come();
  // With mutex_ held:
  void go_on();  // with what has been received; then waits for more, or for room
  void await_room();
  void fail();  // with the exception that is being handled
  void end();

  asio::local::stream_protocol::socket bytes_;  // a duplicate of the socket's: it may outlive the socket
  Timer room_;
  std::function<void()> on_room_;

  Mutex mutex_;  // guards what follows
  FrameSocket& socket_;
  ReplyReader& reader_;
  ConditionVariable ended_news_;
  bool ended_ = false;                  // `socket` and `reader` are not used any more
  bool is_full_ = false;                // tokens wait for room
  std::optional<TokenRecord> refused_;  // the first token that waits
  std::uint64_t signs_ = 0;
  std::optional<Frame> other_;
  std::exception_ptr failure_;
};

}  // namespace rkllm_mcp
