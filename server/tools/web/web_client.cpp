#include "tools/web/web_client.hpp"

#include "tools/tool_failure.hpp"
#include "tools/web/web_transfer.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace rkllm_mcp {
namespace {

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

// Below 1024 are mail servers and the like, which would take a request for commands of their own.
bool is_port_of_the_web(std::uint16_t port) {
  constexpr std::uint16_t kFirstFree = 1024;
  return port == 80 || port == 443 || port >= kFirstFree;
}

}  // namespace

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

bool WebClient::is_allowed(const IpAddress& address) const {
  return std::ranges::any_of(options_.allowed, [&](const IpNetwork& network) { return network.contains(address); });
}

// Throws if one of the addresses may not be connected to, so that it does not matter which of them is tried.
std::vector<IpAddress> WebClient::addresses_for(const Url& url, const Request& request) const {
  const auto literal = IpAddress::parse(url.host);
  auto addresses = literal ? std::vector{*literal} : options_.resolve(url.host);
  if (addresses.empty()) throw ToolFailure("the host " + url.host + " has no address");
  if (request.trusted && url.host == request.trusted->host && url.port == request.trusted->port) return addresses;
  if (!is_port_of_the_web(url.port)) {
    throw ToolFailure("port " + std::to_string(url.port) +
                      " is none that pages are fetched from: 80, 443 and those "
                      "from 1024 on are");
  }
  for (const IpAddress& address : addresses) {
    const auto reason = reason_not_public(address);
    if (reason.empty() || is_allowed(address)) continue;
    throw ToolFailure(url.host + " is not fetched from: " + address.text() + " is " + std::string(reason) +
                      " (tools.allowed_addresses could allow it)");
  }
  return addresses;
}

WebAnswer WebClient::get(const Request& request, StopSignal& stop) const {
  Url url = request.url;
  const TransferOptions options{options_.user_agent, request.accept, options_.ca_file, options_.patience,
                                request.max_bytes};
  for (int redirects = 0;; ++redirects) {
    const auto addresses = addresses_for(url, request);
    std::optional<TransferResult> result;
    for (const IpAddress& address : addresses) {
      if (stop.is_stopped()) throw ToolFailure("stopped");
      try {
        result = transfer(url, address, options, stop);
        break;
      } catch (const NoConnection& error) {
        if (&address == &addresses.back()) throw ToolFailure(url.host + ": " + error.what());
      }
    }
    if (!is_redirect(result->status) || result->location.empty()) {
      return {std::move(url), result->status, std::move(result->content_type), std::move(result->body), result->is_cut};
    }
    if (redirects == kMostRedirects) {
      throw ToolFailure(request.url.host + " redirects more than " + std::to_string(kMostRedirects) + " times");
    }
    auto next = resolve_url(url, result->location);
    if (!next) throw ToolFailure(url.host + " redirects to what is no http or https address");
    url = std::move(*next);
  }
}

}  // namespace rkllm_mcp
