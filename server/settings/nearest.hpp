// The likeliest intended spelling of a mistyped name, however far off it is: a refusal always shows a way on.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// The one of `candidates` (at least one) that takes the fewest edits to become `name`; the first of several.
std::string nearest(std::string_view name, std::span<const std::string> candidates);

}  // namespace rkllm_mcp
