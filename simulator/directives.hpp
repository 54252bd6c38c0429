// What a prompt may ask of the simulator at its very beginning, for tests and benchmarks: "@n=20000 @seed=7 ...".
#pragma once

#include "vocabulary.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rkllm_mcp::sim {

struct Directives {
  std::optional<std::int64_t> exact_tokens;  // @n=N: exactly N tokens, whatever EOS and max_new_tokens say; N >= 1
  std::uint64_t seed = 0;                    // @seed=S: another text
  std::vector<TokenId> ids;                  // @ids=1,2,3: exactly these tokens, then EOS
};

// Reads directives, separated by spaces, up to the first word that is none. A prompt without any is an ordinary prompt.
Directives read_directives(std::string_view prompt);

}  // namespace rkllm_mcp::sim
