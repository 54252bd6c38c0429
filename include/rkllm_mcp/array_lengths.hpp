// The lengths of the arrays in one JSON object, and the fields that count them: a count that is left out is computed
// from its array; a count that is given must fit its array; arrays whose lengths depend on each other must fit, too.
//
// Complaints are InvalidParams with the path; CallFailed where a length needs a handle value that is not known yet.
#pragma once

#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/handle_record.hpp>
#include <rkllm_mcp/json_reader.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace rkllm_mcp {

class ArrayLengths {
 public:
  // All arguments must outlive this object. The names of count fields that are looked for are added to `known`.
  ArrayLengths(const JsonReader& object, const HandleRecord* handle, std::string_view function,
               std::vector<std::string_view>& known)
      : object_(object), handle_(handle), function_(function), known_(known) {}
  ArrayLengths(const ArrayLengths&) = delete;
  ArrayLengths& operator=(const ArrayLengths&) = delete;

  // The array `name`, read from `in`, has `size` elements.
  template <class Length>
  void found(std::string_view name, const JsonReader& in, std::size_t size, const Length& length, Presence presence) {
    check(in, size, length);
    sizes_[name] = size;
    if constexpr (std::is_same_v<Length, CountedBy>) {
      if (presence == kRequired) required_.insert(length.derived.name());
    }
  }
  // There is no array `name`, but there may be fields that count it. A count of more than 0 is right only where the
  // same field counts another array, one that is required: then this one may be NULL.
  void absent(std::string_view name, const CountedBy& length);
  template <class Length>
  void absent(std::string_view, const Length&) {}
  // The array is a member of a union, and the union holds another of its members.
  void not_chosen(const CountedBy& length) { read_without_array(length); }
  template <class Length>
  void not_chosen(const Length&) {}
  // Must be called last, after found(), absent() or not_chosen() for each array: makes the checks that need them all.
  void finish() const {
    for (const auto& check : checks_) check();
  }

 private:
  void check(const JsonReader& in, std::size_t size, const CountedBy& length);
  void check(const JsonReader& in, std::size_t size, const Exactly& length) const;
  void check(const JsonReader& in, std::size_t size, const MultipleOf& length);
  void check(const JsonReader& in, std::size_t size, const SameLengthAs& length);
  void check(const JsonReader&, std::size_t, const Whole&) const {}  // the decoder has checked the size
  void read_without_array(const CountedBy& length);
  std::optional<std::uint64_t> read_count(const CountField& count);

  const JsonReader& object_;
  const HandleRecord* handle_;
  std::string_view function_;
  std::vector<std::string_view>& known_;
  std::map<std::string_view, std::uint64_t> sizes_;   // of arrays, by name
  std::map<std::string_view, std::uint64_t> counts_;  // of count fields, by name
  std::set<std::string_view> required_;               // names of count fields of an array that must be given
  std::vector<std::function<void()>> checks_;         // for finish() to make
};

inline std::optional<std::uint64_t> ArrayLengths::read_count(const CountField& count) {
  known_.push_back(count.name());
  const auto in = object_.find(count.name());
  if (!in) return std::nullopt;
  return in->integer<std::uint64_t>(0, count.maximum());
}

inline void ArrayLengths::read_without_array(const CountedBy& length) {
  const std::string_view count = length.derived.name();
  if (const auto given = read_count(length.derived); given && *given > 0) {
    checks_.emplace_back([this, count] {
      if (counts_.count(count) != 0) return;  // it counts another array, too, and fits it
      throw InvalidParams(object_.path_of(count), "expected 0 or nothing: the array that it counts is absent");
    });
  }
  for (const Factor& factor : length.times) {
    const auto* field = std::get_if<CountField>(&factor);
    if (field == nullptr) continue;
    if (const auto given = read_count(*field)) field->set(*given);
  }
}

inline void ArrayLengths::absent(std::string_view name, const CountedBy& length) {
  read_without_array(length);
  checks_.emplace_back([this, name, count = length.derived.name()] {
    const auto known = counts_.find(count);
    if (known == counts_.end() || known->second == 0 || required_.count(count) != 0) return;
    throw InvalidParams(object_.path_of(name), "expected array, found nothing: " + std::string(count) +
                                                   " counts it, too, and is " + std::to_string(known->second));
  });
}

inline void ArrayLengths::check(const JsonReader& in, std::size_t size, const CountedBy& length) {
  const auto given = read_count(length.derived);
  std::uint64_t derived = size;
  std::string product;  // for the message
  bool divides = true;
  for (const Factor& factor : length.times) {
    std::uint64_t value = 0;
    std::string_view name;
    if (const auto* field = std::get_if<CountField>(&factor)) {
      const auto count = read_count(*field);
      if (!count)
        throw InvalidParams(object_.path_of(field->name()), "expected integer, found nothing (it is required)");
      field->set(*count);
      value = *count;
      name = field->name();
    } else {
      const auto& of_handle = std::get<HandleValue>(factor);
      value = static_cast<std::uint64_t>(require_known(of_handle, handle_, function_));
      name = of_handle.name;
    }
    product += " * " + std::to_string(value) + " (" + std::string(name) + ")";
    divides = divides && value != 0 && derived % value == 0;
    if (divides) derived /= value;
  }
  const std::string count_name(length.derived.name());
  const auto mismatch = [&](const std::string& count) {
    in.refuse("expected " + count + product + " values, found " + std::to_string(size));
  };
  if (!divides || derived > length.derived.maximum()) mismatch(count_name);
  if (given && *given != derived) mismatch(std::to_string(*given) + " (" + count_name + ")");
  const auto [agreed, is_first] = counts_.emplace(length.derived.name(), derived);
  if (!is_first && agreed->second != derived) mismatch(std::to_string(agreed->second) + " (" + count_name + ")");
  length.derived.set(derived);
}

inline void ArrayLengths::check(const JsonReader& in, std::size_t size, const Exactly& length) const {
  const auto wanted = require_known(length.count, handle_, function_);
  if (std::cmp_equal(size, wanted)) return;
  in.refuse("expected " + std::to_string(wanted) + " values (" + std::string(length.count.name) + "), found " +
            std::to_string(size));
}

inline void ArrayLengths::check(const JsonReader& in, std::size_t size, const MultipleOf& length) {
  checks_.emplace_back([this, path = in.path(), size, count = length.count] {
    const auto known = counts_.find(count);
    if (known == counts_.end() || known->second == 0 || size % known->second == 0) return;
    throw InvalidParams(path, "expected a multiple of " + std::to_string(known->second) + " (" + std::string(count) +
                                  ") values, found " + std::to_string(size));
  });
}

inline void ArrayLengths::check(const JsonReader& in, std::size_t size, const SameLengthAs& length) {
  checks_.emplace_back([this, path = in.path(), size, array = length.array] {
    const auto other = sizes_.find(array);
    if (other == sizes_.end() || other->second == size) return;
    throw InvalidParams(path, "expected as many values as " + std::string(array) + " has, " +
                                  std::to_string(other->second) + ", found " + std::to_string(size));
  });
}

}  // namespace rkllm_mcp
