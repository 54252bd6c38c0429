// Members of JSON that somebody else has made: nothing is taken for granted of it.
//
// Threads: any.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <string>

namespace rkllm_mcp {

// Null if `object` is no object, or has no member of this name.
inline const Json* member_of(const Json& object, const char* name) {
  const auto found = object.find(name);  // the end for what is no object
  return found == object.end() ? nullptr : &*found;
}

// The member of this name, if it is a text; else empty.
inline std::string text_in(const Json& object, const char* name) {
  const Json* const member = member_of(object, name);
  return member != nullptr && member->is_string() ? member->get<std::string>() : std::string();
}

}  // namespace rkllm_mcp
