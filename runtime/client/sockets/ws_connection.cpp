#include "client/sockets/ws_connection.hpp"

#include "client/connection.hpp"
#include "client/sockets/spoken_protocol.hpp"
#include "clock.hpp"
#include "random_bytes.hpp"
#include "transport/http/http_message.hpp"
#include "transport/websocket/websocket_protocol.hpp"

#include <rkllm_mcp/base64.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

namespace rkllm_mcp::client {
namespace {

constexpr std::size_t kLongestHead = 65536;

// Whether the answer to a handshake may come from a port that speaks no WebSocket at all. Else a WebSocket server, or a
// proxy in front of it, has refused this client.
bool may_be_another_protocol(std::string_view answer) {
  if (!answer.starts_with("HTTP/")) return true;
  const std::string_view status = answer.substr(std::string_view("HTTP/1.1 ").size(), 3);
  return status == "200" || status == "400" || status == "404" || status == "405";
}

// The value of a header, whatever its name's case; empty if it is absent.
std::string_view header(std::string_view head, std::string_view name) {
  while (!head.empty()) {
    const auto end = std::min(head.find("\r\n"), head.size());
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(std::min(head.size(), end + 2));
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    if (http::equal_ignoring_case(line.substr(0, colon), name)) return http::trim_blanks(line.substr(colon + 1));
  }
  return {};
}

}  // namespace

WsConnection::WsConnection(const Endpoint& endpoint, Clock::time_point deadline)
    : where_(endpoint.authority()), socket_(Socket::Kind::kStream, endpoint, deadline) {
  open(endpoint, deadline);
}

WsConnection::~WsConnection() {
  try {
    constexpr std::string_view kNormalClosure("\x03\xE8", 2);  // 1000
    if (!closed_) socket_.try_send(frame(Opcode::kClose, kNormalClosure));
  } catch (const ConnectionError&) {
    // The server has gone first: there is nobody to take leave of.
  }
}

void WsConnection::open(const Endpoint& endpoint, Clock::time_point deadline) try {
  const std::string key = new_websocket_key();
  socket_.send(upgrade_request(endpoint, key));
  std::size_t end = 0;
  while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
    if (received_.size() > kLongestHead) throw ConnectionError("no WebSocket there: endless headers");
    if (!fill(deadline)) throw ConnectionError("no answer to the WebSocket handshake");
  }
  check_upgrade_response(std::string_view(received_).substr(0, end), key);
  received_.erase(0, end + 4);
} catch (const TokenRefused& error) {
  const char* const why = endpoint.token.empty() ? "an access token is needed" : "the server refuses the access token";
  throw TokenRefused(where_ + ": " + why + " (" + error.what() + ")");
} catch (const ConnectionError& error) {
  const bool is_late = Clock::now() >= deadline;  // who speaks something else says so at once
  const bool has_hint = !is_late && may_be_another_protocol(received_);
  throw ConnectionError(where_ + ": " + error.what() + (has_hint ? hint_at_protocol(endpoint) : std::string()));
}

bool WsConnection::fill(Clock::time_point deadline) {
  std::array<char, 65536> buffer;
  const auto size = socket_.receive(buffer, deadline);
  if (!size) return false;
  if (*size == 0) throw ConnectionError("the server has closed the connection");
  received_.append(buffer.data(), *size);
  return true;
}

void WsConnection::send(std::string_view message) { send_frame(Opcode::kText, message); }

// Only the latest ping needs an answer, so that one that cannot be sent now need not be.
void WsConnection::answer_ping(std::string_view payload) {
  const std::unique_lock lock(sending_, std::try_to_lock);
  if (lock) socket_.try_send(frame(Opcode::kPong, payload));
}

void WsConnection::send_frame(Opcode opcode, std::string_view payload) {
  const std::string bytes = frame(opcode, payload);
  const std::lock_guard lock(sending_);
  socket_.send(bytes);
}

