// Reads the frames of a WebSocket client, as its server does.
//
// No input or output happens here. Threads: none of its own; one caller at a time.
#pragma once

#include "memory_budget.hpp"
#include "text/utf8.hpp"
#include "transport/websocket/websocket_protocol.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::websocket {

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
  std::size_t header_bytes_ = 0;           // of header_ that have been read
  Opcode opcode_ = Opcode::kText;
  bool final_ = true;
  std::array<char, 4> mask_{};
  std::uint64_t payload_bytes_ = 0;  // of this frame
  std::uint64_t payload_read_ = 0;   // of payload_bytes_

  std::string message_;       // of the data frames so far
  bool in_message_ = false;   // it is unfinished
  std::size_t messages_ = 0;  // that have begun
  bool skipping_ = false;     // that message has been reported: too long, or no memory for it
  Utf8Validator utf8_;        // over the fragments of that message
  std::string control_;       // the payload of the control frame
};

}  // namespace rkllm_mcp::websocket
