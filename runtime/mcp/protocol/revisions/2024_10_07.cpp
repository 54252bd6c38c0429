// A pre-release that the official clients still list: served like 2024-11-05.
#include "mcp/protocol/handshake_era.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/protocol/revisions/handshake_methods.hpp"

namespace rkllm_mcp {

const Revision kRevision20241007{.name = "2024-10-07",
                                 .era = handshake_era(),
                                 .methods = kHandshakeMethods,
                                 .audio = false,
                                 .resource_links = false};

}  // namespace rkllm_mcp
