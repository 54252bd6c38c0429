// JSON from the other side. What is made of it is copied, compared and written by functions that call themselves, so
// that its depth has to be bounded before it is anything.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace rkllm_mcp::client {

inline constexpr std::size_t kDeepestMessage = 64;  // levels

// Nothing if the text is not JSON, is nested deeper, or has a member twice in one object.
std::optional<Json> parse_bounded(std::string_view text, std::size_t depth = kDeepestMessage);

}  // namespace rkllm_mcp::client
