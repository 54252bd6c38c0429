// Tokens that are found in a text before anything else is done with it, such as <|im_end|>.
//
// Threads: what is const may be called from any thread.
#pragma once

#include "chat/tokenizer/byte_pairs.hpp"

#include <bitset>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rkllm_mcp::chat {

class AddedTokens {
 public:
  struct Token {
    TokenId id = 0;
    bool takes_space_before = false;  // lstrip
    bool takes_space_behind = false;  // rstrip
  };

  void add(const std::string& text, const Token& token);

  // Called with each token and each piece between, in their order; pieces are not empty. Where several begin at one
  // place, the longest is taken.
  void divide(std::string_view text,
              const std::function<void(std::string_view piece, std::optional<TokenId> token)>& take) const;

 private:
  struct Found {
    Token token;
    std::size_t size;
  };
  std::optional<Found> at(std::string_view rest) const;

  std::unordered_map<std::string, Token> tokens_;
  std::vector<std::size_t> sizes_;  // that there are, the longest first
  std::bitset<256> first_bytes_;
};

}  // namespace rkllm_mcp::chat
