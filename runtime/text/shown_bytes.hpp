// How many bytes, as people read it. Pure function, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace rkllm_mcp {

// "2.1 GB", "313.0 MB", "12 bytes": of thousands, as disks and hubs count.
inline std::string shown_bytes(std::int64_t bytes) {
  constexpr double kGigabyte = 1e9;
  constexpr double kMegabyte = 1e6;
  const auto size = static_cast<double>(bytes);
  std::array<char, 32> text{};
  if (size >= kGigabyte) {
    std::snprintf(text.data(), text.size(), "%.1f GB", size / kGigabyte);
  } else if (size >= kMegabyte) {
    std::snprintf(text.data(), text.size(), "%.1f MB", size / kMegabyte);
  } else {
    std::snprintf(text.data(), text.size(), "%.0f bytes", size);
  }
  return text.data();
}

}  // namespace rkllm_mcp
