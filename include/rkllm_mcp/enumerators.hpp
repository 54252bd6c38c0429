// Enumerators on the wire: a client gives a name or a number; a reply has the name, or the number if there is no name.
#pragma once

#include <rkllm_mcp/codec_rules.hpp>
#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json_reader.hpp>
#include <rkllm_mcp/nearest_name.hpp>

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// Refuses the text of `in`, which is none of these names.
template <class Names>
[[noreturn]] void refuse_name(const JsonReader& in, const Names& names) {
  std::string complaint = "expected one of";
  for (const std::string_view name : names) complaint.append(name == *std::begin(names) ? " " : ", ").append(name);
  in.refuse(complaint + ", found " + Json(shortened(in.text())).dump() + did_you_mean(in.text(), names));
}

template <class E>
E enumerator_from_json(const JsonReader& in) {
  if (in.json().is_string()) {
    std::vector<std::string_view> names;
    for (const EnumName<E>& known : names_of(E{})) {
      if (in.text() == known.name) return known.value;
      names.push_back(known.name);
    }
    refuse_name(in, names);
  }
  const auto number = in.integer<std::int64_t>();
  for (const EnumName<E>& known : names_of(E{})) {
    if (std::cmp_equal(number, static_cast<std::underlying_type_t<E>>(known.value))) return known.value;
  }
  in.expected("the number or name of an enumerator");
}

template <class E>
Json enumerator_to_json(E value) {
  for (const EnumName<E>& known : names_of(value)) {
    if (known.value == value) return std::string(known.name);
  }
  return static_cast<std::underlying_type_t<E>>(value);
}

}  // namespace rkllm_mcp
