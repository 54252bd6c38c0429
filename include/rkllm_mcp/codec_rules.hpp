// The vocabulary in which generated code tells what C cannot say about a value: may it be absent, how long is it, which
// values are allowed. The decoder enforces the rules, the encoder needs some of them, the JSON Schemas repeat them.
#pragma once

#include <rkllm_mcp/file_policy.hpp>
#include <rkllm_mcp/handle_record.hpp>
#include <rkllm_mcp/method.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rkllm_mcp {

enum class Presence {
  // null on the wire is absence.
  kOptional,       // absent: the default stays
  kRequired,       // absent: refused
  kNullable,       // absent: NULL
  kEmptyIfAbsent,  // absent: as if {} had been given
};
using enum Presence;

struct IntegerRule {  // the range of the C type is a bound as well
  std::int64_t minimum = std::numeric_limits<std::int64_t>::min();
  std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();
  Presence presence = kOptional;
};

// The largest float, as the shortest decimal that stands for it. It is a little more than the float itself, so that
// what was written with few digits can be read again.
inline constexpr double kFloatMax = 3.4028235e38;

// The type of the number that stands on the wire for an integer of type T. It is T itself; but for a plain char, which
// is signed on some machines only, it is a byte without a sign.
template <std::integral T>
using WireInteger = std::conditional_t<std::is_same_v<T, char>, unsigned char, T>;

struct NumberRule {  // the range of the C type is a bound as well
  double minimum = -std::numeric_limits<double>::max();
  double maximum = std::numeric_limits<double>::max();
  Presence presence = kOptional;
};

struct TextRule {
  Presence presence = kOptional;
  std::size_t min_length = 0;     // in bytes
  bool json = false;              // the text is itself JSON: an array or an object; either may also be given as such
  FileUse file = FileUse::kNone;  // the text is the path of a file
  std::string_view file_if_absent{};                 // path of the file that the library writes if it gets no path
  std::initializer_list<std::string_view> one_of{};  // the texts that mean something to the library; empty: any
};

struct ArrayRule {
  Presence presence = kRequired;
  std::int64_t minimum = std::numeric_limits<std::int64_t>::min();  // of each integer
  const HandleValue* below = nullptr;                               // each integer is less than this value
};

// A field that counts something, whatever its integer type. `name` is its name on the wire.
class CountField {
 public:
  template <std::integral T>
  CountField(std::string_view name, T& count)
      : name_(name),
        count_(const_cast<std::remove_const_t<T>*>(&count)),
        read_(&read<T>),
        write_(&write<T>),
        maximum_(static_cast<std::uint64_t>(std::numeric_limits<T>::max())) {}

  std::string_view name() const { return name_; }
  std::uint64_t maximum() const { return maximum_; }
  std::uint64_t get() const { return read_(count_); }
  void set(std::uint64_t value) const { write_(count_, value); }  // only for fields that were not const

 private:
  template <class T>
  static std::uint64_t read(const void* count) {
    const T value = *static_cast<const T*>(count);
    return std::cmp_less(value, 0) ? 0 : static_cast<std::uint64_t>(value);
  }
  template <class T>
  static void write(void* count, std::uint64_t value) {
    *static_cast<std::remove_const_t<T>*>(count) = static_cast<std::remove_const_t<T>>(value);
  }

  std::string_view name_;
  void* count_;
  std::uint64_t (*read_)(const void*);
  void (*write_)(void*, std::uint64_t);
  std::uint64_t maximum_;
};

// What a length is a product of: a field that counts, or a value of the handle.
using Factor = std::variant<CountField, HandleValue>;

// How many elements an array has: one of these six structs says it.
struct CountedBy {  // derived * times[0] * times[1] * ...; on the wire `derived` may be left out
  CountField derived;
  std::vector<Factor> times;
};
struct Exactly {  // as many as a handle value says
  HandleValue count;
};
struct MultipleOf {  // a multiple of another field's value; C does not tell which
  std::string_view count;
};
struct SameLengthAs {  // as many as another array of the same struct
  std::string_view array;
};
struct Whole {};  // as many as an array in place has
template <std::size_t N>
struct WholeOf {};  // as many as a parameter is declared with, which C passes as a pointer

// The struct that an enumerator chooses, see Decoder::chosen.
template <class T, class E>
struct Choice {
  using Struct = T;
  E tag;
};
template <class T, class E>
constexpr Choice<T, E> choice(E tag) {
  return {tag};
}

template <std::integral T, class... Factors>
CountedBy counted_by(std::string_view name, T& count, Factors... times) {
  return {CountField(name, count), {Factor(times)...}};
}
template <std::integral T>
CountField factor(std::string_view name, T& count) {
  return CountField(name, count);
}

// An enumerator and its name on the wire. Generated code gives each enum a function names_of(E), found by argument.
template <class E>
struct EnumName {
  E value;
  std::string_view name;
};

// Marks a type, to choose an overload by it.
template <class T>
struct TypeTag {};

// What a struct holds before anything is read into it: zero, unless generated code knows its defaults and provides a
// better match.
template <class T>
constexpr T default_of(TypeTag<T>) {
  return T{};
}

// The fields that other versions of a struct have: none, unless generated code knows of some and provides a better
// match.
template <class T>
constexpr std::span<const Elsewhere> elsewhere(TypeTag<T>) {
  return {};
}

// Generated code describes a struct once, in a function template members(codec, value), which the decoder and the
// encoder both run. The decoder gets a value that it may write.
template <class Codec, class T>
using Of = std::conditional_t<Codec::kDecodes, T, const T>;

}  // namespace rkllm_mcp
