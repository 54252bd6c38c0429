// What the log's thread does with each line: formats and writes it, counts what is lost, and says how much that was as
// soon as lines can be written again.
#pragma once

#include "clock.hpp"
#include "log_output.hpp"
#include "log_tail.hpp"

#include <spdlog/sinks/base_sink.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit LogSink(LogOutput output) : output_(std::move(output)) {}

  // To be called before the first line. `lost_before` returns how many lines were lost on their way here.
  void know_losses(std::function<std::uint64_t()> lost_before) { lost_before_ = std::move(lost_before); }

  // The following may be called from any thread, and never wait for a write.
  //
  // From the next line on, writes there.
  void move_to(LogOutput output);
  const LogTail& tail() const { return tail_; }  // the last lines
  // How many lines were lost, here or on their way here.
  std::uint64_t lost() const { return (lost_before_ ? lost_before_() : 0) + unwritten_; }
  // Until `time` a reader that takes nothing is waited for; later it is not.
  void wait_until(Clock::time_point time) { deadline_ = time.time_since_epoch(); }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}  // every line is written at once
  bool write(std::string_view line);
  void tell_of_losses();

  LogOutput output_;
  LogTail tail_;
  std::function<std::uint64_t()> lost_before_;
  int error_ = 0;           // errno of the last line that was lost here
  std::uint64_t told_ = 0;  // of the lost lines, how many the log has told of
  std::atomic<std::uint64_t> unwritten_{0};
  std::atomic<Clock::duration> deadline_{Clock::time_point::max().time_since_epoch()};

  std::mutex moving_;  // guards next_
  std::optional<LogOutput> next_;
};

}  // namespace rkllm_mcp
