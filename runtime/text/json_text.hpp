// Writing JSON text without building a JSON value first: what the path of every token needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// Appends `text` as the inside of a JSON string (no quotes). `text` must be valid UTF-8; the result is what
// nlohmann::json::dump() writes for it.
void append_escaped(std::string& out, std::string_view text);

// Appends `text` as a JSON string, quotes included.
inline void append_quoted(std::string& out, std::string_view text) {
  out.push_back('"');
  append_escaped(out, text);
  out.push_back('"');
}

void append_number(std::string& out, std::int64_t value);

// How many bytes of `text` (valid UTF-8, cut only between characters) can be escaped into at most `limit` bytes.
std::size_t prefix_that_escapes_into(std::string_view text, std::size_t limit);

}  // namespace rkllm_mcp
