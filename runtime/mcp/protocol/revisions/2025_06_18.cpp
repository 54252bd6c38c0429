// Adds structured output, links to resources, elicitation, and the version header.
#include "mcp/protocol/handshake_era.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/protocol/revisions/handshake_methods.hpp"

namespace rkllm_mcp {

const Revision kRevision20250618{.name = "2025-06-18", .era = handshake_era(), .methods = kHandshakeMethods};

}  // namespace rkllm_mcp
