// The text of one answer on its way from the runtime's callback to a client: bytes in, characters out.
//
// Tokens may end inside a UTF-8 character; such a token waits for the one that completes it, so what comes out is
// always whole characters. Token boundaries are remembered until they are joined. Not synchronised: the stream that
// owns it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class TokenLane {
 public:
  // One token's bytes; empty for a token without text. A token that ends inside a character comes out by itself only
  // with kEvery; else its bytes come with the token that completes the character.
  enum class Keep { kEvery, kVisible };
  void append(std::string_view bytes, std::int32_t token_id, Keep keep = Keep::kEvery);
  // No more will come: bytes of a character that was never completed become U+FFFD.
  void end();
  // Forgets where tokens end, for all that waits.
  void join();

  bool empty() const { return next_mark_ == marks_.size(); }
  std::size_t waiting_bytes() const { return text_.size() - next_byte_ + (marks_.size() - next_mark_) * sizeof(Mark); }
  std::size_t waiting_tokens() const { return marks_.size() - next_mark_; }

  // Moves the next token into `delta` (appending), or, if its escaped text would exceed `max_escaped_bytes`, as much of
  // it as fits (always at least one character). Must not be empty. Returns the token's id.
  std::int32_t take(std::string& delta, std::size_t max_escaped_bytes);

 private:
  struct Mark {
    std::uint32_t bytes;  // of whole characters
    std::int32_t token_id;
  };

  void release_taken();

  std::string text_;  // whole characters only
  std::size_t next_byte_ = 0;
  std::vector<Mark> marks_;
  std::size_t next_mark_ = 0;
  std::string unfinished_;  // at most 3 bytes that begin a character
};

}  // namespace rkllm_mcp
