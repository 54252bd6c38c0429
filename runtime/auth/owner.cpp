#include "auth/owner.hpp"

#include "auth/access_tokens.hpp"

#include <arpa/inet.h>

#include <array>
#include <cstddef>

namespace rkllm_mcp {

// "192.0.2.1:4711" -> "192.0.2.1"; "[2001:db8:1:2::3]:4711" -> the network's eight bytes; "pid=7,uid=1000" ->
// "uid=1000".
std::string source_of(std::string_view address) {
  if (const auto user = address.find("uid="); user != std::string_view::npos) return std::string(address.substr(user));
  std::string host(address.substr(0, address.rfind(':')));
  if (host.empty() || host.front() != '[') return host;
  host = host.substr(1, host.find_first_of("]%") - 1);
  std::array<unsigned char, 16> bytes{};
  constexpr std::size_t kNetworkBytes = 8;
  if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1) return host;
  const bool is_v4 = host.find('.') != std::string::npos;  // ::ffff:192.0.2.1
  return {bytes.begin(), is_v4 ? bytes.end() : bytes.begin() + kNetworkBytes};
}

std::string owner_of(const Principal* principal, std::string_view address) {
  return owner_of(principal == nullptr ? std::string_view() : principal->name, address);
}

std::string owner_of(std::string_view name, std::string_view address) {
  return name.empty() ? source_of(address) : "token " + std::string(name);
}

}  // namespace rkllm_mcp
