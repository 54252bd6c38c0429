#include "upstreams/served_names.hpp"

#include "upstreams/upstream_tool.hpp"

#include <algorithm>

namespace rkllm_mcp {

// kitchen_x_y may be y of the upstream kitchen_x, or x_y of the upstream kitchen. The longer prefix wins, also while
// its upstream is not connected.
bool ServedNames::could_be_anothers(const std::string& upstream, const std::string& plain) const {
  return std::ranges::any_of(upstreams_, [&](const std::string& other) {
    return other.size() > upstream.size() && plain.starts_with(other + "_");
  });
}

std::optional<std::string> ServedNames::take(const std::string& upstream, const std::string& there) {
  std::string name = served_name(upstream, there);
  if (could_be_anothers(upstream, name) || taken_.contains(name)) name = marked_name(upstream, there);
  if (!taken_.insert(name).second) return std::nullopt;
  return name;
}

}  // namespace rkllm_mcp
