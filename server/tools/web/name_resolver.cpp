#include "tools/web/name_resolver.hpp"

#include "tools/tool_failure.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>

namespace rkllm_mcp {

std::vector<IpAddress> resolve_by_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  if (error != 0) throw ToolFailure("the host " + host + " cannot be found: " + ::gai_strerror(error));
  std::vector<IpAddress> addresses;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    const auto address = IpAddress::of(*each->ai_addr);
    if (address && std::ranges::find(addresses, *address) == addresses.end()) addresses.push_back(*address);
  }
  if (addresses.empty()) throw ToolFailure("the host " + host + " has no address");
  return addresses;
}

}  // namespace rkllm_mcp
