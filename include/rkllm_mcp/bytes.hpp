// Bytes as JSON: what C passes as an array of char and is no text. An array of integers from 0 to 255, whatever sign
// char has on this machine, or {"base64":"...","dtype":"uint8"}.
#pragma once

#include <rkllm_mcp/array_encoding.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/json_reader.hpp>
#include <rkllm_mcp/packed_values.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace rkllm_mcp {

inline Json bytes_to_json(std::span<const char> bytes, ArrayEncoding encoding) {
  if (encoding == ArrayEncoding::kBase64) return packed_to_json(std::as_bytes(bytes), "uint8");
  Json numbers = Json::array();
  for (const char byte : bytes) numbers.push_back(static_cast<std::uint8_t>(byte));
  return numbers;
}

// Reads either form.
inline std::vector<char> bytes_from_json(const JsonReader& in) {
  std::vector<char> bytes;
  if (in.json().is_object()) {
    const std::vector<std::byte> packed = packed_from_json(in, "uint8", 1);
    bytes.resize(packed.size());
    if (!packed.empty()) std::memcpy(bytes.data(), packed.data(), packed.size());
    return bytes;
  }
  if (!in.json().is_array()) in.wrong_type("array of bytes, or object with base64 and dtype");
  bytes.reserve(in.json().size());
  for (std::size_t i = 0; i < in.json().size(); ++i) {
    bytes.push_back(static_cast<char>(in.element(i).integer<std::uint8_t>()));
  }
  return bytes;
}

}  // namespace rkllm_mcp
