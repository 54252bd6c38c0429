// Base64 (RFC 4648, section 4: the standard alphabet, padded), for large arrays inside JSON.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

inline constexpr std::string_view kBase64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string encode_base64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = std::to_integer<std::uint32_t>(bytes[i]) << 16U;
    if (left > 1) group |= std::to_integer<std::uint32_t>(bytes[i + 1]) << 8U;
    if (left > 2) group |= std::to_integer<std::uint32_t>(bytes[i + 2]);
    text += kBase64Alphabet[group >> 18U];
    text += kBase64Alphabet[(group >> 12U) & 63U];
    text += left > 1 ? kBase64Alphabet[(group >> 6U) & 63U] : '=';
    text += left > 2 ? kBase64Alphabet[group & 63U] : '=';
  }
  return text;
}

inline std::string encode_base64(std::string_view bytes) { return encode_base64(std::as_bytes(std::span(bytes))); }

// Nothing if `text` is not exactly one valid encoding: length, alphabet, padding and zero bits behind the end are
// checked.
inline std::optional<std::vector<std::byte>> decode_base64(std::string_view text) {
  static constexpr auto kValues = [] {
    std::array<std::int8_t, 256> values{};
    values.fill(-1);
    for (std::size_t i = 0; i < kBase64Alphabet.size(); ++i) {
      values[static_cast<unsigned char>(kBase64Alphabet[i])] = static_cast<std::int8_t>(i);
    }
    return values;
  }();
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  text.remove_suffix(padding);

  std::vector<std::byte> bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char character : text) {
    const std::int8_t value = kValues[static_cast<unsigned char>(character)];
    if (value < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> held));
    bits &= (1U << held) - 1U;
  }
  if (bits != 0) return std::nullopt;
  return bytes;
}

}  // namespace rkllm_mcp
