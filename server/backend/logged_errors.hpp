// Error lines that the library logged while a call was made, put where its client sees them.
#pragma once

#include "backend.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp {

// A call that succeeded gets them as member "warnings" of its result, one that failed with 4001 as `data.log`, unless
// it has them. Nothing changes if there are none.
void add_logged_errors(std::vector<std::string> errors, CallOutcome& outcome);

}  // namespace rkllm_mcp
