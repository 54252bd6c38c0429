// Revisions up to 2025-11-25: `initialize` tells once what holds for the session, and the server asks by requests of
// its own.
#pragma once

#include "mcp/protocol/era.hpp"

namespace rkllm_mcp {

const Era& handshake_era();

}  // namespace rkllm_mcp
