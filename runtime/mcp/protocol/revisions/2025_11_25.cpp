// Adds event streams that can be resumed from their beginning, and icons. The last one with a handshake.
#include "mcp/protocol/handshake_era.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/protocol/revisions/handshake_methods.hpp"

namespace rkllm_mcp {

const Revision kRevision20251125{
    .name = "2025-11-25", .era = handshake_era(), .methods = kHandshakeMethods, .primes_event_streams = true};

}  // namespace rkllm_mcp
