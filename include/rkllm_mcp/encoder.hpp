// C to JSON: writes the fields of one struct as a JSON object, through the same description that the decoder reads
// with.
#pragma once

#include <rkllm_mcp/bytes.hpp>
#include <rkllm_mcp/call_context.hpp>
#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace rkllm_mcp {

struct Encoding {
  ArrayEncoding arrays = ArrayEncoding::kJson;
  const HandleRecord* handle = nullptr;  // for arrays whose length is a session value
};

class Encoder {
 public:
  static constexpr bool kDecodes = false;

  explicit Encoder(const Encoding& encoding) : encoding_(encoding) {}

  Json finish() { return std::move(out_); }

  template <std::integral T>
  void integer(std::string_view name, const T& value, const IntegerRule& = {}) {
    if (chosen()) put(name, value);
  }
  void number(std::string_view name, const float& value, const NumberRule& = {}) {
    if (chosen()) put(name, float_to_json(value));
  }
  void boolean(std::string_view name, const bool& value, Presence = kOptional) {
    if (chosen()) put(name, value);
  }
  template <std::integral T>
  void flag(std::string_view name, const T& value, Presence = kOptional) {
    if (chosen()) put(name, value);
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
  // C does not say how long these are, so they cannot be written.
  template <class T>
  void array(std::string_view, T* const&, const MultipleOf&, const ArrayRule& = {}) {
    chosen();
  }
  template <class T>
  void array(std::string_view, T* const&, const SameLengthAs&, const ArrayRule& = {}) {
    chosen();
  }
  template <class Mask, class Count>
  void cpu_mask(std::string_view name, const Mask& mask, std::string_view count_name, const Count& count);

  template <class E>
  Encoder& when(std::string_view, E tag, E choice) {
    chosen_ = tag == choice;
    return *this;
  }

 private:
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
  if (!chosen()) return;
  for (const auto& known : names_of(value)) {
    if (known.value == value) return put(name, std::string(known.name));
  }
  put(name, static_cast<std::underlying_type_t<E>>(value));
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

template <class T>
void Encoder::array(std::string_view name, T* const& values, const CountedBy& length, const ArrayRule&) {
  if (!chosen()) return;
  std::uint64_t size = length.derived.get();
  for (const Factor& factor : length.times) {
    const auto* field = std::get_if<CountField>(&factor);
    if (values == nullptr) continue;
    size *= field != nullptr
                ? field->get()
                : static_cast<std::uint64_t>(require_known(std::get<SessionValue>(factor), encoding_.handle, {}));
  }
  const auto in_memory = static_cast<std::size_t>(size);  // what lies in memory can be counted by it, also on 32 bit
  if (values == nullptr) {
    put(name, nullptr);
  } else if constexpr (std::is_same_v<std::remove_const_t<T>, float>) {
    put(name, floats_to_json({values, in_memory}, encoding_.arrays));
  } else if constexpr (std::is_same_v<std::remove_const_t<T>, char>) {
    put(name, bytes_to_json({values, in_memory}, encoding_.arrays));
  } else {
    put(name, std::span(values, in_memory));
  }
  for (const Factor& factor : length.times) {
    if (const auto* field = std::get_if<CountField>(&factor)) put(field->name(), field->get());
  }
  put(length.derived.name(), length.derived.get());
}

template <class Mask, class Count>
void Encoder::cpu_mask(std::string_view name, const Mask& mask, std::string_view count_name, const Count& count) {
  if (!chosen()) return;
  put(count_name, count);
  put(name, mask);
}

}  // namespace rkllm_mcp
