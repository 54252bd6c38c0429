#include "answers/answer_tokens.hpp"

#include <numeric>

namespace rkllm_mcp::sim {
namespace {

// No character takes more tokens than it has bytes.
constexpr std::int64_t kMostTokensOfACharacter = 4;
constexpr TokenId kFiller = kFirstByte + '.';

}  // namespace

std::span<const TokenId> draw_passage(Random& random, const std::array<unsigned, kLanguageCount>& weights) {
  std::size_t pick = random.below(std::accumulate(weights.begin(), weights.end(), 0U));
  std::size_t language = 0;
  while (pick >= weights[language]) pick -= weights[language++];
  const auto& passages = Vocabulary::built_in().passage_tokens(static_cast<Language>(language));
  return passages[random.below(passages.size())];
}

TokenId AnswerTokens::next() {
  if (ending_.how != Ending::How::kExactly) return from_source();
  // A character begun with fewer tokens left than it may need would be cut off, so the last few tokens are fillers,
  // except those that a character already begun is waiting for.
  const bool may_cut = --ending_.tokens < kMostTokensOfACharacter - 1;
  const TokenId id = from_source();
  filling_ = filling_ || (may_cut && !Vocabulary::built_in().continues_character(id));
  return filling_ ? kFiller : id;
}

TokenId AnswerTokens::from_source() {
  if (source_.empty()) {
    if (ending_.how == Ending::How::kEos) return kEndOfAnswer;
    source_ = draw_passage(random_, weights_);
  }
  const TokenId id = source_.front();
  source_ = source_.subspan(1);
  return id;
}

}  // namespace rkllm_mcp::sim
