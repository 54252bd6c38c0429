// The revisions that this library serves.
#pragma once

#include "mcp/protocol/revision.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Oldest first. Each is defined in a file of its own.
extern const Revision kRevision20241007;
extern const Revision kRevision20241105;
extern const Revision kRevision20250326;
extern const Revision kRevision20250618;
extern const Revision kRevision20251125;
extern const Revision kRevision20260728;

std::span<const Revision* const> all_revisions();
// Null if it is not served.
const Revision* find_revision(std::string_view name);

// The revision that `initialize` answers: the one asked for if it can be agreed on by a handshake, else the newest
// such.
const Revision& negotiated_revision(std::string_view asked_for);
// Of clients that have said nothing about it.
const Revision& newest_handshake_revision();
// The names of those without a handshake, newest first.
std::vector<std::string> stateless_revisions();

}  // namespace rkllm_mcp
