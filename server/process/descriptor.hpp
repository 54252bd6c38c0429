// File descriptors: that close themselves, that programs do not inherit, and the three standard ones.
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

// These throw std::system_error. What they make is closed on exec.
DescriptorPair make_stream_pair();     // connected sockets: a stream of bytes
DescriptorPair make_seqpacket_pair();  // connected sockets: packets that stay apart
DescriptorPair make_pipe();            // to read from (first), and to write to (second)

// Marks the descriptors of this process from `first` on, so that exec closes them. For a new process between fork and
// exec: nothing here allocates or locks.
void close_on_exec_from(int first);
// Does what close_on_exec_from() does where the kernel cannot do it at once: before Linux 5.11.
void close_on_exec_one_by_one(int first);

// Gives the numbers of standard input, output and error to /dev/null where they are closed: else they would be those of
// the next files and sockets that are opened. The input has ended then, errors are dropped, and output is not
// is_open_for_writing(). Once, before anything else. Throws std::system_error.
void occupy_standard_descriptors();
bool is_open_for_writing(int descriptor);

// Lets this process have as many files open as the system allows it at most: each connection takes one. Once, at the
// start.
void raise_file_limit();
// For a new process between fork and exec: the limit is as it was before raise_file_limit(). Another program may use
// select(), which cannot wait for descriptors above 1023, or close each number up to the limit.
void restore_file_limit();

}  // namespace rkllm_mcp
