// A model's tokenizer, as the tokenizer.json beside the model describes it: a text's tokens without the model. What is
// understood is byte pair encoding, of bytes (GPT-2, Llama 3, Qwen) or of characters (SentencePiece: Llama 2, Gemma,
// Phi-3); of any other tokenizer the reader says that it is another one.
//
// Threads: what is const may be called from any thread. A long text takes a while: a megabyte of ordinary text some
// tenths of a second, one made for it seconds.
#pragma once

#include "chat/tokenizer/added_tokens.hpp"
#include "chat/tokenizer/byte_pairs.hpp"
#include "chat/tokenizer/text_steps.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {

struct TokenizerParts {
  AddedTokens added{};       // found in the text as it is
  AddedTokens normalised{};  // found in the normalised text
  std::vector<Normalizer> normalizers{};
  std::vector<PreTokenizer> pre_tokenizers{};
  BytePairs pairs{};
  std::vector<TokenId> before{}, after{};            // that stand around each text, such as <|begin_of_text|>
  std::unordered_map<TokenId, std::string> texts{};  // what each token stands for: bytes
  bool begins_with_space = false;  // the first word of a text begins with a space that the text does not have
};

class Tokenizer {
 public:
  struct Options {
    bool with_special = false;  // also what the tokenizer puts around each text
    bool finds_special = true;  // <|im_end|> is the token of that name; else it is a text like any other
    // Called often while a text is encoded; what it throws ends that.
    std::function<void()> keep_going{};
  };

  explicit Tokenizer(TokenizerParts parts) : parts_(std::move(parts)) {}

  // The tokens of valid UTF-8. Throws std::runtime_error if the text cannot be divided as the file says.
  std::vector<TokenId> encode(std::string_view text, const Options& options) const;
  // What a token stands for: bytes, perhaps half a character. Nothing: there is no such token.
  std::optional<std::string> text_of(TokenId token) const;
  // The text of all of them. Nothing: one does not exist.
  std::optional<std::string> decode(const std::vector<TokenId>& tokens) const;

 private:
  void encode_piece(std::string_view piece, bool is_first, const Options& options, std::vector<TokenId>& tokens) const;
  void encode_words(std::string_view part, bool is_first, const Options& options, std::vector<TokenId>& tokens) const;

  TokenizerParts parts_;
};

// Reads a tokenizer.json, the format of Hugging Face's tokenizers.
// Throws std::runtime_error: it is no JSON, it is no tokenizer, or it wants something that is not understood here,
// which is named. Takes seconds on a board and, for that time, ten times the memory of the text: call it beside the
// loop.
Tokenizer read_tokenizer(std::string_view json);

}  // namespace rkllm_mcp::chat
