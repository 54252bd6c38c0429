// One end of a pair of sockets, with frames on it.
//
// Threads: one receives; any may send, one at a time.
#pragma once

#include "worker/descriptor.hpp"
#include "worker/frame.hpp"

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
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

  // Blocks until all is in the socket. Throws PeerGone.
  void send(FrameHead head, std::string_view content);
  // In as many frames as it takes.
  void send_text(FrameHead head, std::string_view prefix, std::string_view text);

  // receive() gives up after so long without a byte.
  void set_patience(std::chrono::milliseconds patience);
  // The next frame; nothing if it has not come in time. What it holds is valid until the next call. Throws PeerGone and
  // BadFrame.
  std::optional<Frame> receive();

  // Ends what both ends wait for. Any thread.
  void shut_down();

 private:
  const Descriptor socket_;
  std::mutex sending_;
  FrameReader reader_;
};

}  // namespace rkllm_mcp
