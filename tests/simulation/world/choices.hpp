// Every decision of a schedule, one after the other: which events happen in a step, how many bytes a read takes, what a
// client does next. Made from a seed, or given, to do the same once more or a little less. 0 is always the choice that
// does no harm: a schedule that has run out of given choices goes on without faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace rkllm_mcp::simulation {

class Choices {
 public:
  using Made = std::vector<std::uint32_t>;

  explicit Choices(std::uint64_t seed) : seed_(seed), random_(seed) {}
  explicit Choices(Made given) : given_(std::move(given)) {}

  // One of 0 to `count` - 1.
  std::uint32_t choose(std::uint32_t count) {
    std::uint32_t chosen = 0;
    if (seed_) {
      chosen = static_cast<std::uint32_t>(random_() % count);
    } else if (made_.size() < given_.size()) {
      chosen = given_[made_.size()] % count;
    }
    made_.push_back(chosen);
    return chosen;
  }
  // True in one of `once_in` cases: on the last choice, so never on the harmless 0.
  bool happens(std::uint32_t once_in) { return choose(once_in) + 1 == once_in; }

  const Made& made() const { return made_; }
  const std::optional<std::uint64_t>& seed() const { return seed_; }  // nothing: they were given

 private:
  const std::optional<std::uint64_t> seed_{};
  std::mt19937_64 random_{0};
  const Made given_{};
  Made made_;
};

}  // namespace rkllm_mcp::simulation
