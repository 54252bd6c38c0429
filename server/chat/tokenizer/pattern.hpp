// A regular expression over UTF-8, as tokenizers write them.
//
// Threads: what is const may be called from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::chat {

class Pattern {
 public:
  // Throws std::runtime_error: it is wrong, may find nothing at all, or means something else to the engine that
  // tokenizers are written for (Oniguruma) than here (PCRE2).
  explicit Pattern(const std::string& expression);
  // Finds just this text.
  static Pattern of_text(std::string_view text);

  // Called with each piece of `text` in its order, and whether it has been found or lies between; none is empty. The
  // text is valid UTF-8. Throws std::runtime_error if the expression takes too long.
  void each_piece(std::string_view text, const std::function<void(std::string_view piece, bool is_match)>& take) const;

 private:
  std::unique_ptr<void, void (*)(void*)> code_;  // PCRE2's
};

}  // namespace rkllm_mcp::chat
