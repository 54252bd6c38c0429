#include "chat/tokenizer/tokenizer.hpp"

namespace rkllm_mcp::chat {

namespace {

// Takes the added tokens of a text, and gives the pieces between to `encode`, with whether one begins the whole text.
template <typename Encode>
void take_added(const AddedTokens& added, std::string_view text, bool is_first, bool finds_special,
                std::vector<TokenId>& tokens, const Encode& encode) {
  added.divide(text, finds_special, [&](std::string_view piece, std::optional<TokenId> token) {
    if (token) {
      tokens.push_back(*token);
    } else {
      encode(piece, is_first);
    }
    is_first = false;
  });
}

}  // namespace

std::vector<TokenId> Tokenizer::encode(std::string_view text, const Options& options) const {
  std::vector<TokenId> tokens;
  if (options.with_special) tokens = parts_.before;
  const auto encode = [&](std::string_view piece, bool is_first) { encode_piece(piece, is_first, options, tokens); };
  take_added(parts_.added, text, true, options.finds_special, tokens, encode);
  if (options.with_special) tokens.insert(tokens.end(), parts_.after.begin(), parts_.after.end());
  return tokens;
}

void Tokenizer::encode_piece(std::string_view piece, bool is_first, const Options& options,
                             std::vector<TokenId>& tokens) const {
  const std::string text = normalised(std::string(piece), parts_.normalizers);
  const auto encode = [&](std::string_view part, bool begins) { encode_words(part, begins, options, tokens); };
  take_added(parts_.normalised, text, is_first, options.finds_special, tokens, encode);
}

void Tokenizer::encode_words(std::string_view part, bool is_first, const Options& options,
                             std::vector<TokenId>& tokens) const {
  if (options.keep_going) options.keep_going();
  for (const std::string& word : words_of(std::string(part), is_first, parts_.pre_tokenizers)) {
    if (options.keep_going) options.keep_going();
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
