// llama.cpp's POST /tokenize and /detokenize: what is asked, and what is answered. Pure functions, any thread.
#pragma once

#include "chat/tokenizer/tokenizer.hpp"

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

struct TokenizeRequest {
  std::string model{};  // empty: the only one
  std::string content{};
  Tokenizer::Options options{};
  bool with_pieces = false;  // each token's text beside its id
};
struct DetokenizeRequest {
  std::string model{};
  std::vector<TokenId> tokens{};
};

// Both throw TurnError.
TokenizeRequest read_tokenize(const Json& json);
DetokenizeRequest read_detokenize(const Json& json);

// Null: there is no tokenizer. Both throw TurnError; the first one also where the answer has more than `most` bytes.
std::string tokenize_reply(const TokenizeRequest& request, const Tokenizer* tokenizer, std::size_t most);
std::string detokenize_reply(const DetokenizeRequest& request, const Tokenizer* tokenizer);

// The tokens of a prompt: counted, or, where that cannot be, about four bytes to a token.
struct TokenCount {
  std::int64_t tokens;
  bool is_estimate;
};
TokenCount estimated_tokens(std::size_t prompt_bytes);
TokenCount tokens_of_prompt(std::string_view prompt, const Tokenizer* tokenizer, std::function<void()> keep_going);

}  // namespace rkllm_mcp::chat
