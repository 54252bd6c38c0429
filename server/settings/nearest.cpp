#include "settings/nearest.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>

namespace rkllm_mcp {

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t kLongestName = 200;  // longer ones are compared by their beginning, which bounds the work
  name = name.substr(0, kLongestName);
  return *std::ranges::min_element(candidates, {},
                                   [&](const std::string& candidate) { return edit_distance(name, candidate); });
}

}  // namespace rkllm_mcp
