#include "chat/templates/neutral_text.hpp"

#include "text/utf8.hpp"

#include <algorithm>
#include <array>

namespace rkllm_mcp::chat {
namespace {

// Longer ones are no tokens; and so a text full of opening brackets is not searched to its end for each of them.
constexpr std::size_t kLongestSpecialToken = 64;

bool is_in_brackets(std::string_view text, std::string_view open, std::string_view close) {
  if (!text.starts_with(open)) return false;
  const auto inside = text.substr(open.size(), kLongestSpecialToken);
  const auto end = inside.find(close);
  return end != std::string_view::npos && inside.substr(0, end).find_first_of(" \t\n\r") == std::string_view::npos;
}

bool begins_with_special(const Family& family, std::string_view text) {
  return std::ranges::any_of(family.special_tokens,
                             [text](const std::string& token) { return text.starts_with(token); }) ||
         std::ranges::any_of(family.special_brackets,
                             [text](const auto& pair) { return is_in_brackets(text, pair.first, pair.second); });
}

// Most characters begin no token: by their first byte that is known without a look at all tokens.
std::array<bool, 256> first_bytes(const Family& family) {
  std::array<bool, 256> begins{};
  const auto add = [&begins](std::string_view token) {
    if (!token.empty()) begins[static_cast<unsigned char>(token.front())] = true;
  };
  for (const std::string& token : family.special_tokens) add(token);
  for (const auto& [open, close] : family.special_brackets) add(open);
  return begins;
}

}  // namespace

std::string neutral_text(const Family& family, std::string_view text) {
  const auto begins = first_bytes(family);
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    const std::size_t bytes = std::min(first_character_bytes(rest), rest.size());
    result += rest.substr(0, bytes);
    if (begins[static_cast<unsigned char>(rest.front())] && begins_with_special(family, rest)) result.push_back(' ');
    at += bytes;
  }
  return result;
}

}  // namespace rkllm_mcp::chat
