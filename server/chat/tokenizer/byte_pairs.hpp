// Byte pair encoding: a word becomes tokens by joining, again and again, the two neighbours whose pair was learnt
// first.
//
// Threads: what is const may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rkllm_mcp::chat {

using TokenId = std::int32_t;

class BytePairs {
 public:
  struct Rules {
    bool of_bytes = false;             // a word's parts are bytes; else characters
    bool has_byte_tokens = false;      // byte_fallback: an unknown character becomes <0x..>, a token for each byte
    bool takes_whole_words = false;    // ignore_merges: a word that is a token is not put together
    bool joins_unknown = false;        // fuse_unk: unknown characters in a row are one unknown token
    std::optional<TokenId> unknown{};  // unk_token; without, unknown characters are left out
  };

  // Each token once; one that is there already keeps its id.
  void add_token(std::string text, TokenId id);
  // Adds the pair that was learnt next. False: `left`, `right`, or both put together, is no token.
  bool add_pair(std::string_view left, std::string_view right);
  // To be called when all tokens have been added, and before encode().
  void set_rules(const Rules& rules);

  std::optional<TokenId> find(std::string_view token) const;
  // Appends the tokens of one word. n log n in its bytes.
  void encode(std::string_view word, std::vector<TokenId>& tokens) const;

 private:
  struct Joined {
    std::uint32_t rank;
    TokenId id;
  };

  static std::uint64_t key_of(TokenId left, TokenId right);
  const Joined* joined(TokenId left, TokenId right) const;
  std::vector<TokenId> parts_of(std::string_view word) const;
  void add_unknown(std::string_view character, bool& was_unknown, std::vector<TokenId>& parts) const;
  void join(std::vector<TokenId>& parts) const;

  std::unordered_map<std::string, TokenId> ids_;
  std::unordered_map<std::uint64_t, Joined> pairs_;
  std::vector<std::optional<TokenId>> byte_tokens_;  // of <0x00> to <0xFF>
  Rules rules_;
};

}  // namespace rkllm_mcp::chat
