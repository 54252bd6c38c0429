// Reading members of JSON that others have made, of which nothing is taken for granted; and keeping only some members
// of an object.
//
// Threads: any.
#pragma once

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

// Null if `object` is no object, or has no member of this name.
inline const Json* member_of(const Json& object, const char* name) {
  const auto found = object.find(name);  // the end for what is no object
  return found == object.end() ? nullptr : &*found;
}

// As member_of(), but null also if the member is JSON null, which some clients write for what they do not have.
inline const Json* given_in(const Json& object, const char* name) {
  const Json* const member = member_of(object, name);
  return member == nullptr || member->is_null() ? nullptr : member;
}

// The member of this name, if it is a text; else empty. What is returned lies in `object`.
std::string_view text_view_in(const Json&& object, const char* name) = delete;
inline std::string_view text_view_in(const Json& object, const char* name) {
  const Json* const member = member_of(object, name);
  if (member == nullptr || !member->is_string()) return {};
  return member->get_ref<const std::string&>();
}

// A copy of the member of this name, if it is a text; else empty.
inline std::string text_in(const Json& object, const char* name) { return std::string(text_view_in(object, name)); }

// The member of this name, if it is written as an integer, and fits; and if it is any number.
inline std::optional<std::int64_t> integer_in(const Json& object, const char* name) {
  const Json* const member = member_of(object, name);
  if (member == nullptr || !member->is_number_integer()) return std::nullopt;
  if (member->is_number_unsigned() && !std::in_range<std::int64_t>(member->get<std::uint64_t>())) return std::nullopt;
  return member->get<std::int64_t>();
}
inline std::optional<double> number_in(const Json& object, const char* name) {
  const Json* const member = member_of(object, name);
  return member != nullptr && member->is_number() ? std::optional(member->get<double>()) : std::nullopt;
}

// A text that must be among a method's parameters. Throws InvalidParams.
inline std::string required_text_in(const Json& params, const char* name) {
  const Json* const member = member_of(params, name);
  if (member == nullptr) throw InvalidParams(std::string("params.") + name, "missing");
  if (!member->is_string()) throw InvalidParams(std::string("params.") + name, "expected string");
  return member->get<std::string>();
}

// The members of an object that somebody wants, in a time that grows as their number does: Json's own operator[]
// searches all members for the name of each that is added. `is_wanted` is asked with the name and the value of each, in
// their order.
template <class IsWanted>
Json members_where(Json object, IsWanted is_wanted) {
  Json::object_t wanted;
  wanted.reserve(object.size());  // growing would copy all that its members hold
  for (auto& [name, value] : object.get_ref<Json::object_t&>()) {
    if (is_wanted(name, std::as_const(value))) wanted.emplace_back(name, std::move(value));
  }
  return wanted;
}

}  // namespace rkllm_mcp
