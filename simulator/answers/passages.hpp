// The sentences that simulated answers are made of: the simulator's own words, in several scripts.
#pragma once

#include "model/model_file.hpp"

#include <span>
#include <string_view>

namespace rkllm_mcp::sim {

// Each begins with a space, so that any of them may follow any other. Vocabulary ids depend on their order: append
// only.
std::span<const std::string_view> passages(Language language);

// How every ordinary answer begins.
inline constexpr std::string_view kOpening = "This is a simulated answer.";
// How the thoughts of a thinking model begin.
inline constexpr std::string_view kThought = "<think>\nThis is a simulated thought.";

}  // namespace rkllm_mcp::sim
