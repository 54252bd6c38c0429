#include "wire.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

class Lines final : public Wire {
 public:
  explicit Lines(SimServer& server) : server_(server) {}

  std::shared_ptr<SimConnection> connect(const std::string& name) override { return server_.connect_lines(name); }
  std::string whole(std::string_view message) override { return std::string(message) + "\n"; }
  std::string part(std::string_view message) override { return std::string(message.substr(0, message.size() / 2)); }
  std::string beside() override { return "\r\n"; }
  void received(std::string_view bytes, const TakeFunction& take) override {
    line_ += bytes;
    for (std::size_t end = line_.find('\n'); end != std::string::npos; end = line_.find('\n')) {
      const std::string line = line_.substr(0, end);
      line_.erase(0, end + 1);
      take(line);
    }
  }

 private:
  SimServer& server_;
  std::string line_;  // that has come so far
};

enum class Opcode : unsigned char { kRest = 0, kText = 1, kClose = 8, kPing = 9, kPong = 10 };

class WebSocket final : public Wire {
 public:
  WebSocket(World& world, SimServer& server) : world_(world), server_(server) {}

  std::shared_ptr<SimConnection> connect(const std::string& name) override { return server_.connect_websocket(name); }
  std::string opening() override {
    return "GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  }
  std::string whole(std::string_view message) override {
    std::string frames;
    Opcode opcode = Opcode::kText;
    while (world_.choices().happens(4)) {
      world_.saw("a message came in fragments");
      const std::size_t bytes = world_.choices().choose(static_cast<std::uint32_t>(message.size() + 1));
      frames += frame(std::exchange(opcode, Opcode::kRest), message.substr(0, bytes), false);
      message.remove_prefix(bytes);
      if (world_.choices().happens(2)) frames += beside();
    }
    return frames + frame(opcode, message, true);
  }
  std::string part(std::string_view message) override {
    return frame(Opcode::kText, message.substr(0, message.size() / 2), false);
  }
  std::string beside() override {
    pings_.push_back("ping " + std::to_string(++pinged_));
    return frame(Opcode::kPing, pings_.back(), true);
  }
  std::string last_bytes() override { return frame(Opcode::kClose, std::string("\x03\xe8", 2), true); }
  std::string answer() override { return std::exchange(answer_, {}); }

  void received(std::string_view bytes, const TakeFunction& take) override {
    input_ += bytes;
    if (!is_open_ && !take_handshake()) return;
    while (take_frame(take)) {
    }
  }

 private:
  // Masked, as a client's have to be.
  static std::string frame(Opcode opcode, std::string_view payload, bool is_last) {
    constexpr std::array<char, 4> kMask{'\x35', '\x00', '\x7f', '\x11'};
    constexpr char kMasked = '\x80';
    std::string frame(1, static_cast<char>(static_cast<unsigned char>(opcode) | (is_last ? 0x80U : 0U)));
    if (payload.size() < 126) {
      frame += static_cast<char>(static_cast<unsigned char>(payload.size()) | static_cast<unsigned char>(kMasked));
    } else {
      frame += {static_cast<char>(126 | static_cast<unsigned char>(kMasked)), static_cast<char>(payload.size() >> 8U),
                static_cast<char>(payload.size() & 0xffU)};
    }
    frame.append(kMask.data(), kMask.size());
    for (std::size_t i = 0; i < payload.size(); ++i) frame += static_cast<char>(payload[i] ^ kMask[i % kMask.size()]);
    return frame;
  }

  bool take_handshake() {
    const std::size_t end = input_.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    if (input_.substr(0, 12) != "HTTP/1.1 101" || input_.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") > end) {
      throw Violation{"the handshake is answered with " + input_};
    }
    input_.erase(0, end + 4);
    is_open_ = true;
    return true;
  }

  bool take_frame(const TakeFunction& take) {
    if (input_.size() < 2) return false;
    const auto byte = [this](std::size_t at) { return static_cast<unsigned char>(input_[at]); };
    std::size_t head = 2;
    std::size_t size = byte(1);
    if (size == 126) {
      if (input_.size() < 4) return false;
      head = 4;
      size = byte(2) * 256U + byte(3);
    }
    if (size > 0xffff || (byte(0) & 0xf0U) != 0x80U) throw Violation{"a frame that a server does not send"};
    if (input_.size() < head + size) return false;
    const auto opcode = static_cast<Opcode>(byte(0) & 0x0fU);
    const std::string payload = input_.substr(head, size);
    input_.erase(0, head + size);
    if (is_closed_) throw Violation{"a frame after the server's close frame"};
    take_payload(opcode, payload, take);
    return true;
  }

  void take_payload(Opcode opcode, const std::string& payload, const TakeFunction& take) {
    switch (opcode) {
      case Opcode::kText: return take(payload);
      case Opcode::kClose: is_closed_ = true; return;
      case Opcode::kPing:
        world_.saw("a client was pinged");
        answer_ += frame(Opcode::kPong, payload, true);
        return;
      case Opcode::kPong:
        if (pings_.empty() || pings_.front() != payload) throw Violation{"a pong for no ping: " + payload};
        pings_.pop_front();
        world_.saw("a ping was answered");
        return;
      default: throw Violation{"a frame that a server does not send"};
    }
  }

  World& world_;
  SimServer& server_;
  std::string input_;   // that has come so far
  std::string answer_;  // to the server's pings
  std::deque<std::string> pings_;
  int pinged_ = 0;
  bool is_open_ = false;
  bool is_closed_ = false;
};

}  // namespace

std::unique_ptr<Wire> make_lines(SimServer& server) { return std::make_unique<Lines>(server); }
std::unique_ptr<Wire> make_websocket(World& world, SimServer& server) {
  return std::make_unique<WebSocket>(world, server);
}

}  // namespace rkllm_mcp::simulation
