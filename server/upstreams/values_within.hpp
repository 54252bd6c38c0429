// How many values another server may hand to the event loop, which looks at them all.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <cstddef>

namespace rkllm_mcp {

inline constexpr std::size_t kMostUpstreamValues = std::size_t{256} * 1024;  // of one answer, or of one list

// Takes from `left` the values that there are, at any depth; false if there are more.
inline bool are_values_within(std::size_t& left, const Json& value) {
  if (left == 0) return false;
  --left;
  return !value.is_structured() ||
         std::ranges::all_of(value, [&left](const Json& each) { return are_values_within(left, each); });
}

}  // namespace rkllm_mcp
