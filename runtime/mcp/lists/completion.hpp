// completion/complete: values that an argument of a prompt, or a variable of a resource template, may have. Event loop
// only.
#pragma once

#include "call/session.hpp"
#include "mcp/catalogue.hpp"

#include <rkllm_mcp/json.hpp>

namespace rkllm_mcp::mcp {

// The request's params -> {"completion":{"values","total","hasMore"}}: those that begin with what has been typed, at
// most 100. For what is not known there are none, nor for what the session's client may not use. Throws InvalidParams.
Json complete(const Catalogue& catalogue, const Session& session, const Json& params);

}  // namespace rkllm_mcp::mcp
