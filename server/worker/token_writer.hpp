// Frames of tokens: written at once while they come slowly, many in one frame while they come fast.
//
// Threads: any. One of its own sends what would otherwise wait for the next token; it sleeps while nothing waits.
#pragma once

#include "worker/frame_socket.hpp"

#include <rkllm_mcp/result_sink.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace rkllm_mcp {

class TokenWriter {
 public:
  explicit TokenWriter(std::shared_ptr<FrameSocket> socket);
  ~TokenWriter();
  TokenWriter(const TokenWriter&) = delete;
  TokenWriter& operator=(const TokenWriter&) = delete;

  // What is added between these for that call is sent, before close() returns; all else is dropped.
  void open(std::uint32_t call);
  void close();

  // These block while the socket is full.
  void add(std::uint32_t call, const TokenRecord& token) noexcept;
  void add(std::uint32_t call, const FloatRows& rows) noexcept;
  bool nobody_reads() const { return nobody_reads_; }

 private:
  using Clock = std::chrono::steady_clock;
  // With mutex_ held, like the next ones.
  template <class Act>
  void guarded(const Act& act) noexcept;
  void add_record(const TokenRecord& token);
  void send_rows(const FloatRows& rows);
  void flush();
  void flush_late_ones();

  const std::shared_ptr<FrameSocket> socket_;
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
