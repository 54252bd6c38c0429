// Adds to a reply, as its members, the values that a C function has written to where its parameters point.
#pragma once

#include <rkllm_mcp/bytes.hpp>
#include <rkllm_mcp/call_context.hpp>
#include <rkllm_mcp/encoder.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/tensor.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace rkllm_mcp {

// Room for `size` elements, all zero. One more follows, so that a text ends also where the function fills all of it.
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
  } else if constexpr (std::is_pointer_v<T>) {  // a text that the library keeps
    reply[std::string(name)] = value != nullptr ? Json(value) : Json(nullptr);
  } else if constexpr (std::is_floating_point_v<T>) {
    reply[std::string(name)] = number_to_json(value);
  } else {
    reply[std::string(name)] = value;
  }
}

// The struct that `tag` has chosen, see Decoder::chosen.
template <class E, class... Choices>
void tell_chosen(Json& reply, std::string_view name, E tag, const void* value, const CallContext& call,
                 Choices... choices) {
  const auto tell = [&](auto choice) {
    using Struct = typename decltype(choice)::Struct;
    if (choice.tag != tag) return false;
    tell_out_value(reply, name, *static_cast<const Struct*>(value), call);
    return true;
  };
  (tell(choices) || ...);
}

// Those elements that the function says it has filled in: never more than there is room for.
template <class T, std::integral Size>
std::span<T> filled(std::span<T> room, Size size) {
  return std::cmp_less(size, 1)
             ? room.first(0)
             : room.first(std::cmp_less(size, room.size()) ? static_cast<std::size_t>(size) : room.size());
}

// Adds all elements to the reply; of char only those before the first NUL, as a text.
template <class T>
void tell_out_room(Json& reply, std::string_view name, std::span<T> values, const CallContext& call) {
  if constexpr (std::is_same_v<T, char>) {
    reply[std::string(name)] = std::string(values.begin(), std::find(values.begin(), values.end(), '\0'));
  } else if constexpr (std::is_same_v<T, std::byte>) {
    reply[std::string(name)] =
        bytes_to_json({reinterpret_cast<const char*>(values.data()), values.size()}, call.encoding);
  } else {
    const Encoding encoding{call.encoding, call.handle};
    reply[std::string(name)] = Encoder(encoding).to_json(std::span<const T>(values));
  }
}

// Calls a function when its scope is left, also when it is left by an exception.
template <class Function>
class AtEnd {
 public:
  explicit AtEnd(Function function) : function_(std::move(function)) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { function_(); }

 private:
  Function function_;
};

// What a struct holds after the function has written into it; null if none was given.
template <class T>
void tell_changed(Json& reply, std::string_view name, const T* value, const CallContext& call) {
  reply[std::string(name)] = value != nullptr ? encode(*value, {call.encoding, call.handle}) : Json(nullptr);
}

// The same for an array of `size` elements. Of char and of void it tells the bytes.
template <class T, std::integral Size>
void tell_changed(Json& reply, std::string_view name, T* values, Size size, const CallContext& call) {
  using Element = std::conditional_t<std::is_void_v<T> || std::is_same_v<T, char>, std::byte, T>;
  if (values == nullptr) {
    reply[std::string(name)] = nullptr;
  } else {
    const std::span<Element> all(static_cast<Element*>(static_cast<void*>(values)), static_cast<std::size_t>(size));
    tell_out_room(reply, name, all, call);
  }
}

}  // namespace rkllm_mcp
