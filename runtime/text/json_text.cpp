#include "text/json_text.hpp"

#include "text/ascii.hpp"
#include "text/utf8.hpp"

#include <array>
#include <charconv>

namespace rkllm_mcp {
namespace {

// Bytes that an escape of each byte takes: 1 (itself), 2 (\n and the like) or 6 (\u00xx).
constexpr std::array<unsigned char, 256> kEscapedBytes = [] {
  std::array<unsigned char, 256> bytes{};
  bytes.fill(1);
  for (std::size_t control = 0; control < 0x20; ++control) bytes[control] = 6;
  for (const char shorthand : {'\b', '\f', '\n', '\r', '\t', '"', '\\'}) {
    bytes[static_cast<unsigned char>(shorthand)] = 2;
  }
  return bytes;
}();

std::size_t escaped_bytes(char byte) { return kEscapedBytes[static_cast<unsigned char>(byte)]; }

void append_escape(std::string& out, char byte) {
  switch (byte) {
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    default: break;
  }
  const auto value = static_cast<unsigned char>(byte);
  out += "\\u00";
  out.push_back(kHexDigits[value >> 4U]);
  out.push_back(kHexDigits[value & 0xFU]);
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  std::size_t plain_from = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (escaped_bytes(text[at]) == 1) continue;
    out.append(text, plain_from, at - plain_from);
    append_escape(out, text[at]);
    plain_from = at + 1;
  }
  out.append(text, plain_from, text.size() - plain_from);
}

void append_number(std::string& out, std::int64_t value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

std::size_t prefix_that_escapes_into(std::string_view text, std::size_t limit) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (at < text.size() && used + escaped_bytes(text[at]) <= limit) used += escaped_bytes(text[at++]);
  return beginning_of(text, at).size();
}

}  // namespace rkllm_mcp
