// Deterministic fuzzing: takes valid input and damages it, the same way in every run.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  // `text` with a few bytes changed, removed, doubled, or replaced by one of `morsels`.
  std::string mutate(std::string text, const std::vector<std::string_view>& morsels) {
    for (auto changes = 1 + below(4); changes > 0; --changes) {
      const auto at = below(text.size() + 1);
      switch (below(5)) {
        case 0: text.insert(at, 1, static_cast<char>(below(256))); break;
        case 1: text.erase(at, 1 + below(8)); break;
        case 2: text.insert(at, text.substr(below(text.size() + 1), below(40))); break;
        case 3: text.insert(at, morsels[below(morsels.size())]); break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      }
    }
    return text;
  }

 private:
  std::mt19937 random_;
};

}  // namespace rkllm_mcp::test
