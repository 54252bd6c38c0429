#include "model/vocabulary.hpp"

#include "answers/passages.hpp"
#include "answers/random.hpp"
#include "model/characters.hpp"

#include <algorithm>

namespace rkllm_mcp::sim {
namespace {

// Ids 0 to 15, in this order. Only the first three are hidden by skip_special_token; the rest is text that happens to
// be one token, as in real vocabularies.
constexpr std::string_view kMarkers[kFirstByte] = {
    "<|endoftext|>", "<|im_start|>",     "<|im_end|>",       "<think>",      "</think>", "<tool_call>",
    "</tool_call>",  "<tool_response>",  "</tool_response>", "<tools>",      "</tools>", "<|image_pad|>",
    "<|video_pad|>", "<|vision_start|>", "<|vision_end|>",   "<|reserved|>",
};

// Whether a character has no token of its own: every character of four bytes, and about a third of those of three.
bool is_split(std::string_view character) {
  return character.size() == 4 || (character.size() == 3 && fnv1a(character) % 3 == 0);
}

bool is_letter(std::string_view character) {
  const char c = character[0];
  return character.size() == 2 || (character.size() == 3 && c == '\xE1') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

}  // namespace

const Vocabulary& Vocabulary::built_in() {
  static const Vocabulary vocabulary;
  return vocabulary;
}

Vocabulary::Vocabulary() {
  for (const std::string_view marker : kMarkers) add(marker);
  for (int byte = 0; byte < 256; ++byte) {
    const char piece = static_cast<char>(byte);
    add({&piece, 1});
  }
  // Pairs of letters, and a space before a letter, so that words outside the passages take about half as many tokens
  // as letters.
  for (char first = 'a'; first <= 'z'; ++first) {
    for (char second = 'a'; second <= 'z'; ++second) add(std::string{first, second});
    add(std::string{' ', first});
  }
  for (const std::string_view word :
       {"user", "assistant", "system", "You wrote:", "Earlier you said:", "The tools said:", " thought"}) {
    add_words_of(word);
  }
  add_words_of(kOpening);
  for (std::size_t i = 0; i < kLanguageCount; ++i) {
    for (const std::string_view passage : passages(static_cast<Language>(i))) add_words_of(passage);
  }
  index();
  for (std::size_t i = 0; i < kLanguageCount; ++i) {
    for (const std::string_view passage : passages(static_cast<Language>(i)))
      passages_[i].push_back(encode(passage, {}));
  }
}

void Vocabulary::add(std::string_view piece) {
  const auto id = static_cast<TokenId>(tokens_.size());
  if (!unindexed_.emplace(piece, id).second) return;
  tokens_.push_back(
      {static_cast<std::uint32_t>(pieces_.size()), static_cast<std::uint32_t>(piece.size()), is_whole_text(piece)});
  pieces_.append(piece).push_back('\0');
}

// A word is a run of letters with the space before it; everything else is a piece by itself. A split character ends a
// word and contributes the halves that together make it up.
void Vocabulary::add_words_of(std::string_view passage) {
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) add(word);
    word.clear();
  };
  for (; !passage.empty(); passage.remove_prefix(whole_character(passage))) {
    const std::string_view character = passage.substr(0, whole_character(passage));
    if (is_split(character)) {
      end_word();
      add(character.substr(0, 2));
      add(character.substr(2));
    } else if (is_letter(character)) {
      word += character;
    } else {
      end_word();
      word = character;
      if (character != " ") end_word();
    }
  }
  end_word();
}

void Vocabulary::index() {
  for (std::size_t id = 0; id < tokens_.size(); ++id) {
    const std::string_view text = piece(static_cast<TokenId>(id));
    ids_.emplace(text, static_cast<TokenId>(id));
    std::size_t& longest = longest_[static_cast<unsigned char>(text[0])];
    longest = std::max(longest, text.size());
  }
  unindexed_.clear();
}

bool Vocabulary::continues_character(TokenId id) const noexcept {
  const std::string_view text = piece(id);
  return !text.empty() && is_continuation(text[0]);
}

std::optional<std::string_view> Vocabulary::special_token(TokenId id,
                                                          std::span<const std::string> special_tokens) const {
  const auto number = static_cast<std::size_t>(id) - tokens_.size();
  if (id < 0 || number >= special_tokens.size()) return std::nullopt;
  return special_tokens[number];
}

std::vector<TokenId> Vocabulary::encode(std::string_view text, std::span<const std::string> special_tokens) const {
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 2);
  while (!text.empty()) {
    const auto special = std::find_if(special_tokens.begin(), special_tokens.end(),
                                      [text](const std::string& token) { return text.starts_with(token); });
    if (special != special_tokens.end()) {
      ids.push_back(static_cast<TokenId>(tokens_.size()) + static_cast<TokenId>(special - special_tokens.begin()));
      text.remove_prefix(special->size());
      continue;
    }
    // A single byte always matches, so the loop ends.
    std::size_t length = std::min(longest_[static_cast<unsigned char>(text[0])], text.size());
    auto found = ids_.find(text.substr(0, length));
    while (found == ids_.end()) found = ids_.find(text.substr(0, --length));
    ids.push_back(found->second);
    text.remove_prefix(length);
  }
  return ids;
}

}  // namespace rkllm_mcp::sim
