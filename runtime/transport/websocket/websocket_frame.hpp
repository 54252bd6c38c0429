// The frames of WebSocket (RFC 6455): what they are made of, which both ends go by, and how a server reads and writes
// them. Frames of clients are masked, those of servers are not; no extensions.
//
// No input or output happens here. Threads: none of its own; one caller at a time.
#pragma once

#include "memory_budget.hpp"
#include "text/utf8.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::websocket {

enum class Opcode : std::uint8_t { kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

// The first byte of a frame.
inline constexpr std::uint8_t kFinalBit = 0x80;
inline constexpr std::uint8_t kReservedBits = 0x70;
inline constexpr std::uint8_t kOpcodeBits = 0x0F;
// The second byte. A length of more than 125 follows it, in 2 or 8 bytes, and then the mask.
inline constexpr std::uint8_t kMaskBit = 0x80;
inline constexpr std::uint8_t kLengthBits = 0x7F;
inline constexpr std::uint8_t kLengthIn16Bits = 126;
inline constexpr std::uint8_t kLengthIn64Bits = 127;
inline constexpr std::size_t kLargestControlPayload = 125;  // of a close frame, a ping or a pong

// Close codes that this server sends by itself.
enum class Close : std::uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kUnsupported = 1003,  // a binary frame
  kInvalidText = 1007,
  kTooSlow = 1008,  // a message that takes longer than it may
  kUnauthorized = 4401,
};

// The header of an unmasked, unfragmented frame; the payload follows it.
std::string frame_header(Opcode opcode, std::size_t payload_bytes);
// The payload of a close frame: the code in network order, then the reason.
std::string close_payload(Close code, std::string_view reason);

// Reads a client's frames, fed in pieces of any size, and assembles its messages.
class Parser {
 public:
  // What is being read about. Views are gone when the function returns.
  class Events {
   public:
    virtual ~Events() = default;
    virtual void websocket_text(std::string_view message) = 0;  // complete, and valid UTF-8
    // The message is longer than the limit; the rest of it is skipped and reading goes on. `bytes` as far as known.
    virtual void websocket_oversized(std::size_t bytes) = 0;
    // There is no memory for the message, which began like this; the rest of it is skipped and reading goes on.
    virtual void websocket_no_room(std::string_view /*beginning*/) {}
    virtual void websocket_ping(std::string_view payload) = 0;
    // The client closes. `payload` is what to send back in answer.
    virtual void websocket_closing(std::string_view payload) = 0;
    virtual void websocket_violation(Close code, std::string_view explanation) = 0;
    // True if what follows should not be read yet.
    virtual bool websocket_pauses() const { return false; }
  };

  explicit Parser(std::size_t limit, MemoryBudget memory = {}) : limit_(limit), share_(std::move(memory)) {}

  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t limit) { limit_ = limit; }
  // The number of the message of which some has come, however many fragments and pings ago; 0: there is none.
  std::size_t message_under_way() const { return in_message_ ? messages_ : 0; }

  // How many bytes were taken: all, unless the events pause. Nothing is read any more after a close frame or a
  // violation.
  std::size_t feed(std::string_view bytes, Events& events);

 private:
  enum class State { kHeader, kPayload, kDone };

  bool read_header(std::string_view& bytes);  // true when the header is complete
  void on_header(Events& events);
  void read_payload(std::string_view& bytes, Events& events);
  void on_control_frame(Events& events);
  void on_close_frame(Events& events);
  void violation(Close code, std::string_view explanation, Events& events);
  void skip_message();
  bool append(std::string_view bytes, std::uint64_t offset);  // to the message; false if there is no memory for it
  bool is_control() const { return static_cast<std::uint8_t>(opcode_) >= 8; }

  std::size_t limit_;
  MemoryShare share_;  // what the message so far takes
  State state_ = State::kHeader;

  std::array<std::uint8_t, 14> header_{};  // flags, length, extended length, mask
  std::size_t header_bytes_ = 0;           // of it that have been read
  Opcode opcode_ = Opcode::kText;
  bool final_ = true;
  std::array<char, 4> mask_{};
  std::uint64_t payload_bytes_ = 0;  // of this frame
  std::uint64_t payload_read_ = 0;   // of them

  std::string message_;       // of the data frames so far
  bool in_message_ = false;   // it is unfinished
  std::size_t messages_ = 0;  // that have begun
  bool skipping_ = false;     // that message has been reported as oversized
  Utf8Validator utf8_;        // over the fragments of that message
  std::string control_;       // the payload of the control frame
};

}  // namespace rkllm_mcp::websocket
