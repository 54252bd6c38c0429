// Server-Sent Events out of a byte stream that may be cut anywhere, as the HTML standard has it (section 9.2): lines
// end with CR, LF or CRLF, a blank line ends an event, lines that begin with a colon are comments.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::client {

struct SseEvent {
  std::string type;  // empty: "message"
  std::string data;  // its lines joined by \n; may be empty
};

class SseParser {
 public:
  explicit SseParser(std::size_t longest_event) : longest_event_(longest_event) {}

  // Takes some bytes and hands over every event that they complete. Throws ConnectionError when an event is longer than
  // allowed, and whatever `on_event` throws.
  void feed(std::string_view bytes, const std::function<void(const SseEvent&)>& on_event);
  // The stream has ended: what is unfinished is void. The next bytes begin another stream, whose events go on from
  // here.
  void restart();

  // The id of the last complete event, or of one before it; empty: there was none.
  const std::string& last_id() const { return last_id_; }
  // How long the server asks to wait before connecting again.
  std::optional<std::chrono::milliseconds> retry() const { return retry_; }

 private:
  void take_line(std::string_view line, const std::function<void(const SseEvent&)>& on_event);
  void take_field(std::string_view name, std::string_view value);
  void end_event(const std::function<void(const SseEvent&)>& on_event);

  const std::size_t longest_event_;  // bytes
  std::string line_;                 // unfinished
  bool at_start_ = true;             // of the stream, where a byte order mark is allowed
  bool after_cr_ = false;            // a LF now belongs to the CR before it
  SseEvent event_;                   // unfinished
  bool has_data_ = false;
  std::string id_;  // of the unfinished event: the last one named
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
};

}  // namespace rkllm_mcp::client
