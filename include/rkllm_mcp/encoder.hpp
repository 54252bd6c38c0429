// C to JSON: writes the fields of one struct as a JSON object, through the same description that the decoder reads
// with.
#pragma once

#include <rkllm_mcp/array_in_place.hpp>
#include <rkllm_mcp/bytes.hpp>
#include <rkllm_mcp/call_context.hpp>
#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/enumerators.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/tensor.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace rkllm_mcp {

struct Encoding {
  ArrayEncoding arrays = ArrayEncoding::kJson;
  const HandleRecord* handle = nullptr;  // for arrays whose length is a handle value
};

class Encoder {
 public:
  static constexpr bool kDecodes = false;

  explicit Encoder(const Encoding& encoding) : encoding_(encoding) {}

  Json finish() { return std::move(out_); }

  // An array as JSON. Its elements are structs, texts, numbers, enumerators or bytes, or arrays of them.
  template <class T>
  Json to_json(std::span<const T> values) const;

  template <std::integral T>
  void integer(std::string_view name, const T& value, const IntegerRule& = {}) {
    if (chosen()) put(name, static_cast<WireInteger<T>>(value));
  }
  template <std::floating_point T>
  void number(std::string_view name, const T& value, const NumberRule& = {}) {
    if (chosen()) put(name, number_to_json(value));
  }
  void boolean(std::string_view name, const bool& value, Presence = kOptional) {
    if (chosen()) put(name, value);
  }
  template <std::integral T>
  void flag(std::string_view name, const T& value, Presence = kOptional) {
    if (chosen()) put(name, static_cast<WireInteger<T>>(value));
  }
  template <class E>
  void enumeration(std::string_view name, const E& value, Presence = kOptional);
  void text(std::string_view name, const char* const& value, const TextRule& = {});
  template <class T>
  void structure(std::string_view name, const T& value, Presence = kOptional);
  template <class T, class Sign>
  void structure_if(std::string_view name, const T& value, const Sign* const& sign);
  template <class Sign, class Members>
  void group(std::string_view name, const Sign* const& sign, const Members& members_of_group,
             std::initializer_list<Elsewhere> = {});
  template <class T>
  void object(std::string_view name, T* const& value, Presence);
  template <class T>
  void array(std::string_view name, T* const& values, const CountedBy& length, const ArrayRule& = {});
  template <class T>
  void array(std::string_view name, T* const& values, const Exactly& length, const ArrayRule& = {});
  // An array that only the library fills in: it is in replies, and no client may give it.
  template <class T>
  void told_array(std::string_view name, T* const& values, const CountedBy& length) {
    array(name, values, length);
  }
  template <class T>
  void batch(std::string_view name, T* const& structs, const HandleValue& count) {
    array(name, structs, Exactly{count});
  }
  // C does not say how long these are, so they cannot be written.
  template <class T>
  void array(std::string_view, T* const&, const MultipleOf&, const ArrayRule& = {}) {
    chosen();
  }
  template <class T>
  void array(std::string_view, T* const&, const SameLengthAs&, const ArrayRule& = {}) {
    chosen();
  }
  // Writes the text up to the first NUL; all of it if there is none.
  template <std::size_t N>
  void text_in_place(std::string_view name, const char (&value)[N], const TextRule& = {});
  template <class T, std::size_t N>
  void array_in_place(std::string_view name, const T (&values)[N], const Whole&, const ArrayRule& = {}) {
    if (chosen()) put(name, to_json(std::span<const T>(values)));
  }
  template <class T, std::size_t N>
  void array_in_place(std::string_view name, const T (&values)[N], const CountedBy& length, const ArrayRule& = {});
  template <class Mask, class Count>
  void cpu_mask(std::string_view name, const Mask& mask, std::string_view count_name, const Count& count);

  template <class E>
  Encoder& when(std::string_view, E tag, E choice) {
    chosen_ = tag == choice;
    return *this;
  }

 private:
  template <class T>
  void put_array(std::string_view name, T* values, std::size_t size);
  // How many elements there are. Reads no handle value for an array that is not there.
  std::size_t size_of(const CountedBy& length, bool is_there) const;
  void put_counts(const CountedBy& length);
  void put(std::string_view name, Json value) { out_[std::string(name)] = std::move(value); }
  // False, once, for a member of a union that the tag excludes: it must not even be looked at.
  bool chosen() { return std::exchange(chosen_, true); }

  const Encoding& encoding_;
  Json out_ = Json::object();
  bool chosen_ = true;
};

// A struct as a JSON object.
template <class T>
Json encode(const T& value, const Encoding& encoding = {}) {
  Encoder codec(encoding);
  members(codec, value);
  return codec.finish();
}

template <class E>
void Encoder::enumeration(std::string_view name, const E& value, Presence) {
  if (chosen()) put(name, enumerator_to_json(value));
}

