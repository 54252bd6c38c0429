// File descriptors that close themselves.
#pragma once

#include <utility>

namespace rkllm_mcp {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  void close();

 private:
  int number_ = -1;
};

struct DescriptorPair {
  Descriptor first;
  Descriptor second;
};

// Connected sockets: a stream of bytes, or packets that stay apart. Closed on exec, as is the next. They throw
// std::system_error.
DescriptorPair make_stream_pair();
DescriptorPair make_seqpacket_pair();
DescriptorPair make_pipe();  // to read from (first), and to write to (second)

}  // namespace rkllm_mcp
