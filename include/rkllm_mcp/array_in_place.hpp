// Arrays that lie in a struct itself: dims[16], matrix[4][4], and texts: name[64], names[4][32]. (What points at texts,
// const char* names[4], the decoder reads itself.)
#pragma once

#include <rkllm_mcp/array_elements.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace rkllm_mcp {

// Whether T is char[N], which is a text that ends with NUL where it is an element of an array. (Alone it may be bytes.)
template <class T>
inline constexpr bool is_text_in_place = std::is_array_v<T>&& std::is_same_v<std::remove_extent_t<T>, char>;

// Copies the text into `out`, and fills the rest with NUL; or returns what is wrong with the text.
template <std::size_t N>
std::optional<std::string> copy_text(std::string_view text, char (&out)[N]) {
  if (text.size() >= N) {
    return "expected string of at most " + std::to_string(N - 1) + " bytes, found " + std::to_string(text.size());
  }
  std::fill(std::copy(text.begin(), text.end(), out), out + N, '\0');
  return std::nullopt;
}

// Reads numbers, bytes, texts, or arrays of them into the first elements of `out`, and returns how many there were.
// More than have room are refused.
template <class T, std::size_t N>
std::size_t read_in_place(const JsonReader& in, T (&out)[N], const ArrayRule& rule, const HandleRecord* handle,
                          std::string_view function) {
  const auto refuse_above = [&](std::size_t size) {
    if (size > N) in.refuse("expected at most " + std::to_string(N) + " values, found " + std::to_string(size));
  };
  if constexpr (is_text_in_place<T>) {
    const std::size_t size = in.array().size();
    refuse_above(size);
    for (std::size_t i = 0; i < size; ++i) {
      if (const auto complaint = copy_text(in.element(i).text(), out[i])) in.element(i).refuse(*complaint);
    }
    return size;
  } else if constexpr (std::is_array_v<T>) {
    const std::size_t size = in.array().size();
    refuse_above(size);
    for (std::size_t i = 0; i < size; ++i) {
      const JsonReader row = in.element(i);
      const std::size_t read = read_in_place(row, out[i], rule, handle, function);
      if (read != std::extent_v<T>)
        row.refuse("expected " + std::to_string(std::extent_v<T>) + " values, found " + std::to_string(read));
    }
    return size;
  } else {
    const auto elements = elements_from_json<T>(in, rule, handle, function);
    refuse_above(elements.size());
    std::copy(elements.begin(), elements.end(), out);
    return elements.size();
  }
}

}  // namespace rkllm_mcp
