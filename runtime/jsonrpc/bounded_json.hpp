// JSON that somebody else has written: the other side of a connection, a model, a file. Functions that call themselves
// copy, compare and write it, so its depth has to be bounded while it is parsed.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace rkllm_mcp {

inline constexpr std::size_t kDeepestJson = 64;  // levels

// Nothing if the text is not JSON, is nested deeper, or has a member twice in one object.
std::optional<Json> parse_bounded(std::string_view text, std::size_t depth = kDeepestJson);

}  // namespace rkllm_mcp
