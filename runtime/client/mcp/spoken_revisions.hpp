// The revisions of MCP that a client speaks.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace rkllm_mcp::client {

inline constexpr const char* kModernRevision = "2026-07-28";
inline constexpr std::array<std::string_view, 5> kLegacyRevisions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                                  "2024-11-05", "2024-10-07"};  // newest first

inline bool is_legacy_revision(std::string_view text) {
  return std::ranges::find(kLegacyRevisions, text) != kLegacyRevisions.end();
}

}  // namespace rkllm_mcp::client
