// One callable function of a bound API, described as plain data. The generator emits a table of these; the runtime
// library serves any such table and knows nothing else about the API.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string_view>

namespace rkllm_mcp {

// What a method does to handles (initialised models).
enum class HandleRole { kNone, kCreates, kUses, kDestroys };

// Hints of the Model Context Protocol about a tool's effects.
struct ToolAnnotations {
  bool read_only = false;
  bool destructive = false;
  bool idempotent = false;
  bool open_world = false;
};

struct Method {
  std::string_view name;                     // the C name, verbatim; also the JSON-RPC method and the tool name
  std::string_view title;                    // a few words for a person
  std::string_view description;              // the documentation, plain text
  std::string_view declaration;              // the C declaration, on one line
  std::span<const std::string_view> params;  // wire parameters in C order (the order of an array in `params`)
  std::string_view handle_param;             // which of `params` names the handle; empty if none
  HandleRole handle = HandleRole::kNone;
  bool streams = false;             // its result callback becomes a stream of chunks
  bool streams_by_default = false;  // in the direct dialect a call without "stream" answers in chunks
  bool immediate = false;  // the contract allows it while a run goes on: it does not wait in the handle's queue
  bool aborts = false;     // it stops what runs on the handle
  ToolAnnotations annotations{};
  std::string_view input_schema;   // JSON Schema 2020-12 of the parameters, as JSON text
  std::string_view output_schema;  // the same of the result; its root is an object
  bool listed = true;              // false: not in lists of tools, since another tool does the same; can be called
  std::string_view tool_input_schema{};  // a shorter schema for lists of tools, for any host; empty: input_schema
  std::string_view tool_output_schema{};
};

// The first of `methods` of which `is_wanted` is true; null if there is none.
template <std::predicate<const Method&> Predicate>
const Method* find_method(std::span<const Method> methods, Predicate is_wanted) {
  const auto found = std::find_if(methods.begin(), methods.end(), is_wanted);
  return found == methods.end() ? nullptr : &*found;
}

inline const Method* find_method(std::span<const Method> methods, HandleRole role) {
  return find_method(methods, [role](const Method& each) { return each.handle == role; });
}

inline const Method* find_method(std::span<const Method> methods, std::string_view name) {
  return find_method(methods, [name](const Method& each) { return each.name == name; });
}

// What this version of the API has not, but another one has: a function, a constant, a type, or a field of a struct.
struct Elsewhere {
  std::string_view name;
  std::string_view versions;  // "1.3.0": that one and later; "<= 1.2.3": that one and earlier
};

}  // namespace rkllm_mcp
