// The limits that a client can come up against: the one that UDP itself has, and those that the program sets, with what
// they are called in errors, so that whoever reads one knows what to raise.
#pragma once

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace rkllm_mcp {

// What fits into one datagram over IPv4: 65,535 bytes less the headers of IP (20) and UDP (8).
inline constexpr std::size_t kMaxDatagramBytes = 65'507;

enum class Limit {
  kMessageBytes,
  kDepth,
  kIdBytes,
  kConnections,
  kConnectionsPerPeer,
  kRequestsPerConnection,
  kStall,
  kIdle,
  kHeaderBytes,
  kHeaderTime,
  kStreamBuffer,
  kStreamValues,
  kStreamMemory,
  kPollTimeout,
  kQueueLength,
  kQueueTime,
  kHandles,
  kAuthorization,
  kMemory,
  kMessageTime,
  kReplyBytes,
};
inline constexpr std::size_t kLimitCount = static_cast<std::size_t>(Limit::kReplyBytes) + 1;  // the last of them

using LimitNames = std::array<std::string_view, kLimitCount>;  // by Limit, none of them empty

// One of the names, for limit_names().
struct LimitName {
  Limit limit;
  std::string_view name;
};

// The names, given in any order. One that is missing, and a limit that has two, stop the compiler.
consteval LimitNames limit_names(const LimitName (&given)[kLimitCount]) {
  LimitNames names;
  for (const auto& [limit, name] : given) {
    std::string_view& place = names.at(static_cast<std::size_t>(limit));
    if (name.empty()) throw std::invalid_argument("a limit has no name");
    if (!place.empty()) throw std::invalid_argument("this limit has two names");
    place = name;
  }
  return names;
}

// Sets the names that errors call the limits by, such as those of the program's settings. Before that each limit has a
// name of its own, such as "message bytes". The names are global, since code that makes an error may know nothing of
// who has set the limits, as when memory runs out. `names` lives as long as the process. Threads: any.
void name_limits(const LimitNames& names);
std::string_view name_of(Limit limit);

}  // namespace rkllm_mcp
