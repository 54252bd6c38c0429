// JSON that somebody else has written: the other side of a connection, a model, a file. Functions that call themselves
// copy, compare and write it, so its depth has to be bounded while it is parsed.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <optional>
#include <string_view>

namespace rkllm_mcp {

inline constexpr std::size_t kDeepestJson = 64;  // levels
// The longest text that code parses on the event loop if it is able to have longer ones parsed beside the loop.
// JSON-RPC messages have a limit of their own, kReadAtOnceBytes.
inline constexpr std::size_t kMostParsedOnLoop = std::size_t{32} << 10U;  // bytes

inline constexpr std::size_t kAnyNumberOfValues = static_cast<std::size_t>(-1);

// Nothing if the text is not JSON, is nested deeper, has a member twice in one object, or more values, at any depth.
std::optional<Json> parse_bounded(std::string_view text, std::size_t depth = kDeepestJson,
                                  std::size_t values = kAnyNumberOfValues);

// To the depth kDeepestJson; throws std::invalid_argument that says why it is none.
Json parse_or_complain(std::string_view text);

}  // namespace rkllm_mcp
