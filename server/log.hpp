// The server's log: to standard error or a file, never to standard output, which belongs to the protocol.
//
// A thread of its own writes the lines, so that neither a reader that takes nothing nor a full disk holds up the
// threads that log. Up to kWaitingLines wait for it; then the oldest are lost. How many lines were lost is counted, and
// logged as soon as lines can be written again.
//
// Threads: any, but close() and the destructor: nobody may log any more then.
#pragma once

#include "log_sink.hpp"
#include "settings/settings.hpp"

#include <spdlog/logger.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace spdlog::details {
class thread_pool;
}

namespace rkllm_mcp {

class Log {
 public:
  static constexpr std::size_t kWaitingLines = 2048;

  // Throws std::runtime_error naming the file if it cannot be opened.
  explicit Log(const LogSettings& settings);
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  ~Log() { close(); }

  spdlog::logger& logger() { return *logger_; }
  std::uint64_t lost_lines() const;
  const LogTail& tail() const { return sink_->tail(); }
  // Opens the file again, after it has been renamed or removed (logrotate). Throws std::runtime_error, and goes on with
  // the one that is open. False if the log is not a file.
  bool reopen();
  // Writes what still waits, within a fraction of a second; from here on nothing is logged. To be called when no other
  // thread uses the log any more.
  void close();

 private:
  const std::string file_;
  const std::shared_ptr<LogSink> sink_;                   // shared with the logger, as spdlog has it
  std::shared_ptr<spdlog::details::thread_pool> thread_;  // spdlog wants it shared; null when closed
  std::shared_ptr<spdlog::logger> logger_;
  std::uint64_t lost_ = 0;  // how many lines were lost until it was closed
};

// Writes an event with its fields: as "message key=value ..." in a text log, as members of the record in a JSON log.
// `fields` is called only if the log takes events.
void log_event(spdlog::logger& log, LogFormat format, std::string_view message, const std::function<Json()>& fields);

// For a level that changes while the server runs.
void set_level(spdlog::logger& log, LogLevel level);

}  // namespace rkllm_mcp
