// One end of a pair of sockets, with frames on it. send() and receive() throw PeerGone when nobody is at the other end,
// and std::system_error when the socket fails otherwise.
//
// Threads: one receives; any may send, one at a time.
#pragma once

#include "process/descriptor.hpp"
#include "thread.hpp"
#include "worker/frame.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

namespace rkllm_mcp {

// Nobody is at the other end any more.
class PeerGone : public std::runtime_error {
 public:
  PeerGone() : std::runtime_error("the other end is closed") {}
};

class FrameSocket {
 public:
  explicit FrameSocket(Descriptor socket) : socket_(std::move(socket)) {}

  // Blocks until all is in the socket. The content is `first`, which one frame can hold, and then `rest`, in as many
  // frames as it takes.
  void send(FrameHead head, std::string_view first, std::string_view rest = {});
  // Without content; false if it cannot leave at once. Waits for nothing but a send() that is under way.
  bool try_send(FrameHead head);

  // From now on send() and receive() call `look` at least once in `interval` while they wait; if it throws, they end.
  void look_while_waiting(std::chrono::milliseconds interval, std::function<void()> look);
  // The next frame. What it holds is valid until more is received. Throws BadFrame, too.
  Frame receive();

  // To receive in another way, by a duplicate of the socket. It does not block if this one does not.
  Descriptor duplicate() const;  // throws std::system_error
  std::span<char> room() { return reader_.room(); }
  void filled(std::size_t bytes) { reader_.filled(bytes); }   // so much has come into that room
  std::optional<Frame> received() { return reader_.next(); }  // the next whole frame of it; throws BadFrame

  // Ends what both ends wait for. Any thread.
  void shut_down();

 private:
  void wait_or_throw(int error, short event) const;

  const Descriptor socket_;
  std::function<void()> look_;  // none: the socket itself blocks
  int interval_ms_ = 0;
  Mutex sending_;
  FrameReader reader_;
};

}  // namespace rkllm_mcp
