// Answers of tools that were given a moment ago. Bounded: the one that has not been asked for longest goes first.
// Event loop only.
#pragma once

#include "clock.hpp"
#include "tools/offered_tool.hpp"

#include <chrono>
#include <cstddef>
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

}  // namespace rkllm_mcp
