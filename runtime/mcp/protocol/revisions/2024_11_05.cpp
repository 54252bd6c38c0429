// The first revision: stdio, and HTTP with a separate event stream.
#include "mcp/protocol/handshake_era.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/protocol/revisions/handshake_methods.hpp"

namespace rkllm_mcp {

const Revision kRevision20241105{.name = "2024-11-05",
                                 .era = handshake_era(),
                                 .methods = kHandshakeMethods,
                                 .audio = false,
                                 .resource_links = false};

}  // namespace rkllm_mcp
