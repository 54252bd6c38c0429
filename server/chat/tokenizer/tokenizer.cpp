#include "chat/tokenizer/tokenizer.hpp"

namespace rkllm_mcp::chat {

std::vector<TokenId> Tokenizer::encode(std::string_view text, const Options& options) const {
  std::vector<TokenId> tokens;
  if (options.with_special) tokens = parts_.before;
  if (options.finds_added) {
    bool is_first = true;
    parts_.added.divide(text, [&](std::string_view piece, std::optional<TokenId> token) {
      if (token) {
        tokens.push_back(*token);
      } else {
        encode_piece(piece, is_first, true, tokens);
      }
      is_first = false;
    });
  } else {
    encode_piece(text, true, false, tokens);
  }
  if (options.with_special) tokens.insert(tokens.end(), parts_.after.begin(), parts_.after.end());
  return tokens;
}

void Tokenizer::encode_piece(std::string_view piece, bool is_first, bool finds_added,
                             std::vector<TokenId>& tokens) const {
  const std::string text = normalised(std::string(piece), parts_.normalizers);
  if (!finds_added) return encode_words(text, is_first, tokens);
  parts_.normalised.divide(text, [&](std::string_view part, std::optional<TokenId> token) {
    if (token) {
      tokens.push_back(*token);
    } else {
      encode_words(part, is_first, tokens);
    }
    is_first = false;
  });
}

void Tokenizer::encode_words(std::string_view part, bool is_first, std::vector<TokenId>& tokens) const {
  for (const std::string& word : words_of(std::string(part), is_first, parts_.pre_tokenizers)) {
    parts_.pairs.encode(word, tokens);
  }
}

std::optional<std::string> Tokenizer::text_of(TokenId token) const {
  const auto found = parts_.texts.find(token);
  return found == parts_.texts.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::string> Tokenizer::decode(const std::vector<TokenId>& tokens) const {
  std::string text;
  for (const TokenId token : tokens) {
    const auto part = text_of(token);
    if (!part) return std::nullopt;
    text += *part;
  }
  if (parts_.begins_with_space && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

}  // namespace rkllm_mcp::chat
