// Protocol revisions of the handshake era, and how one is agreed on.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace rkllm_mcp {

// Newest first. 2024-10-07 is a pre-release that the official clients still list; it is served like 2024-11-05.
inline constexpr std::array<std::string_view, 5> kHandshakeRevisions{"2025-11-25", "2025-06-18", "2025-03-26",
                                                                     "2024-11-05", "2024-10-07"};

inline bool is_handshake_revision(std::string_view revision) {
  return std::find(kHandshakeRevisions.begin(), kHandshakeRevisions.end(), revision) != kHandshakeRevisions.end();
}

// The revision that `initialize` answers: the one asked for if it is served, else the newest of this era.
inline std::string_view negotiated_revision(std::string_view asked_for) {
  return is_handshake_revision(asked_for) ? asked_for : kHandshakeRevisions.front();
}

}  // namespace rkllm_mcp
