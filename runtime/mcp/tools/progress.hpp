// notifications/progress of one call: strictly increasing, none after the answer. At least one every ten seconds; a
// client that does not read then is told at the next ten.
// Event loop only.
#pragma once

#include "clock.hpp"
#include "mcp/tools/invocation.hpp"
#include "stream/collect_reader.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::mcp {

// What a notification's "message" holds.
enum class ProgressMessage {
  kStatus,  // "128 tokens, 41 tok/s", at most 5 a second
  kDelta,   // the text since the last notification; joined, they are the answer
  kText,    // all text so far
};

class Progress : public std::enable_shared_from_this<Progress> {
 public:
  // Tells the client of the invocation, which wants progress, until the invocation ends at the latest.
  static std::shared_ptr<Progress> start(asio::io_context& loop, Invocation& invocation, ProgressMessage message);
  Progress(asio::io_context& loop, Invocation& invocation, ProgressMessage message);

  void update(const CollectReader::Step& step);
  void stop();

 private:
  void send(std::string_view message);
  void tell_queue_position(std::size_t calls_before);
  void send_status();
  void break_silence();
  void keep_alive(Clock::time_point silent_since);

  const std::shared_ptr<Invocation> invocation_;
  const ProgressMessage message_;
  const Clock::time_point started_ = Clock::now();
  Clock::time_point last_sent_ = started_;
  Timer timer_;
  std::uint64_t tokens_ = 0;
  std::uint64_t token_limit_ = 0;              // 0 while it is not known
  double progress_ = 0;                        // the last value sent
  std::optional<std::size_t> queue_position_;  // kStatus: the newest, which the client has not been told
  std::string text_;                           // kText: all of it
  std::string unsent_;                         // kDelta: what came while the client took nothing
};

}  // namespace rkllm_mcp::mcp
