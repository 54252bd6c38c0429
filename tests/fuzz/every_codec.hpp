// Every codec of every ABI set, in a form that takes any JSON: the methods with all that they decode, and the structs
// one by one, those too that only the runtime sends.
#pragma once

#include <rkllm_mcp/abi_set.hpp>
#include <rkllm_mcp/array_encoding.hpp>
#include <rkllm_mcp/json.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {

// What is known of the handle that a codec works for, and how its call ends.
struct Circumstances {
  bool embd_size_is_known = true;   // 2
  bool vocab_size_is_known = true;  // 100
  bool has_batch = false;           // n_batch 2, else 1
  bool call_fails = false;
  ArrayEncoding encoding = ArrayEncoding::kJson;
};

struct Codec {
  std::string name;      // of a method, or of a struct
  const Method* method;  // null for a struct
  // True: the JSON was taken. False: it was refused as the contract allows, by an error with a path, as something that
  // only other versions have, or because the circumstances stood against it. Throws std::logic_error for any other end.
  std::function<bool(const Json&, const Circumstances&)> takes;
};

struct SetOfCodecs {
  std::string_view version;
  std::vector<Codec> methods;
  std::vector<Codec> structs;
};

// From old to new.
const std::vector<SetOfCodecs>& every_codec();

}  // namespace rkllm_mcp::test
