#include "client/header_value.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cstddef>

namespace rkllm_mcp::client {
namespace {

constexpr std::string_view kEncodedPrefix = "=?base64?";
constexpr std::string_view kEncodedSuffix = "?=";

// Whether the receiver reads back exactly this: it trims blanks, and takes what looks encoded for encoded.
bool is_plain(std::string_view text) {
  const bool is_printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  const bool is_trimmed = !text.starts_with(' ') && !text.ends_with(' ');
  const bool looks_encoded = text.starts_with(kEncodedPrefix) && text.ends_with(kEncodedSuffix);
  return is_printable && is_trimmed && !looks_encoded;
}

}  // namespace

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // OpenSSL adds a NUL
  const int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::string header_value(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  return std::string(kEncodedPrefix) + base64(text) + std::string(kEncodedSuffix);
}

}  // namespace rkllm_mcp::client
