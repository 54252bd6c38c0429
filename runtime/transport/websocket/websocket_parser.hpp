// Cuts what a WebSocket client sends into its messages, as LineFramer cuts lines: unmasks frames, joins fragments,
// checks what the protocol asks a server to check.
//
// No input or output happens here. Threads: none of its own; one caller at a time.
#pragma once

#include "memory_budget.hpp"
#include "text/utf8.hpp"
#include "transport/peer.hpp"
#include "transport/websocket/websocket_protocol.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace rkllm_mcp::websocket {

struct Ping {
  std::string_view payload;  // to be sent back
};
struct Closing {
  std::string_view payload;  // to be sent back
};
struct Violation {
  Close code{};
  std::string_view explanation;
};

class Parser {
 public:
  // Of `Received` only three come: a message, complete and valid UTF-8; Oversized, of as many bytes as are known so
  // far; NoRoom. What follows of a message that has been refused so is skipped, and reading goes on.
  using Event = std::variant<Received, Ping, Closing, Violation>;

  explicit Parser(std::size_t limit, MemoryBudget memory = {}) : limit_(limit), share_(std::move(memory)) {}

  std::size_t limit() const { return limit_; }
  void set_limit(std::size_t limit) { limit_ = limit; }
  // The number of the message of which some has come, however many fragments and pings ago; 0: there is none.
  std::size_t message_under_way() const { return in_message_ ? messages_ : 0; }

  // Takes bytes off the front of `bytes`, to the end of a frame at most, and gives what that has brought. That is
  // nothing for a pong, and while a message or a control frame is incomplete; but what is refused is told as soon as
  // that is known. What the event points at is gone with the next call, and with release(). After a close frame, or a
  // violation, it drops whatever comes.
  std::optional<Event> next(std::string_view& bytes);
  // What the latest call has given is not needed any more: a long message's memory goes.
  void release();

 private:
  enum class State { kHeader, kPayload, kDone };

  bool read_header(std::string_view& bytes);  // true when the header is complete
  std::optional<Event> begin_frame();         // whose header is complete
  std::optional<Event> read_payload(std::string_view& bytes);
  std::optional<Event> control_frame();
  Event close_frame();
  Event violation(Close code, std::string_view explanation);
  bool append(std::string_view bytes, std::uint64_t offset);  // to the message; false if there is no memory for it
  bool is_control() const { return static_cast<std::uint8_t>(opcode_) >= 8; }

  std::size_t limit_;
  MemoryShare share_;  // what the message so far takes
  State state_ = State::kHeader;

  std::array<std::uint8_t, 14> header_{};  // flags, length, extended length, mask
  std::size_t header_bytes_ = 0;           // of header_ that have been read
  Opcode opcode_ = Opcode::kText;
  bool final_ = true;
  std::array<char, 4> mask_{};
  std::uint64_t payload_bytes_ = 0;  // of this frame
  std::uint64_t payload_read_ = 0;   // of payload_bytes_

  std::string message_;       // of the data frames so far
  bool in_message_ = false;   // it is unfinished
  std::size_t messages_ = 0;  // that have begun
  bool is_given_ = false;     // message_, or that it is refused, is what the latest call has given: it goes
  bool skipping_ = false;     // the message under way has been reported: too long, or no memory for it
  Utf8Validator utf8_;        // over the fragments of that message
  std::string control_;       // the payload of the control frame
};

}  // namespace rkllm_mcp::websocket
