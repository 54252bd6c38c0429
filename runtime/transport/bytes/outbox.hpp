// The bytes that wait for one client: new ones gather in one buffer while another is being written, so that however
// many messages have gathered leave in one write. That is what carries millions of small messages per second; one write
// per message carries a tenth. A long message is not copied: its own memory takes its place between the buffers.
//
// No input or output happens here. Threads: belongs to the event loop.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class Outbox {
 public:
  // If take() gets so many bytes or more, it does not copy them, and they are written by themselves.
  static constexpr std::size_t kLongBytes = 64 * 1024;

  // Full from `limit` waiting bytes on, until they have drained to half of it.
  explicit Outbox(std::size_t limit) : limit_(limit) {}

  void append(std::string_view bytes);
  // Appends bytes that the caller has no more use for: a long message is not copied.
  void take(std::string bytes);
  // Makes room for `bytes` that are about to be appended in parts, and for one long message among them that brings its
  // own memory. May throw std::bad_alloc; those appends then cannot.
  void expect(std::size_t bytes);

  // What is being written now. Empty after everything was taken; then begin() moves what has gathered here.
  std::string_view in_flight() const { return std::string_view(in_flight_).substr(written_); }
  // False if nothing waits. To be called only while in_flight() is empty.
  bool begin();
  // The system has taken `bytes` of in_flight(). True if the outbox has stopped being full by that.
  bool written(std::size_t bytes);

  std::size_t size() const { return gathered_bytes_ + in_flight_.size() - written_; }
  bool full() const { return full_; }

 private:
  std::string& open_buffer();
  void count(std::size_t bytes);

  std::size_t limit_;
  std::vector<std::string> gathered_;  // in the order in which they leave
  std::size_t gathered_bytes_ = 0;
  bool is_open_ = false;  // whether the last of them takes more
  std::string spare_;     // the buffer that was written last, for the next ones to gather in
  std::string in_flight_;
  std::size_t written_ = 0;  // of in_flight_
  bool full_ = false;
};

}  // namespace rkllm_mcp
