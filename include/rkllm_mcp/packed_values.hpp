// Many values as one text: {"base64":"...","dtype":"float32"}, the other form of an array of floats or of bytes.
#pragma once

#include <rkllm_mcp/base64.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/json_reader.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {

inline Json packed_to_json(std::span<const std::byte> values, std::string_view dtype) {
  return Json{{"base64", encode_base64(values)}, {"dtype", std::string(dtype)}};
}

// The bytes of whole values of `size` bytes each. Everything else, also another dtype, is refused.
inline std::vector<std::byte> packed_from_json(const JsonReader& in, std::string_view dtype, std::size_t size) {
  for (const auto& [key, value] : in.object().items()) {
    if (key != "base64" && key != "dtype") throw InvalidParams(in.path_of(key), "unknown field; known are base64 and dtype");
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

}  // namespace rkllm_mcp
