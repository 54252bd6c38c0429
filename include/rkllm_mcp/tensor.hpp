// 32-bit floats as JSON: single ones, and arrays that may be large. An array is a JSON array of numbers, or
// {"base64":"...","dtype":"float32"}: the IEEE 754 values, little endian.
#pragma once

#include <rkllm_mcp/bytes.hpp>
#include <rkllm_mcp/call_context.hpp>
#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/json_reader.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace rkllm_mcp {

// Of a float the shortest decimal that reads back as it: 0.9, where a plain conversion would give 0.8999999761581421.
// JSON has no NaN and no infinity; they become null.
inline Json number_to_json(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
inline Json number_to_json(float value) {
  if (!std::isfinite(value)) return nullptr;
  char text[32];
  const auto written = std::to_chars(text, text + sizeof text, value);
  double shortest = 0;
  std::from_chars(text, written.ptr, shortest);
  return shortest;
}

// Little endian bytes to the machine's order and back.
inline float swap_if_big_endian(float value) {
  if constexpr (std::endian::native == std::endian::big) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    value = std::bit_cast<float>((bits << 24U) | ((bits & 0xff00U) << 8U) | ((bits >> 8U) & 0xff00U) | (bits >> 24U));
  }
  return value;
}

inline Json floats_to_json(std::span<const float> values, ArrayEncoding encoding) {
  if (encoding == ArrayEncoding::kBase64) {
    std::vector<float> swapped;
    if constexpr (std::endian::native == std::endian::big) {
      for (const float value : values) swapped.push_back(swap_if_big_endian(value));
      values = swapped;
    }
    return packed_to_json(std::as_bytes(values), "float32");
  }
  Json numbers = Json::array();
  for (const float value : values) numbers.push_back(number_to_json(value));
  return numbers;
}

namespace tensor_detail {

inline std::vector<float> floats_from_base64(const JsonReader& in) {
  const std::vector<std::byte> bytes = packed_from_json(in, "float32", sizeof(float));
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = swap_if_big_endian(values[i]);
    if (!std::isfinite(values[i])) in.find("base64")->refuse("value " + std::to_string(i) + " is not finite");
  }
  return values;
}

}  // namespace tensor_detail

// Reads either form. Values that are not finite, or too large for a float, are refused.
inline std::vector<float> floats_from_json(const JsonReader& in) {
  if (in.json().is_object()) return tensor_detail::floats_from_base64(in);
  if (!in.json().is_array()) in.wrong_type("array of numbers, or object with base64 and dtype");
  std::vector<float> values;
  values.reserve(in.json().size());
  for (std::size_t i = 0; i < in.json().size(); ++i) {
    values.push_back(static_cast<float>(in.element(i).number(-kFloatMax, kFloatMax)));
  }
  return values;
}

}  // namespace rkllm_mcp
