// The members of an object that somebody wants, in a time that grows as their number does: Json's own operator[]
// searches all members for the name of each that is added.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <string>
#include <utility>

namespace rkllm_mcp {

// `is_wanted` is asked with the name and the value of each, in their order.
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
