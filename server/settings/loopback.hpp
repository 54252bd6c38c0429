// Whether an address can be reached from this machine only.
#pragma once

#include <string>

namespace rkllm_mcp {

// True for 127.0.0.0/8 and ::1 (also written as ::ffff:127.0.0.1); false for what is no IP address.
bool is_loopback(const std::string& address);

// True for 0.0.0.0 and ::, which are all addresses of this machine.
bool is_any_address(const std::string& address);

}  // namespace rkllm_mcp
