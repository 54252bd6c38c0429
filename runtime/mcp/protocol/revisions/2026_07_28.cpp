// No handshake and no sessions: every request says who asks, and in which revision.
#include "mcp/protocol/revisions.hpp"
#include "mcp/protocol/stateless_era.hpp"

#include <array>

namespace rkllm_mcp {
namespace {

constexpr std::array<std::string_view, 13> kMethods{
    "server/discover", "tools/list",   "tools/call",  "resources/list",      "resources/templates/list",
    "resources/read",  "prompts/list", "prompts/get", "completion/complete", "subscriptions/listen",
    "tasks/get",       "tasks/update", "tasks/cancel"};

}  // namespace

const Revision kRevision20260728{.name = "2026-07-28", .era = stateless_era(), .methods = kMethods};

}  // namespace rkllm_mcp
