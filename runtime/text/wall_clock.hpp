// The time of day, which the system may set back: for people and protocols, never to measure by (that is clock.hpp).
// Threads: any.
#pragma once

#include "clock.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>

namespace rkllm_mcp {

inline std::int64_t seconds_since_1970() {
  return std::chrono::duration_cast<std::chrono::seconds>(time_of_day().time_since_epoch()).count();
}

// As ISO 8601 in UTC: "2026-11-22T16:20:05.123Z".
inline std::string iso_time(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  const std::string digits = std::to_string(1000 + since_epoch % 1000);  // with leading zeros
  return std::string(text.data(), length) + "." + digits.substr(1) + "Z";
}

}  // namespace rkllm_mcp
