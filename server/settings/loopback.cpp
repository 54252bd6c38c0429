#include "settings/loopback.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

namespace rkllm_mcp {

bool is_loopback(const std::string& address) {
  constexpr unsigned char kLoopbackNet = 127;
  in_addr v4{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == kLoopbackNet;
  in6_addr v6{};
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1) return false;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == kLoopbackNet);
}

bool is_any_address(const std::string& address) { return address == "0.0.0.0" || address == "::"; }

}  // namespace rkllm_mcp
