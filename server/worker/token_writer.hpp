// Frames of tokens: written at once while they come slowly, many in one frame while they come fast.
//
// Threads: any. One of its own sends what would otherwise wait for the next token; it sleeps while nothing waits.
#pragma once

#include "backend.hpp"
#include "clock.hpp"
#include "process/descriptor.hpp"
#include "worker/frame_socket.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace rkllm_mcp {

class TokenWriter : public std::enable_shared_from_this<TokenWriter> {
 public:
  explicit TokenWriter(Descriptor socket);
  ~TokenWriter();
  TokenWriter(const TokenWriter&) = delete;
  TokenWriter& operator=(const TokenWriter&) = delete;

  // The observer of that call's run. All that it is told before close() has been sent when close() returns; what comes
  // later is dropped. It blocks while the socket is full. It keeps this writer.
  std::shared_ptr<CallObserver> open(std::uint32_t call);
  void close();
  bool nobody_reads() const { return nobody_reads_; }
  // For all else that goes over it.
  FrameSocket& socket() { return socket_; }

 private:
  class RunFrames;

  // With mutex_ held.
  void send_rows(const FloatRows& rows);
  void flush() noexcept;
  void flush_late_ones();

  FrameSocket socket_;
  std::atomic<bool> nobody_reads_{false};

  static constexpr std::uint32_t kNone = 0;
  std::mutex mutex_;
  std::uint32_t open_ = kNone;
  std::string waiting_;
  Clock::time_point last_sent_{};
  bool ending_ = false;
  bool sleeping_ = false;  // the thread waits for something to send
  std::condition_variable news_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace rkllm_mcp
