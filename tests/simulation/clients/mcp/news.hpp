// News that one client must, may or may not hear, in the order in which they were made; and whether it hears just
// these.
#pragma once

#include "simulation/world/world.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

class News {
 public:
  enum class Due { kNever, kPerhaps, kCertainly };

  void published(std::string what, Due due) { all_.push_back({std::move(what), due}); }

  // Throws a Violation.
  void heard(const std::string& who, const std::string& what) {
    std::set<std::size_t> passed;
    for (const std::size_t begin : passed_) {
      for (std::size_t at = begin; at < all_.size(); ++at) {
        if (all_[at].what == what && all_[at].due != Due::kNever) passed.insert(at + 1);
        if (all_[at].due == Due::kCertainly) break;
      }
    }
    if (passed.empty()) throw Violation{who + " hears of " + what + ", and should not, or of something else before"};
    passed_ = std::move(passed);
  }
  // A connection broke, and what was on it cannot be asked for again.
  void perhaps_lost() {
    for (Entry& each : all_) {
      if (each.due == Due::kCertainly) each.due = Due::kPerhaps;
    }
  }
  // Whether something must still be heard.
  bool are_owed() const {
    for (const std::size_t begin : passed_) {
      std::size_t at = begin;
      while (at < all_.size() && all_[at].due != Due::kCertainly) ++at;
      if (at == all_.size()) return false;
    }
    return true;
  }

 private:
  struct Entry {
    std::string what;
    Due due;
  };
  std::vector<Entry> all_;
  std::set<std::size_t> passed_{0};  // how many entries may be behind the client now: all possible numbers
};

}  // namespace rkllm_mcp::simulation
