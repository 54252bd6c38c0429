#include "client/endpoint.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace rkllm_mcp::client {
namespace {

struct Scheme {
  std::string_view prefix;
  Protocol protocol;
  bool has_path;
  std::uint16_t usual_port;  // 0: it must be in the URL
};

constexpr std::array kSchemes{
    Scheme{"tcp://", Protocol::kTcp, false, 0},     Scheme{"tcps://", Protocol::kTcps, false, 0},
    Scheme{"unix://", Protocol::kUnix, false, 0},   Scheme{"udp://", Protocol::kUdp, false, 0},
    Scheme{"http://", Protocol::kHttp, true, 80},   Scheme{"https://", Protocol::kHttps, true, 443},
    Scheme{"ws://", Protocol::kWebSocket, true, 0}, Scheme{"wss://", Protocol::kWebSockets, true, 0},
};

[[noreturn]] void refuse(std::string_view url, std::string_view complaint) {
  throw std::invalid_argument(
      std::string(url) + ": " + std::string(complaint) +
      "; expected tcp://HOST:PORT, unix:///PATH, udp://HOST:PORT, http[s]://HOST[:PORT][/PATH], "
      "ws://HOST:PORT[/PATH], or with TLS tcps:// or wss://");
}

bool is_websocket(Protocol protocol) { return protocol == Protocol::kWebSocket || protocol == Protocol::kWebSockets; }

const Scheme& scheme_in(std::string_view url) {
  for (const Scheme& scheme : kSchemes) {
    if (url.starts_with(scheme.prefix)) return scheme;
  }
  refuse(url, "unknown scheme");
}

const Scheme& row_of(Protocol protocol) {
  return *std::ranges::find(kSchemes, protocol, &Scheme::protocol);  // each has one
}

}  // namespace

std::string_view prefix_of(Protocol protocol) { return row_of(protocol).prefix; }

std::string Endpoint::authority() const {
  if (protocol == Protocol::kUnix) return path;
  const bool bracketed = host.find(':') != std::string::npos;
  return (bracketed ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::string Endpoint::url() const {
  const Scheme& scheme = row_of(protocol);
  return std::string(scheme.prefix) + authority() + (scheme.has_path && path != "/" ? path : "");
}

bool Endpoint::speaks_tls() const {
  return protocol == Protocol::kTcps || protocol == Protocol::kHttps || protocol == Protocol::kWebSockets;
}

Endpoint parse_endpoint(std::string_view url, std::string_view http_path) {
  const Scheme& scheme = scheme_in(url);
  std::string_view rest = url.substr(scheme.prefix.size());
  const auto slash = rest.find('/');
  if (scheme.protocol == Protocol::kUnix) {
    if (!rest.starts_with('/')) refuse(url, "no absolute path");
    return {scheme.protocol, "", 0, std::string(rest)};
  }
  std::string path;
  if (scheme.has_path) path = is_websocket(scheme.protocol) ? "/" : http_path;
  if (slash != std::string_view::npos) {
    if (!scheme.has_path) refuse(url, "a path has no meaning here");
    if (rest.size() > slash + 1) path = rest.substr(slash);
    rest = rest.substr(0, slash);
  }
  if (path.find_first_of(" \r\n") != std::string::npos) refuse(url, "white space in the path");

  const auto colon = rest.ends_with(']') ? std::string_view::npos : rest.rfind(':');
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty()) refuse(url, "no host");
  std::uint16_t port = scheme.usual_port;
  if (colon == std::string_view::npos) {
    if (port == 0) refuse(url, "no port");
    return {scheme.protocol, std::string(host), port, std::move(path)};
  }
  const std::string_view digits = rest.substr(colon + 1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc{} || end != digits.data() + digits.size() || port == 0) refuse(url, "bad port");
  return {scheme.protocol, std::string(host), port, std::move(path)};
}

}  // namespace rkllm_mcp::client
