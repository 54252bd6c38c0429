// The severities of log messages that clients may ask for.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace rkllm_mcp {

enum class Severity { kDebug, kInfo, kNotice, kWarning, kError, kCritical, kAlert, kEmergency };

inline constexpr std::array<std::string_view, 8> kSeverityNames{"debug", "info",     "notice", "warning",
                                                                "error", "critical", "alert",  "emergency"};

constexpr std::string_view name_of(Severity level) { return kSeverityNames.at(static_cast<std::size_t>(level)); }

inline std::optional<Severity> severity_named(std::string_view name) {
  const auto found = std::find(kSeverityNames.begin(), kSeverityNames.end(), name);
  if (found == kSeverityNames.end()) return std::nullopt;
  return static_cast<Severity>(found - kSeverityNames.begin());
}

}  // namespace rkllm_mcp
