// Answers of tools that were given a moment ago. Bounded: the one that has not been asked for longest goes first.
// Event loop only.
#pragma once

#include "clock.hpp"
#include "tools/offered_tool.hpp"

#include <chrono>
#include <cstddef>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <string>

namespace rkllm_mcp {

class AnswerCache {
 public:
  AnswerCache(std::size_t most_bytes, std::chrono::seconds life) : most_bytes_(most_bytes), life_(life) {}

  std::optional<ToolAnswer> find(const std::string& question, Clock::time_point now);
  void keep(const std::string& question, const ToolAnswer& answer, Clock::time_point now);
  std::size_t bytes() const { return bytes_; }

 private:
  struct Entry {
    std::string question;
    ToolAnswer answer;
    std::size_t bytes;
    Clock::time_point until;
  };
  using Entries = std::list<Entry>;

  void drop(Entries::iterator entry);

  const std::size_t most_bytes_;
  const std::chrono::seconds life_;
  Entries entries_;  // what was asked for last comes first
  std::map<std::string, Entries::iterator> by_question_;
  std::size_t bytes_ = 0;
};

inline std::optional<ToolAnswer> AnswerCache::find(const std::string& question, Clock::time_point now) {
  const auto found = by_question_.find(question);
  if (found == by_question_.end()) return std::nullopt;
  if (found->second->until <= now) {
    drop(found->second);
    return std::nullopt;
  }
  entries_.splice(entries_.begin(), entries_, found->second);
  return entries_.front().answer;
}

inline void AnswerCache::keep(const std::string& question, const ToolAnswer& answer, Clock::time_point now) {
  if (const auto found = by_question_.find(question); found != by_question_.end()) drop(found->second);
  // The question is kept twice: in the entry and as a key. The answer has two forms: its text and its JSON.
  const std::size_t bytes = 2 * question.size() + answer.text.size() + answer.structured.dump().size();
  if (life_.count() == 0 || bytes > most_bytes_) return;
  while (bytes_ + bytes > most_bytes_) drop(std::prev(entries_.end()));
  entries_.push_front({question, answer, bytes, now + life_});
  by_question_[question] = entries_.begin();
  bytes_ += bytes;
}

inline void AnswerCache::drop(Entries::iterator entry) {
  bytes_ -= entry->bytes;
  by_question_.erase(entry->question);
  entries_.erase(entry);
}

}  // namespace rkllm_mcp
