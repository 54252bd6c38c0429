// What a prompt may ask of the simulator, for tests and benchmarks: "@n=20000 @seed=7 ...". At its very beginning, or
// at that of a line: a chat host has written the rest of the prompt around it.
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
  // @say="...": exactly this text, then EOS; a JSON string, to the end of the line. @say=["...","..."]: each the next
  // time that the same line is answered, the last one from then on.
  std::vector<std::string> texts;
  bool in_bytes = false;    // @bytes: a token for each byte of them, so that everything in them is cut somewhere
  bool is_line = false;     // of a line within the prompt: then max_new_tokens holds for @n, too
  std::string_view line{};  // that they stand in
};

// Reads directives, separated by spaces, up to the first word that is none: those that the prompt begins with, else
// those of the last line that begins with one. A prompt without any is an ordinary prompt.
Directives read_directives(std::string_view prompt);

}  // namespace rkllm_mcp::sim
