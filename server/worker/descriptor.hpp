// File descriptors that close themselves, and their way from one process to another.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
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

// Connected sockets that keep messages apart, or that do not; a pipe to read from (first) and to write to (second). All
// are closed on exec. They throw std::system_error.
DescriptorPair make_door();
DescriptorPair make_stream_pair();
DescriptorPair make_pipe();

// Two descriptors on their way through a door, and what they are for, in at most kMostParcelBytes.
struct Parcel {
  std::string label;
  DescriptorPair descriptors;
};
inline constexpr std::size_t kMostParcelBytes = 256;

// Hands it over to the process at the other end of `door`; our own ends stay open. False if nobody is there.
bool pass_parcel(const Descriptor& door, const Parcel& parcel);
// Takes the next one; nothing at the end, one with empty descriptors if this process may open no more. Blocks.
std::optional<Parcel> take_parcel(const Descriptor& door);

}  // namespace rkllm_mcp
