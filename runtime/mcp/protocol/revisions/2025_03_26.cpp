// Adds Streamable HTTP, audio, and batches, which the next revision takes back.
#include "mcp/protocol/handshake_era.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/protocol/revisions/handshake_methods.hpp"

namespace rkllm_mcp {

const Revision kRevision20250326{.name = "2025-03-26",
                                 .era = handshake_era(),
                                 .methods = kHandshakeMethods,
                                 .batches = true,
                                 .resource_links = false};

}  // namespace rkllm_mcp
