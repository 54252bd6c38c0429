// What reads bytes from outside, apart from the codecs: each as a function that takes any bytes. An input whose first
// byte is N is also fed in pieces of N bytes, which may make no difference. What breaks a rule is an exception that
// nobody catches.
#pragma once

#include <span>
#include <string_view>

namespace rkllm_mcp::test {

struct ParserTarget {
  std::string_view name;  // its inputs are in corpus/<name>/
  void (*take)(std::string_view input);
};

std::span<const ParserTarget> parser_targets();

}  // namespace rkllm_mcp::test
