#include "cli/people/log_line.hpp"

#include "clock.hpp"
#include "jsonrpc/bounded_json.hpp"

#include <rkllm_mcp/json.hpp>

#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>

namespace rkllm_mcp {
namespace {

constexpr std::string_view kShape = "0000-00-00 00:00:00.000 ";  // of a line in a text log; then "level: message"
constexpr std::array<std::string_view, 6> kLevels{"trace", "debug", "info", "warning", "error", "critical"};

bool has_time(std::string_view line) {
  if (line.size() < kShape.size()) return false;
  for (std::size_t at = 0; at < kShape.size(); ++at) {
    const bool is_digit = line[at] >= '0' && line[at] <= '9';
    if (kShape[at] == '0' ? !is_digit : line[at] != kShape[at]) return false;
  }
  return true;
}

int number_at(std::string_view text, std::size_t at, std::size_t digits) {
  int number = 0;
  std::from_chars(text.data() + at, text.data() + at + digits, number);
  return number;
}

// The log has local times; those of the hour that comes twice in autumn are taken for the later ones or the earlier
// ones as the system decides.
std::optional<std::chrono::system_clock::time_point> time_of(std::string_view line) {
  std::tm parts{};
  parts.tm_year = number_at(line, 0, 4) - 1900;
  parts.tm_mon = number_at(line, 5, 2) - 1;
  parts.tm_mday = number_at(line, 8, 2);
  parts.tm_hour = number_at(line, 11, 2);
  parts.tm_min = number_at(line, 14, 2);
  parts.tm_sec = number_at(line, 17, 2);
  parts.tm_isdst = -1;
  const std::time_t seconds = ::mktime(&parts);
  if (seconds == -1) return std::nullopt;
  return std::chrono::system_clock::from_time_t(seconds) + std::chrono::milliseconds(number_at(line, 20, 3));
}

struct LogRecord {
  std::string_view level;
  std::string_view message;
};

std::optional<LogRecord> entry_of(std::string_view line) {
  if (!has_time(line)) return std::nullopt;
  line.remove_prefix(kShape.size());
  const auto colon = line.find(": ");
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view level = line.substr(0, colon);
  if (std::find(kLevels.begin(), kLevels.end(), level) == kLevels.end()) return std::nullopt;
  return LogRecord{level, line.substr(colon + 2)};
}

}  // namespace

std::string log_line_as_json(std::string_view line) {
  Json record = line.starts_with('{') ? parse_bounded(line).value_or(nullptr) : Json();
  if (!record.is_object()) {
    record = Json{{"time", nullptr}, {"level", nullptr}, {"message", line}};
    if (const auto entry = entry_of(line)) {
      if (const auto time = time_of(line)) record["time"] = iso_time(*time);
      record["level"] = entry->level;
      record["message"] = entry->message;
    }
  }
  return record.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rkllm_mcp
