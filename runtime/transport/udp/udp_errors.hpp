// What the network says about datagrams sent earlier: Linux keeps ICMP errors per socket if asked to.
#pragma once

#include <asio/ip/udp.hpp>

#include <vector>

namespace rkllm_mcp {

void report_udp_errors(asio::ip::udp::socket& socket);  // from now on
// The remote ends at which nobody listens any more, as reported since the last call. Never blocks.
std::vector<asio::ip::udp::endpoint> take_udp_errors(asio::ip::udp::socket& socket);

}  // namespace rkllm_mcp
