// The control socket of a worker process, one of a seqpacket pair, over which it is handed the sockets of each model
// that it is to serve.
#pragma once

#include "process/descriptor.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace rkllm_mcp {

// Two sockets on their way to the other process, and what they are for, in fewer than kMostControlBytes.
struct PassedSockets {
  std::string label;
  DescriptorPair ends;
};
inline constexpr std::size_t kMostControlBytes = 256;

// Hands them over to the process at the other end of `control`; our own ends stay open. False if nobody is there.
bool pass_sockets(const Descriptor& control, const PassedSockets& sockets);
// Takes the next ones; nothing at the end, empty descriptors if this process may open no more. Blocks.
std::optional<PassedSockets> take_sockets(const Descriptor& control);

}  // namespace rkllm_mcp