inline void Encoder::text(std::string_view name, const char* const& value, const TextRule&) {
  if (!chosen()) return;
  put(name, value != nullptr ? Json(value) : Json(nullptr));
}

template <class T>
void Encoder::structure(std::string_view name, const T& value, Presence) {
  if (chosen()) put(name, encode(value, encoding_));
}

template <class T, class Sign>
void Encoder::structure_if(std::string_view name, const T& value, const Sign* const& sign) {
  if (chosen() && sign != nullptr) put(name, encode(value, encoding_));
}

template <class Sign, class Members>
void Encoder::group(std::string_view name, const Sign* const& sign, const Members& members_of_group,
                    std::initializer_list<Elsewhere>) {
  if (!chosen() || sign == nullptr) return;
  Encoder inner(encoding_);
  members_of_group(inner);
  put(name, inner.finish());
}

template <class T>
void Encoder::object(std::string_view name, T* const& value, Presence) {
  if (!chosen()) return;
  put(name, value != nullptr ? encode(*value, encoding_) : Json(nullptr));
}

inline std::size_t Encoder::size_of(const CountedBy& length, bool is_there) const {
  std::uint64_t size = length.derived.get();
  for (const Factor& factor : length.times) {
    const auto* field = std::get_if<CountField>(&factor);
    if (!is_there) continue;
    size *= field != nullptr
                ? field->get()
                : static_cast<std::uint64_t>(require_known(std::get<HandleValue>(factor), encoding_.handle, {}));
  }
  return static_cast<std::size_t>(size);  // it fits, also on 32 bits: the array is in memory
}

template <class T>
Json Encoder::to_json(std::span<const T> values) const {
  if constexpr (std::is_same_v<T, float>) {
    return floats_to_json(values, encoding_.arrays);
  } else if constexpr (std::is_same_v<T, char>) {
    return bytes_to_json(values, encoding_.arrays);
  } else if constexpr (is_text_in_place<T>) {
    Json texts = Json::array();
    for (const T& text : values) texts.push_back(std::string(text, std::find(text, std::end(text), '\0')));
    return texts;
  } else if constexpr (std::is_array_v<T>) {
    Json rows = Json::array();
    for (const T& row : values) rows.push_back(to_json(std::span<const std::remove_extent_t<T>>(row)));
    return rows;
  } else if constexpr (std::is_same_v<T, double>) {
    Json numbers = Json::array();
    for (const double value : values) numbers.push_back(number_to_json(value));
    return numbers;
  } else if constexpr (std::is_enum_v<T>) {
    Json names = Json::array();
    for (const T value : values) names.push_back(enumerator_to_json(value));
    return names;
  } else if constexpr (std::is_class_v<T>) {
    Json objects = Json::array();
    for (const T& value : values) objects.push_back(encode(value, encoding_));
    return objects;
  } else if constexpr (std::is_pointer_v<T>) {
    Json texts = Json::array();
    for (const char* text : values) texts.push_back(text != nullptr ? Json(text) : Json(nullptr));
    return texts;
  } else {
    return values;
  }
}

inline void Encoder::put_counts(const CountedBy& length) {
  for (const Factor& factor : length.times) {
    if (const auto* field = std::get_if<CountField>(&factor)) put(field->name(), field->get());
  }
  put(length.derived.name(), length.derived.get());
}

template <class T>
void Encoder::array(std::string_view name, T* const& values, const CountedBy& length, const ArrayRule&) {
  if (!chosen()) return;
  put_array(name, values, size_of(length, values != nullptr));
  put_counts(length);
}

template <class T>
void Encoder::array(std::string_view name, T* const& values, const Exactly& length, const ArrayRule&) {
  if (!chosen()) return;
  put_array(name, values,
            values != nullptr ? static_cast<std::size_t>(require_known(length.count, encoding_.handle, {})) : 0);
}

template <class T>
void Encoder::put_array(std::string_view name, T* values, std::size_t size) {
  if (values == nullptr) {
    put(name, nullptr);
  } else if constexpr (std::is_void_v<T>) {
    put(name, to_json(std::span(static_cast<const char*>(values), size)));
  } else {
    put(name, to_json(std::span<const std::remove_const_t<T>>(values, size)));
  }
}

template <std::size_t N>
void Encoder::text_in_place(std::string_view name, const char (&value)[N], const TextRule&) {
  if (chosen()) put(name, std::string(value, std::find(value, value + N, '\0')));
}

template <class T, std::size_t N>
void Encoder::array_in_place(std::string_view name, const T (&values)[N], const CountedBy& length, const ArrayRule&) {
  if (!chosen()) return;
  put(name, to_json(std::span<const T>(values).first(std::min(size_of(length, true), N))));
  put_counts(length);
}

template <class Mask, class Count>
void Encoder::cpu_mask(std::string_view name, const Mask& mask, std::string_view count_name, const Count& count) {
  if (!chosen()) return;
  put(count_name, count);
  put(name, mask);
}

}  // namespace rkllm_mcp
