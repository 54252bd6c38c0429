// The bytes that wait for one client, double-buffered: new ones are appended to one buffer while the other is being
// written, so that however many messages have gathered leave in one write. That is what carries millions of small
// messages per second; one write per message carries a tenth.
//
// No input or output happens here. Threads: belongs to the event loop.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp {

class Outbox {
 public:
  // Full from `limit` waiting bytes on, until they have drained to half of it.
  explicit Outbox(std::size_t limit) : limit_(limit) {}

  void append(std::string_view bytes);
  // Makes room for `bytes` that are about to be appended in parts. May throw std::bad_alloc; those appends then cannot.
  void expect(std::size_t bytes);

  // What is being written now. Empty after everything was taken; then begin() moves what has gathered here.
  std::string_view in_flight() const { return std::string_view(in_flight_).substr(written_); }
  // False if nothing waits. To be called only while in_flight() is empty.
  bool begin();
  // The system has taken `bytes` of in_flight(). True if the outbox has stopped being full by that.
  bool written(std::size_t bytes);

  std::size_t size() const { return gathered_.size() + in_flight_.size() - written_; }
  bool full() const { return full_; }

 private:
  std::size_t limit_;
  std::string gathered_;
  std::string in_flight_;
  std::size_t written_ = 0;  // of in_flight_
  bool full_ = false;
};

}  // namespace rkllm_mcp
