// The elements of an array: floats and bytes in either of their forms, integers within the bounds of their rule,
// numbers of double width, bools, and enumerators by name or by number.
#pragma once

#include <rkllm_mcp/bytes.hpp>
#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/enumerators.hpp>
#include <rkllm_mcp/handle_record.hpp>
#include <rkllm_mcp/json_reader.hpp>
#include <rkllm_mcp/tensor.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp {

template <std::integral T>
std::vector<T> integers_from_json(const JsonReader& in, const ArrayRule& rule, const HandleRecord* handle,
                                  std::string_view function) {
  const std::size_t size = in.array().size();
  using Limits = std::numeric_limits<T>;
  const T minimum = std::cmp_less(rule.minimum, Limits::min()) ? Limits::min() : static_cast<T>(rule.minimum);
  std::vector<T> integers;
  integers.reserve(size);
  for (std::size_t i = 0; i < size; ++i) integers.push_back(in.element(i).integer<T>(minimum));
  if (rule.below == nullptr) return integers;
  const std::int64_t end = require_known(*rule.below, handle, function);
  for (std::size_t i = 0; i < size; ++i) {
    if (std::cmp_less(integers[i], end)) continue;
    in.element(i).expected("integer below " + std::to_string(end) + " (" + std::string(rule.below->name) + ")");
  }
  return integers;
}

template <class T>
T element_from_json(const JsonReader& in) {
  if constexpr (std::is_enum_v<T>) {
    return enumerator_from_json<T>(in);
  } else if constexpr (std::is_same_v<T, bool>) {
    return in.boolean();
  } else {
    return in.number(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max());
  }
}

// `handle` is that of a call of `function`, for bounds that are known for a handle only.
template <class T>
std::vector<std::conditional_t<std::is_void_v<T>, char, T>> elements_from_json(const JsonReader& in,
                                                                               const ArrayRule& rule,
                                                                               const HandleRecord* handle,
                                                                               std::string_view function) {
  if constexpr (std::is_same_v<T, float>) {
    return floats_from_json(in);
  } else if constexpr (std::is_same_v<T, char> || std::is_void_v<T>) {
    return bytes_from_json(in);
  } else if constexpr (std::is_same_v<T, double> || std::is_same_v<T, bool> || std::is_enum_v<T>) {
    const std::size_t size = in.array().size();
    std::vector<T> all(size);
    for (std::size_t i = 0; i < size; ++i) all[i] = element_from_json<T>(in.element(i));
    return all;
  } else {
    return integers_from_json<T>(in, rule, handle, function);
  }
}

}  // namespace rkllm_mcp
