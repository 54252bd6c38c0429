#include "client/sockets/spoken_protocol.hpp"

#include "client/connection.hpp"
#include "client/sockets/socket.hpp"
#include "client/sockets/tls_session.hpp"

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};  // for each of two questions

enum class Spoken { kUnknown, kTls, kHttp, kLines };

Spoken spoken_in(std::string_view answer) {
  constexpr char kTlsAlert = 0x15;
  constexpr char kTlsHandshake = 0x16;
  constexpr char kTlsMajorVersion = 3;
  if (answer.size() >= 2 && (answer[0] == kTlsHandshake || answer[0] == kTlsAlert) && answer[1] == kTlsMajorVersion) {
    return Spoken::kTls;
  }
  if (answer.starts_with("HTTP/")) return Spoken::kHttp;
  return answer.starts_with('{') ? Spoken::kLines : Spoken::kUnknown;
}

// What the server says first to `question`.
std::string answer_to(const Endpoint& plain, std::string_view question) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  Socket socket(Socket::Kind::kStream, plain, deadline);
  socket.send(question);
  std::array<char, 64> bytes{};
  std::string answer;
  while (answer.size() < 5) {  // "HTTP/"
    const auto size = socket.receive(bytes, deadline);
    if (!size || *size == 0) break;
    answer.append(bytes.data(), *size);
  }
  return answer;
}

Spoken spoken_at(const Endpoint& endpoint) {
  Endpoint plain = endpoint;
  plain.protocol = Protocol::kTcp;
  plain.ca_file.clear();
  TlsSession session(plain);
  session.shake_hands();
  // Servers without TLS often answer this, too, in their own way. Those with TLS and no other way are known by it
  // alone: many of them answer what is no TLS in the clear.
  const Spoken first = spoken_in(answer_to(plain, session.take_output()));
  if (first != Spoken::kUnknown) return first;
  return spoken_in(answer_to(plain, "GET / HTTP/1.0\r\nHost: " + plain.authority() + "\r\n\r\n"));
}

bool is_one_of_http(Protocol protocol) {
  switch (protocol) {
    case Protocol::kHttp:
    case Protocol::kHttps:
    case Protocol::kWebSocket:
    case Protocol::kWebSockets: return true;
    case Protocol::kTcp:
    case Protocol::kTcps:
    case Protocol::kUnix:
    case Protocol::kUdp: return false;
  }
  return false;
}

Protocol with_tls(Protocol protocol) {
  switch (protocol) {
    case Protocol::kTcp: return Protocol::kTcps;
    case Protocol::kHttp: return Protocol::kHttps;
    case Protocol::kWebSocket: return Protocol::kWebSockets;
    case Protocol::kTcps:
    case Protocol::kHttps:
    case Protocol::kWebSockets:
    case Protocol::kUnix:
    case Protocol::kUdp: return protocol;
  }
  return protocol;
}

Protocol over_plain_http(Protocol protocol) {
  const bool is_websocket = protocol == Protocol::kWebSocket || protocol == Protocol::kWebSockets;
  return is_websocket ? Protocol::kWebSocket : Protocol::kHttp;
}

Endpoint with_protocol(Endpoint endpoint, Protocol protocol) {
  const bool keeps_path = is_one_of_http(endpoint.protocol) && is_one_of_http(protocol);
  if (!keeps_path) endpoint.path = "/";
  endpoint.protocol = protocol;
  return endpoint;
}

}  // namespace

std::optional<Endpoint> spoken_instead(const Endpoint& endpoint) try {
  if (endpoint.protocol == Protocol::kUnix || endpoint.protocol == Protocol::kUdp) return std::nullopt;
  switch (spoken_at(endpoint)) {
    case Spoken::kUnknown: return std::nullopt;
    case Spoken::kTls:
      if (endpoint.speaks_tls()) return std::nullopt;
      return with_protocol(endpoint, with_tls(endpoint.protocol));
    case Spoken::kHttp:
      if (is_one_of_http(endpoint.protocol) && !endpoint.speaks_tls()) return std::nullopt;
      return with_protocol(endpoint, over_plain_http(endpoint.protocol));
    case Spoken::kLines:
      if (endpoint.protocol == Protocol::kTcp) return std::nullopt;
      return with_protocol(endpoint, Protocol::kTcp);
  }
  return std::nullopt;
} catch (const ConnectionError&) {
  return std::nullopt;  // it has gone
}

std::string hint_at_protocol(const Endpoint& endpoint, const Endpoint& spoken) {
  const std::string speaks = spoken.speaks_tls() ? "TLS" : is_one_of_http(spoken.protocol) ? "HTTP" : "JSON lines";
  return "; that port speaks " + speaks + (endpoint.speaks_tls() ? " without TLS" : "") + ": use " + spoken.url();
}

std::string hint_at_protocol(const Endpoint& endpoint) {
  const auto spoken = spoken_instead(endpoint);
  return spoken ? hint_at_protocol(endpoint, *spoken) : std::string();
}

}  // namespace rkllm_mcp::client
