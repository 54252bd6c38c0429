// Tells a pointer to a function from a pointer to data: programs written for runtimes up to 1.2 pass rkllm_init a
// function where 1.3 expects a struct.
#pragma once

namespace rkllm_mcp::sim {

// Whether `address` lies in a part of the process that can be executed. Any thread; reads /proc/self/maps.
bool is_code(const void* address);

}  // namespace rkllm_mcp::sim
