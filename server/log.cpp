#include "log.hpp"

#include "clock.hpp"

#include <spdlog/async_logger.h>
#include <spdlog/details/thread_pool.h>
#include <spdlog/formatter.h>
#include <spdlog/pattern_formatter.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace rkllm_mcp {
namespace {

// Encloses an event's message in the text that spdlog gets; its fields follow as JSON. JsonFormatter takes them apart.
constexpr char kEventMark = '\x1e';

struct Event {
  std::string_view message;
  Json fields;
};

Event event_of(std::string_view payload) {
  const auto end = payload.starts_with(kEventMark) ? payload.find(kEventMark, 1) : std::string_view::npos;
  if (end == std::string_view::npos) return {payload, Json::object()};
  return {payload.substr(1, end - 1), Json::parse(payload.substr(end + 1), nullptr, false)};
}

// One JSON object per line: {"time": …, "level": …, "message": …, fields of an event}
class JsonFormatter final : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& out) override {
    const auto level = spdlog::level::to_string_view(message.level);
    const Event event = event_of({message.payload.data(), message.payload.size()});
    Json record = {{"time", iso_time(message.time)},
                   {"level", std::string_view(level.data(), level.size())},
                   {"message", event.message}};
    if (event.fields.is_object()) record.update(event.fields);
    const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    out.append(line.data(), line.data() + line.size());
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

// Fields hold what clients sent: in a text log they may neither end a line nor speak to a terminal.
std::string text_of(const Json& value) {
  const auto is_plain = [](unsigned char c) { return c > 0x20 && c < 0x7F && c != '"'; };
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (std::all_of(text.begin(), text.end(), is_plain)) return text;
  }
  return value.dump(-1, ' ', true, Json::error_handler_t::replace);  // other scripts escaped: they hold controls, too
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::kTrace: return spdlog::level::trace;
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarning: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::info;
}

LogOutput open_output(const std::string& file) {
  if (file.empty()) return LogOutput::standard_error();
  try {
    return LogOutput(file);
  } catch (const std::system_error& error) {
    throw std::runtime_error("log.file: " + std::string(error.what()));
  }
}

// At the end: how long a reader of the log that takes nothing is waited for.
constexpr std::chrono::milliseconds kLastLines{200};

}  // namespace

Log::Log(const LogSettings& settings)
    : file_(settings.file),
      sink_(std::make_shared<LogSink>(open_output(settings.file))),
      thread_(std::make_shared<spdlog::details::thread_pool>(kWaitingLines, 1)),
      logger_(std::make_shared<spdlog::async_logger>("rkllm-mcp", sink_, thread_,
                                                     spdlog::async_overflow_policy::overrun_oldest)) {
  // The pool's own thread asks, too. It must not share in owning the pool: as the last owner it would wait for its own
  // end. The pool outlives its thread.
  sink_->know_losses([pool = thread_.get()]() -> std::uint64_t { return pool->overrun_counter(); });
  switch (settings.format) {
    case LogFormat::kText: logger_->set_pattern("%Y-%m-%d %H:%M:%S.%e %l: %v"); break;
    case LogFormat::kJson: logger_->set_formatter(std::make_unique<JsonFormatter>()); break;
  }
  logger_->set_error_handler([](const std::string&) {});  // its own would print, and wait for whoever reads that
  set_level(*logger_, settings.level);
}

std::uint64_t Log::lost_lines() const { return thread_ ? sink_->lost() : lost_; }

bool Log::reopen() {
  if (file_.empty()) return false;
  sink_->move_to(open_output(file_));
  return true;
}

void Log::close() {
  if (!thread_) return;
  sink_->wait_until(Clock::now() + kLastLines);
  lost_ = sink_->lost();
  thread_.reset();  // waits until its queue is empty
}

void log_event(spdlog::logger& log, LogFormat format, std::string_view message, const std::function<Json()>& made) {
  if (!log.should_log(spdlog::level::info)) return;
  const Json fields = made();
  if (format == LogFormat::kJson) {
    return log.info("{0}{1}{0}{2}", kEventMark, message, fields.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  std::string text(message);
  for (const auto& [name, value] : fields.items()) {
    text += " " + name + "=" + text_of(value);
  }
  log.info("{}", text);
}

void set_level(spdlog::logger& log, LogLevel level) { log.set_level(level_of(level)); }

}  // namespace rkllm_mcp
