// The simulated tokenizer: byte-level, so that any text can be written, with whole words for the simulator's own
// sentences and, on purpose, characters that only two or more tokens together make up.
//
// One vocabulary serves every simulated model and never changes while the library is loaded: an id means the same piece
// in every run. A model whose vocabulary is larger has ids that carry no text and are never generated, but for the
// special tokens that its file names: their ids follow those of the vocabulary.
#pragma once

#include "model/model_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rkllm_mcp::sim {

using TokenId = std::int32_t;

inline constexpr TokenId kBeginOfText = 0;  // <|endoftext|>, also an EOS token
inline constexpr TokenId kTurnStart = 1;    // <|im_start|>
inline constexpr TokenId kEndOfAnswer = 2;  // <|im_end|>, the EOS token of every ordinary answer
inline constexpr TokenId kFirstByte = 16;   // ids 16 to 271 are the 256 single bytes

class Vocabulary {
 public:
  // Built once, on first use; immutable from then on and safe to share between threads.
  static const Vocabulary& built_in();

  std::size_t size() const noexcept { return tokens_.size(); }

  // NUL-terminated and valid as long as the library; "" for an id without text.
  std::string_view piece(TokenId id) const noexcept {
    if (static_cast<std::size_t>(id) >= tokens_.size()) return std::string_view("");
    const Token& token = tokens_[static_cast<std::size_t>(id)];
    return {pieces_.data() + token.offset, token.length};
  }
  // EOS tokens: an answer ends with the first of them.
  static bool ends_answer(TokenId id) noexcept { return id == kEndOfAnswer || id == kBeginOfText; }
  // Control tokens, whose text is hidden by skip_special_token.
  static bool is_special(TokenId id) noexcept { return id >= kBeginOfText && id <= kEndOfAnswer; }
  // The piece consists of whole UTF-8 characters.
  bool is_whole(TokenId id) const noexcept {
    return static_cast<std::size_t>(id) >= tokens_.size() || tokens_[static_cast<std::size_t>(id)].whole;
  }
  // The piece begins in the middle of a character.
  bool continues_character(TokenId id) const noexcept;

  // Longest piece first. The text of a control token becomes that token, wherever it stands, and so does that of a
  // special token of the model.
  std::vector<TokenId> encode(std::string_view text, std::span<const std::string> special_tokens) const;
  // The text of a special token of the model; nothing if `id` is none.
  std::optional<std::string_view> special_token(TokenId id, std::span<const std::string> special_tokens) const;

  // The tokens of all passages of a language, encoded once.
  const std::vector<std::vector<TokenId>>& passage_tokens(Language language) const noexcept {
    return passages_[static_cast<std::size_t>(language)];
  }

 private:
  struct Token {
    std::uint32_t offset;  // into pieces_
    std::uint32_t length;
    bool whole;
  };

  Vocabulary();
  void add(std::string_view piece);
  void add_words_of(std::string_view passage);
  void index();

  std::string pieces_;  // every piece, each followed by a NUL
  std::vector<Token> tokens_;
  std::unordered_map<std::string, TokenId> unindexed_;  // in place of ids_ while pieces_ grows, which moves its bytes
  std::unordered_map<std::string_view, TokenId> ids_;
  std::array<std::size_t, 256> longest_{};  // by first byte: the length of the longest piece that begins with it
  std::array<std::vector<std::vector<TokenId>>, kLanguageCount> passages_;
};

}  // namespace rkllm_mcp::sim
