// Tokens that are found in a text before anything else is done with it, such as <|im_end|>.
//
// Threads: what is const may be called from any thread.
#pragma once

#include "chat/tokenizer/byte_pairs.hpp"

#include <bitset>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

class AddedTokens {
 public:
  struct Token {
    TokenId id = 0;
    bool takes_space_before = false;  // lstrip
    bool takes_space_behind = false;  // rstrip
    bool is_special = true;           // a mark of the format, and no text that somebody writes
  };

  void add(const std::string& text, const Token& token);

  // Called with each token and each piece between, in their order; pieces are not empty. Where several begin at one
  // place, the longest is taken; special ones only if those are wanted.
  void divide(std::string_view text, bool finds_special,
              const std::function<void(std::string_view piece, std::optional<TokenId> token)>& take) const;

 private:
  struct Found {
    Token token;
    std::size_t size;
  };
  std::optional<Found> at(std::string_view rest) const;

  std::map<std::string, Token, std::less<>> tokens_;
  std::bitset<256> first_bytes_;
};

}  // namespace rkllm_mcp::chat
