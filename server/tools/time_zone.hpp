// Time zones from the system's files (RFC 8536), read by us: the C library knows one zone for a whole process only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class TimeZone {
 public:
  struct Local {
    std::chrono::seconds offset;  // east of Greenwich
    std::string abbreviation;
  };

  // By its name, e.g. "Asia/Ho_Chi_Minh"; nothing if the system has none of that name. `folder` is where they are.
  static std::optional<TimeZone> find(std::string_view name, const std::string& folder = "/usr/share/zoneinfo");
  // From a file's bytes; nothing if they are not such a file.
  static std::optional<TimeZone> read(std::string_view bytes);

  Local at(std::chrono::sys_seconds time) const;

 private:
  struct Transition {
    std::int64_t from;  // seconds since 1970
    std::size_t kind;
  };

  std::vector<Transition> transitions_;
  std::vector<Local> kinds_;
  std::string rule_;  // for times after the last transition, as the variable TZ has it; empty: the last kind goes on
};

}  // namespace rkllm_mcp
