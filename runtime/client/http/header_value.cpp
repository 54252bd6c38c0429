#include "client/http/header_value.hpp"

#include "mcp/protocol/agreed_names.hpp"

#include <rkllm_mcp/base64.hpp>

#include <algorithm>

namespace rkllm_mcp::client {
namespace {

// Whether the receiver reads back exactly this: it trims blanks, and takes what looks encoded for encoded.
bool is_plain(std::string_view text) {
  const bool is_printable = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  const bool is_trimmed = !text.starts_with(' ') && !text.ends_with(' ');
  const bool looks_encoded = text.starts_with(mcp::kEncodedStart) && text.ends_with(mcp::kEncodedEnd);
  return is_printable && is_trimmed && !looks_encoded;
}

}  // namespace

std::string header_value(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  return std::string(mcp::kEncodedStart) + encode_base64(text) + std::string(mcp::kEncodedEnd);
}

}  // namespace rkllm_mcp::client
