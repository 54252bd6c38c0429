#include "auth/guess_throttle.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace rkllm_mcp {
namespace {

// "192.0.2.1:4711" -> "192.0.2.1"; "[2001:db8:1:2::3]:4711" -> the network's eight bytes; "pid=7,uid=1000" ->
// "uid=1000".
std::string source_of(std::string_view peer) {
  if (const auto user = peer.find("uid="); user != std::string_view::npos) return std::string(peer.substr(user));
  std::string host(peer.substr(0, peer.rfind(':')));
  if (host.empty() || host.front() != '[') return host;
  host = host.substr(1, host.find_first_of("]%") - 1);
  std::array<unsigned char, 16> bytes{};
  constexpr std::size_t kNetworkBytes = 8;
  if (::inet_pton(AF_INET6, host.c_str(), bytes.data()) != 1) return host;
  const bool is_v4 = host.find('.') != std::string::npos;  // ::ffff:192.0.2.1
  return {bytes.begin(), is_v4 ? bytes.end() : bytes.begin() + kNetworkBytes};
}

}  // namespace

GuessThrottle::Pause GuessThrottle::failed(std::string_view peer, Clock::time_point now) {
  const std::string source = source_of(peer);
  if (failures_.count(source) == 0 && failures_.size() >= kMost) make_room(now);
  Failures& failures = failures_[source];
  if (now - failures.last > kForgotten) failures.count = 0;
  failures.last = now;
  ++failures.count;
  if (failures.count <= kFree) return Pause(0);
  constexpr unsigned kMostDoublings = 5;
  return std::min(kFirst * (1U << std::min(failures.count - kFree - 1, kMostDoublings)), kLongest);
}

void GuessThrottle::make_room(Clock::time_point now) {
  for (auto each = failures_.begin(); each != failures_.end();) {
    each = now - each->second.last > kForgotten ? failures_.erase(each) : std::next(each);
  }
  if (failures_.size() < kMost) return;
  failures_.erase(std::min_element(failures_.begin(), failures_.end(),
                                   [](const auto& a, const auto& b) { return a.second.last < b.second.last; }));
}

}  // namespace rkllm_mcp
