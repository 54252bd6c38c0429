#include "client/endpoint.hpp"

#include <array>
#include <charconv>
#include <stdexcept>

namespace rkllm_mcp::client {
namespace {

struct Scheme {
  std::string_view prefix;
  Protocol protocol;
  std::string_view path;  // where there is none in the URL
};

constexpr std::array kSchemes{
    Scheme{"tcp://", Protocol::kTcp, ""},       Scheme{"unix://", Protocol::kUnix, ""},
    Scheme{"udp://", Protocol::kUdp, ""},       Scheme{"http://", Protocol::kHttp, "/jsonrpc"},
    Scheme{"ws://", Protocol::kWebSocket, "/"},
};

[[noreturn]] void refuse(std::string_view url, std::string_view complaint) {
  throw std::invalid_argument(std::string(url) + ": " + std::string(complaint) +
                              "; expected tcp://HOST:PORT, unix:///PATH, udp://HOST:PORT, http://HOST:PORT[/PATH] or "
                              "ws://HOST:PORT[/PATH]");
}

const Scheme& scheme_of(std::string_view url) {
  for (const Scheme& scheme : kSchemes) {
    if (url.starts_with(scheme.prefix)) return scheme;
  }
  refuse(url, "unknown scheme");
}

}  // namespace

std::string Endpoint::authority() const {
  if (protocol == Protocol::kUnix) return path;
  const bool bracketed = host.find(':') != std::string::npos;
  return (bracketed ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Endpoint parse_endpoint(std::string_view url) {
  const Scheme& scheme = scheme_of(url);
  std::string_view rest = url.substr(scheme.prefix.size());
  const auto slash = rest.find('/');
  if (scheme.protocol == Protocol::kUnix) {
    if (!rest.starts_with('/')) refuse(url, "no absolute path");
    return {scheme.protocol, "", 0, std::string(rest)};
  }
  std::string path(scheme.path);
  if (slash != std::string_view::npos) {
    if (scheme.path.empty()) refuse(url, "a path has no meaning here");
    if (rest.size() > slash + 1) path = rest.substr(slash);
    rest = rest.substr(0, slash);
  }
  if (path.find_first_of(" \r\n") != std::string::npos) refuse(url, "white space in the path");

  const auto colon = rest.rfind(':');
  if (colon == std::string_view::npos || rest.ends_with(']')) refuse(url, "no port");
  std::string_view host = rest.substr(0, colon);
  const std::string_view digits = rest.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) refuse(url, "no host");
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) refuse(url, "bad port");
  return {scheme.protocol, std::string(host), port, std::move(path)};
}

}  // namespace rkllm_mcp::client
