// Error lines that the library logged while a call was made, put where its client sees them.
#pragma once

#include "backend.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <vector>

namespace rkllm_mcp {

// A call that failed with these lines, of which there is at least one: as `data.log`, and the first one in front of a
// message that tells nothing but the status, e.g. `cannot open it (rkllm_init returned -1)`.
RpcError with_log(const RpcError& error, std::vector<std::string> errors);

// A call that succeeded gets them as member "warnings" of its result, one that failed with 4001 as `data.log`, unless
// it has them. Nothing changes if there are none.
void add_logged_errors(std::vector<std::string> errors, CallOutcome& outcome);

}  // namespace rkllm_mcp
