#include "tools/answer_cache.hpp"

#include <iterator>

namespace rkllm_mcp {

std::optional<ToolAnswer> AnswerCache::find(const std::string& question, Clock::time_point now) {
  const auto found = by_question_.find(question);
  if (found == by_question_.end()) return std::nullopt;
  if (found->second->until <= now) {
    drop(found->second);
    return std::nullopt;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front().answer;
}

void AnswerCache::keep(const std::string& question, const ToolAnswer& answer, Clock::time_point now) {
  if (const auto found = by_question_.find(question); found != by_question_.end()) drop(found->second);
  // The question is kept twice: in the entry and as a key. The answer has two forms: its text and its JSON.
  const std::size_t bytes = 2 * question.size() + answer.text.size() + answer.structured.dump().size();
  if (life_.count() == 0 || bytes > most_bytes_) return;
  while (bytes_ + bytes > most_bytes_) drop(std::prev(entries_.end()));
  entries_.push_front({question, answer, bytes, now + life_});
  by_question_[question] = entries_.begin();
  bytes_ += bytes;
}

void AnswerCache::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_question_.erase(entry->question);
  entries_.erase(entry);
}

}  // namespace rkllm_mcp
