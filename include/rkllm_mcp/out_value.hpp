// What a function leaves where its parameters point, as members of its reply.
#pragma once

#include <rkllm_mcp/call_context.hpp>
#include <rkllm_mcp/encoder.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/tensor.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace rkllm_mcp {

// Room for `size` elements, all zero, and for a text one more, so that it ends also where the function fills all of it.
template <class T, class Size>
std::span<T> out_room(CallContext& call, Size size) {
  const auto elements = static_cast<std::size_t>(size);
  return {call.arena.array<T>(elements + 1), elements};
}

// A number, a bool, a struct; an enumerator by name, or by its number if the header has no name for it.
template <class T>
void tell_out_value(Json& reply, std::string_view name, const T& value, const CallContext& call) {
  const Encoding encoding{call.encoding, call.handle};
  if constexpr (std::is_enum_v<T>) {
    Encoder encoder(encoding);
    encoder.enumeration(name, value);
    reply.update(encoder.finish());
  } else if constexpr (std::is_class_v<T>) {
    reply[std::string(name)] = encode(value, encoding);
  } else if constexpr (std::is_floating_point_v<T>) {
    reply[std::string(name)] = float_to_json(value);
  } else {
    reply[std::string(name)] = value;
  }
}

// All elements; of characters those before the first NUL, as a text.
template <class T>
void tell_out_room(Json& reply, std::string_view name, std::span<T> values, [[maybe_unused]] const CallContext& call) {
  if constexpr (std::is_same_v<T, char>) {
    reply[std::string(name)] = std::string(values.begin(), std::find(values.begin(), values.end(), '\0'));
  } else if constexpr (std::is_same_v<T, float>) {
    reply[std::string(name)] = floats_to_json(values, call.encoding);
  } else {
    reply[std::string(name)] = values;
  }
}

}  // namespace rkllm_mcp
