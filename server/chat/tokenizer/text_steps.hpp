// What a tokenizer does with a text before it is put together from tokens: it is normalised, then divided into words.
// Each step is one entry of a tokenizer.json.
//
// Threads: what is const may be called from any thread.
#pragma once

#include "chat/tokenizer/pattern.hpp"

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rkllm_mcp::chat {

// --- normalizer

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
struct Prepend {
  std::string text;  // before a text that is not empty
};
struct Replace {
  Pattern pattern;
  std::string with;
};
using Normalizer = std::variant<NormalForm, Prepend, Replace>;

// The text after all of them. Throws std::runtime_error: it has become longer than kLongestText, or has more marks on
// one character than any language.
inline constexpr std::size_t kLongestText = std::size_t{4} << 20U;
std::string normalised(std::string text, const std::vector<Normalizer>& steps);

// --- pre_tokenizer

struct Split {
  // What becomes of what the pattern has found.
  enum class Behavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };
  Pattern pattern;
  Behavior behavior = Behavior::kIsolated;
  bool is_inverted = false;  // what lies between is taken for what was found
};
// The words of a text have a mark instead of the space before them.
struct Metaspace {
  enum class Prepend { kNever, kFirst, kAlways };
  std::string mark;
  Prepend prepend = Prepend::kAlways;  // which pieces that begin without a mark get one; kFirst: the text's first
  bool splits = true;
};
struct LeadingSpace {};  // a space before a piece that has none: ByteLevel's add_prefix_space
using PreTokenizer = std::variant<Split, Metaspace, LeadingSpace>;

// The words of a piece; `is_first`: it stands at the text's beginning. Throws std::runtime_error.
std::vector<std::string> words_of(std::string piece, bool is_first, const std::vector<PreTokenizer>& steps);

}  // namespace rkllm_mcp::chat
