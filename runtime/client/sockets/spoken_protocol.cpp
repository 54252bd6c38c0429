#include "client/sockets/spoken_protocol.hpp"

#include "client/connection.hpp"
#include "client/sockets/socket.hpp"
#include "client/sockets/tls_session.hpp"
#include "clock.hpp"

#include <array>
#include <chrono>
#include <string_view>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::chrono::milliseconds kPatience{1000};  // for each of two questions

enum class Spoken { kUnknown, kTls, kHttp, kWebSocket, kLines };

constexpr std::size_t kStatusEnd = std::string_view("HTTP/1.1 426").size();  // "Upgrade Required"

bool is_of_http(std::string_view answer) { return answer.starts_with("HTTP/"); }

Spoken spoken_in(std::string_view answer) {
  constexpr char kTlsAlert = 0x15;
  constexpr char kTlsHandshake = 0x16;
  constexpr char kTlsMajorVersion = 3;
  if (answer.size() >= 2 && (answer[0] == kTlsHandshake || answer[0] == kTlsAlert) && answer[1] == kTlsMajorVersion) {
    return Spoken::kTls;
  }
  if (is_of_http(answer)) return answer.substr(0, kStatusEnd).ends_with(" 426") ? Spoken::kWebSocket : Spoken::kHttp;
  return answer.starts_with('{') ? Spoken::kLines : Spoken::kUnknown;
}

// What the server says first to `question`.
std::string answer_to(const Endpoint& plain, std::string_view question) {
  const auto deadline = Clock::now() + kPatience;
  Socket socket(Socket::Kind::kStream, plain, deadline);
  socket.send(question);
  std::array<char, 64> bytes{};
  std::string answer;
  while (answer.size() < 5 || (is_of_http(answer) && answer.size() < kStatusEnd)) {
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
  // Servers without TLS often answer this, too, in their own protocol. A server with TLS is known by this answer alone:
  // many of them answer a request without TLS in plain text.
  const Spoken first = spoken_in(answer_to(plain, session.take_output()));
  if (first == Spoken::kTls || first == Spoken::kLines) return first;
  try {
    const std::string question = "GET / HTTP/1.1\r\nHost: " + plain.authority() + "\r\nConnection: close\r\n\r\n";
    const Spoken then = spoken_in(answer_to(plain, question));
    if (then != Spoken::kUnknown) return then;
  } catch (const ConnectionError&) {
    // It has closed the second connection without an answer: what the first one told is all there is.
  }
  return first;
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

// `meant` is what the URL says. What is spoken inside TLS is not known: most likely that.
std::optional<Protocol> protocol_of(Spoken spoken, Protocol meant) {
  switch (spoken) {
    case Spoken::kUnknown: return std::nullopt;
    case Spoken::kTls: return with_tls(meant);
    case Spoken::kHttp: return meant == Protocol::kWebSockets ? Protocol::kWebSocket : Protocol::kHttp;
    case Spoken::kWebSocket: return Protocol::kWebSocket;
    case Spoken::kLines: return Protocol::kTcp;
  }
  return std::nullopt;
}

const char* name_of(Protocol protocol) {
  switch (protocol) {
    case Protocol::kTcp:
    case Protocol::kTcps:
    case Protocol::kUnix:
    case Protocol::kUdp: return "JSON lines";
    case Protocol::kHttp:
    case Protocol::kHttps: return "HTTP";
    case Protocol::kWebSocket:
    case Protocol::kWebSockets: return "WebSocket";
  }
  return "";
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
  const auto spoken = protocol_of(spoken_at(endpoint), endpoint.protocol);
  if (!spoken || *spoken == endpoint.protocol) return std::nullopt;
  return with_protocol(endpoint, *spoken);
} catch (const ConnectionError&) {
  return std::nullopt;  // it has gone
}

std::string hint_at_protocol(const Endpoint& endpoint, const Endpoint& spoken) {
  const bool is_tls = spoken.speaks_tls() && !endpoint.speaks_tls();
  const bool is_guess = is_tls && spoken.protocol == Protocol::kTcps;  // HOST:PORT is TCP only because nothing was said
  return std::string("; that port speaks ") + (is_tls ? "TLS" : name_of(spoken.protocol)) +
         (endpoint.speaks_tls() && !spoken.speaks_tls() ? " without TLS" : "") + ": use " + spoken.url() +
         (is_guess ? ", or https:// or wss:// there" : "");
}

std::string hint_at_protocol(const Endpoint& endpoint) {
  const auto spoken = spoken_instead(endpoint);
  return spoken ? hint_at_protocol(endpoint, *spoken) : std::string();
}

}  // namespace rkllm_mcp::client
