// A cursor over a JSON value that knows its path, so that every complaint says where: "params.param.top_k: expected
// integer, found string".
//
// A reader borrows both the value and the reader it came from; neither may move or die before it. Reading has no side
// effects and throws InvalidParams only.
#pragma once

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class JsonReader {
 public:
  // The root of a document; paths start with `name`.
  JsonReader(const Json& value, std::string_view name) : value_(&value), name_(name) {}

  const Json& json() const { return *value_; }

  // Of an object: the member `key`, if there is one; null counts as none, since many clients write it for what they
  // have not. Of an array: element `index`, which must exist.
  std::optional<JsonReader> find(std::string_view key) const;
  JsonReader element(std::size_t index) const { return {(*value_)[index], this, {}, index}; }

  std::string path() const;
  // The path that a member has, or would have.
  std::string path_of(std::string_view key) const { return path() + "." + shortened(key); }

  [[noreturn]] void refuse(std::string_view complaint) const { throw InvalidParams(path(), complaint); }
  // "expected `what`, found ...", with the beginning of a text; wrong_type() names the type alone.
  [[noreturn]] void expected(std::string_view what) const;
  [[noreturn]] void wrong_type(std::string_view what) const;

  const Json& object() const;
  const Json& array() const;
  bool boolean() const;
  // A whole number in [minimum, maximum]. 3.0 is one: JSON does not tell it from 3.
  template <std::integral T>
  T integer(T minimum = std::numeric_limits<T>::min(), T maximum = std::numeric_limits<T>::max()) const;
  // A finite number in [minimum, maximum].
  double number(double minimum, double maximum) const;
  // A string without U+0000, which C would take for its end.
  const std::string& text() const;

 private:
  JsonReader(const Json& value, const JsonReader* parent, std::string_view name, std::size_t index)
      : value_(&value), parent_(parent), name_(name), index_(index) {}

  const Json* value_;
  const JsonReader* parent_ = nullptr;
  std::string_view name_;  // empty for elements of an array
  std::size_t index_ = 0;
};

inline std::optional<JsonReader> JsonReader::find(std::string_view key) const {
  const auto found = value_->find(std::string(key));
  if (found == value_->end() || found->is_null()) return std::nullopt;
  return JsonReader(*found, this, key, 0);
}

inline std::string JsonReader::path() const {
  if (parent_ == nullptr) return std::string(name_);
  if (name_.empty()) return parent_->path() + "[" + std::to_string(index_) + "]";
  return parent_->path_of(name_);
}

inline void JsonReader::expected(std::string_view what) const {
  if (!value_->is_string()) wrong_type(what);
  const Json found(shortened(value_->get_ref<const std::string&>()));
  refuse("expected " + std::string(what) + ", found " + found.dump(-1, ' ', false, Json::error_handler_t::replace));
}

inline void JsonReader::wrong_type(std::string_view what) const {
  const std::string found = value_->is_number() ? value_->dump() : value_->type_name();
  refuse("expected " + std::string(what) + ", found " + found);
}

inline const Json& JsonReader::object() const {
  if (!value_->is_object()) wrong_type("object");
  return *value_;
}

inline const Json& JsonReader::array() const {
  if (!value_->is_array()) wrong_type("array");
  return *value_;
}

inline bool JsonReader::boolean() const {
  if (!value_->is_boolean()) wrong_type("boolean");
  return value_->get<bool>();
}

template <std::integral T>
T JsonReader::integer(T minimum, T maximum) const {
  const auto in_range = [&](auto value) -> std::optional<T> {
    if (std::cmp_less(value, minimum) || std::cmp_greater(value, maximum)) return std::nullopt;
    return static_cast<T>(value);
  };
  std::optional<T> result;
  if (value_->is_number_unsigned()) {
    result = in_range(value_->get<std::uint64_t>());
  } else if (value_->is_number_integer()) {
    result = in_range(value_->get<std::int64_t>());
  } else if (value_->is_number_float() && std::trunc(value_->get<double>()) == value_->get<double>()) {
    constexpr double kTwoTo63 = 9223372036854775808.0;  // doubles below it convert to int64 exactly
    const double value = value_->get<double>();
    if (value >= -kTwoTo63 && value < kTwoTo63)
      result = in_range(static_cast<std::int64_t>(value));
    else if (value >= 0 && value < 2 * kTwoTo63)
      result = in_range(static_cast<std::uint64_t>(value));
  } else {
    wrong_type("integer");
  }
  if (!result) expected("integer from " + std::to_string(minimum) + " to " + std::to_string(maximum));
  return *result;
}

inline double JsonReader::number(double minimum, double maximum) const {
  if (!value_->is_number()) wrong_type("number");
  const double value = value_->get<double>();
  if (!(value >= minimum && value <= maximum)) {  // NaN as well
    expected("number from " + Json(minimum).dump() + " to " + Json(maximum).dump());
  }
  return value;
}

inline const std::string& JsonReader::text() const {
  if (!value_->is_string()) wrong_type("string");
  const std::string& text = value_->get_ref<const std::string&>();
  if (text.find('\0') != std::string::npos) refuse("expected string without U+0000");
  return text;
}

}  // namespace rkllm_mcp
