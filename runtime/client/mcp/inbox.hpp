// Messages on their way from the threads that receive them to the one that asks for them. When it is full, those who
// put wait: the server is then read no further. Threads: everything may be called from any; one lock guards all.
#pragma once

#include "client/connection.hpp"
#include "clock.hpp"

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

namespace rkllm_mcp::client {

class Inbox {
 public:
  // Waits for room. After fail() the message is dropped.
  void put(std::string message);
  // The next message; nothing at the deadline. Throws ConnectionError when there is none left after fail().
  std::optional<std::string> take(Clock::time_point deadline);
  // Nothing more comes, for this reason. The first one counts.
  void fail(Loss loss);
  void fail(const std::string& reason) { fail(Loss(reason)); }
  void throw_if_failed() const;
  bool has_failed() const;

 private:
  static constexpr std::size_t kMostMessages = 4096;
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20U;  // or one message of any length

  bool is_full() const { return messages_.size() >= kMostMessages || bytes_ >= kMostBytes; }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> messages_;
  std::size_t bytes_ = 0;
  std::optional<Loss> failure_;
};

}  // namespace rkllm_mcp::client
