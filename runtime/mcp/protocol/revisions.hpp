// The revisions that this library serves.
#pragma once

#include "mcp/protocol/revision.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Oldest first.
std::span<const Revision> all_revisions();
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
