// Words as search compares them. Pure functions, any thread.
#pragma once

#include <string>
#include <string_view>

namespace rkllm_mcp::memory {

// What canonical() and folded() make of a word in lower case.
struct Spellings {
  std::string canonical, folded;
};
Spellings spellings_of(std::string_view word);

// One spelling of what Unicode can write in several ways: Latin letters are taken apart into letter and marks, in
// canonical order. `word` is in lower case.
std::string canonical(std::string_view word);

// canonical() without the marks, and with d for đ: "tiếng" becomes "tieng".
std::string folded(std::string_view word);

// The beginning of `text` that is searched, which does not end inside a character.
std::string_view searched_part(std::string_view text);

}  // namespace rkllm_mcp::memory
