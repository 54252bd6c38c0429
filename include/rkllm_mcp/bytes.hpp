// Bytes as JSON, for arrays of char that are no text: an array of integers from 0 to 255, whatever sign char has on
// this machine, or {"base64":"...","dtype":"uint8"}. The two functions for that second form take values of any type;
// tensor.hpp uses them, too.
#pragma once

#include <rkllm_mcp/array_encoding.hpp>
#include <rkllm_mcp/base64.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/json_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// Many values as one text: {"base64":"...","dtype":"float32"}, the other form of an array of floats or of bytes.
inline Json packed_to_json(std::span<const std::byte> values, std::string_view dtype) {
  return Json{{"base64", encode_base64(values)}, {"dtype", std::string(dtype)}};
}

// Returns the bytes of values of `size` bytes each. Refuses another dtype, and a last value that is not whole.
inline std::vector<std::byte> packed_from_json(const JsonReader& in, std::string_view dtype, std::size_t size) {
  for (const auto& [key, value] : in.object().items()) {
    if (key != "base64" && key != "dtype")
      throw InvalidParams(in.path_of(key), "unknown field; known are base64 and dtype");
  }
  const auto found = in.find("dtype");
  if (!found || found->text() != dtype) in.refuse("expected \"dtype\":\"" + std::string(dtype) + "\"");
  const auto base64 = in.find("base64");
  if (!base64) in.refuse("expected the values in \"base64\"");
  auto bytes = decode_base64(base64->text());
  if (!bytes || bytes->size() % size != 0) {
    base64->refuse("expected base64 of whole values of " + std::to_string(size) + (size == 1 ? " byte" : " bytes"));
  }
  return std::move(*bytes);
}

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