std::string WsConnection::frame(Opcode opcode, std::string_view payload) {
  std::string frame = websocket::frame_header(opcode, payload.size());
  frame[1] = static_cast<char>(frame[1] | websocket::kMaskBit);
  const auto mask = random_bytes<4>();
  frame.append(mask.begin(), mask.end());
  for (std::size_t i = 0; i < payload.size(); ++i) frame += static_cast<char>(payload[i] ^ mask[i % 4]);
  return frame;
}

std::optional<WsConnection::Frame> WsConnection::take_frame() {
  const auto byte = [this](std::size_t i) -> unsigned { return static_cast<unsigned char>(received_[i]); };
  if (received_.size() < 2) return std::nullopt;
  if ((byte(0) & websocket::kReservedBits) != 0 || (byte(1) & websocket::kMaskBit) != 0)
    throw ConnectionError("a WebSocket frame is malformed");
  std::size_t head = 2;
  std::uint64_t length = byte(1) & websocket::kLengthBits;
  if (length >= websocket::kLengthIn16Bits) {
    head += length == websocket::kLengthIn16Bits ? 2 : 8;
    if (received_.size() < head) return std::nullopt;
    length = 0;
    for (std::size_t i = 2; i < head; ++i) length = length << 8 | byte(i);
  }
  const auto opcode = static_cast<Opcode>(byte(0) & websocket::kOpcodeBits);
  const bool is_control = opcode >= Opcode::kClose;
  if (is_control && length > websocket::kLargestControlPayload) throw ConnectionError("a WebSocket frame is malformed");
  if (!is_control && length > kLongestMessage - message_.size()) throw ConnectionError(where_ + ": " + kTooLong);
  const auto size = static_cast<std::size_t>(length);
  if (received_.size() < head + size) return std::nullopt;
  Frame frame{(byte(0) & websocket::kFinalBit) != 0, opcode, received_.substr(head, size)};
  received_.erase(0, head + size);
  return frame;
}

std::optional<std::string> WsConnection::receive(Clock::time_point deadline) {
  for (;;) {
    auto frame = take_frame();
    if (!frame) {
      if (!fill(deadline)) return std::nullopt;
      continue;
    }
    switch (frame->opcode) {
      case Opcode::kContinuation:
      case Opcode::kText:
        message_ += frame->payload;
        if (frame->final) return std::exchange(message_, {});
        break;
      case Opcode::kPing: answer_ping(frame->payload); break;
      case Opcode::kPong: break;
      case Opcode::kClose:
        send_frame(Opcode::kClose, frame->payload);
        closed_ = true;
        throw ConnectionError("the server has closed the connection");
      case Opcode::kBinary: throw ConnectionError("the server sent a binary frame");
    }
  }
}

std::string new_websocket_key() {
  const auto bytes = random_bytes<16>();
  return encode_base64(std::as_bytes(std::span(bytes)));
}

std::string upgrade_request(const Endpoint& endpoint, std::string_view key) {
  const std::string authorization = endpoint.token.empty() ? "" : "\r\nAuthorization: Bearer " + endpoint.token;
  return "GET " + endpoint.path + " HTTP/1.1\r\nHost: " + endpoint.authority() + authorization +
         "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mcp"
         "\r\nSec-WebSocket-Key: " +
         std::string(key) + "\r\n\r\n";
}

void check_upgrade_response(std::string_view head, std::string_view key) {
  const std::string status(head.substr(0, head.find("\r\n")));
  if (status.starts_with("HTTP/1.1 401")) throw TokenRefused(status);
  if (!status.starts_with("HTTP/1.1 101")) throw ConnectionError("no WebSocket there: " + status);
  if (header(head, "Sec-WebSocket-Accept") != websocket::accept_key(key)) {
    throw ConnectionError("no WebSocket there: the handshake's Sec-WebSocket-Accept is wrong");
  }
}

}  // namespace rkllm_mcp::client
