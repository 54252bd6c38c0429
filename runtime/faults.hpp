// Faults that this library has had, or could have, which a simulation can put back to show that it would find them
// (tests/simulation). In every other build none of them can occur.
#pragma once

#include <string_view>

namespace rkllm_mcp {

#ifdef RKLLM_MCP_SIMULATION
inline std::string_view present_fault;  // its name; empty: none. Belongs to the one thread that there is
inline bool has_fault(std::string_view fault) { return fault == present_fault; }
#else
constexpr bool has_fault(std::string_view /*fault*/) { return false; }
#endif

}  // namespace rkllm_mcp
