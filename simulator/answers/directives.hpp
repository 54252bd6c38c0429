// What a prompt may ask of the simulator, for tests and benchmarks: "@n=20000 @seed=7 ...". It stands at the beginning
// of the prompt or of a line in it: a chat host writes text of its own around what its client has sent.
#pragma once

#include "model/vocabulary.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::sim {

struct Directives {
  std::optional<std::int64_t> exact_tokens;  // @n=N: exactly N tokens, whatever EOS and max_new_tokens say; N >= 1
  std::uint64_t seed = 0;                    // @seed=S: another text
  std::vector<TokenId> ids;                  // @ids=1,2,3: exactly these tokens, then EOS
  // @say="...": exactly this text, then EOS; a JSON string, to the end of the line. @say=["...","..."]: the first text
  // when the line is answered for the first time, the second for the second time, and so on; then always the last.
  std::vector<std::string> texts;
  bool in_bytes = false;    // @bytes: each byte of `texts` is a token of its own, so that every word is cut
  bool is_line = false;     // they begin a line within the prompt: then max_new_tokens bounds @n, too
  std::string_view line{};  // the line that they stand in: a part of the prompt, not a copy
};

// Reads directives, separated by spaces, up to the first word that is none: those that the prompt begins with, else
// those of the last line that begins with one. A prompt without any is an ordinary prompt.
Directives read_directives(std::string_view prompt);

}  // namespace rkllm_mcp::sim
