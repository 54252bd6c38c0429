// Bytes that wait to be sent: added behind, taken from the front, in time proportional to their number, however small
// the pieces are that the other side takes.
//
// Threads: one at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rkllm_mcp::client {

class Outgoing {
 public:
  bool empty() const { return sent_ == bytes_.size(); }
  // What is left; until the next add() or sent().
  std::string_view rest() const { return std::string_view(bytes_).substr(sent_); }

  void add(std::string_view bytes) {
    // What has been sent goes only when it is at least as much as has to be moved for that.
    if (sent_ >= bytes_.size() - sent_) drop_sent();
    bytes_.append(bytes);
  }

  // So many bytes of rest() have been sent.
  void sent(std::size_t count) {
    sent_ += count;
    if (empty()) drop_sent();
  }

 private:
  void drop_sent() {
    bytes_.erase(0, sent_);
    sent_ = 0;
  }

  std::string bytes_;
  std::size_t sent_ = 0;  // of bytes_
};

}  // namespace rkllm_mcp::client
