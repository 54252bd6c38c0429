// What --version says.
#pragma once

#include <string>

namespace rkllm_mcp {

// "rkllm-mcp 0.2.0 (ABI sets: 1.2.3, 1.3.0; runtime: 1.3.0, /usr/lib/librkllmrt.so)": the runtime is the one that the
// settings lead to; "none found" where there is none. Loads no library and never fails.
std::string versions_line();

// The versions as {"version","abi_sets":["1.3.0"],"runtime":{"version","path","simulated"}}, or with "runtime":null.
std::string versions_json();

}  // namespace rkllm_mcp
