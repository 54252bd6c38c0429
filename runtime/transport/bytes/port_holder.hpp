// Which process has a port, as far as /proc shows it to this user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// "process 4711 (rkllm-mcp)"; empty if it is not known. `protocol` is "tcp" or "udp".
std::string port_holder(std::string_view protocol, std::uint16_t port);

}  // namespace rkllm_mcp
