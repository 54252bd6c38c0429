// The tokens of one answer, one after the other: a composed beginning, then the end or as many passages as are wanted.
// Making the next token allocates nothing.
#pragma once

#include "answers/random.hpp"
#include "model/model_file.hpp"
#include "model/vocabulary.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace rkllm_mcp::sim {

// One per sequence and run; not thread-safe.
class AnswerTokens {
 public:
  struct Ending {
    enum class How {
      kEos,       // after the beginning: the EOS token
      kPassages,  // passages for ever (EOS cannot be sampled)
      kExactly,   // passages until `tokens` tokens are out in all, the last of which ends a character
    };
    How how = How::kEos;
    std::int64_t tokens = 0;
  };

  AnswerTokens() = default;
  AnswerTokens(std::vector<TokenId> beginning, Ending ending, const std::array<unsigned, kLanguageCount>& weights,
               std::uint64_t seed)
      : beginning_(std::move(beginning)), source_(beginning_), ending_(ending), weights_(weights), random_(seed) {}
  AnswerTokens(AnswerTokens&&) = default;
  AnswerTokens& operator=(AnswerTokens&&) = default;

  TokenId next();

  // True once an exact number of tokens is out.
  bool exhausted() const noexcept { return ending_.how == Ending::How::kExactly && ending_.tokens <= 0; }

 private:
  TokenId from_source();

  std::vector<TokenId> beginning_;
  std::span<const TokenId> source_;  // what is left of the beginning or of the current passage
  Ending ending_;
  std::array<unsigned, kLanguageCount> weights_{};
  Random random_{0};
  bool filling_ = false;  // near an exact end: only fillers from here on
};

// A passage for an answer, drawn by the languages' weights.
std::span<const TokenId> draw_passage(Random& random, const std::array<unsigned, kLanguageCount>& weights);

}  // namespace rkllm_mcp::sim
