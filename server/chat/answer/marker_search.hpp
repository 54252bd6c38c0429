// Finds markers in text that comes in pieces: it tells how much of the text is certainly none, and holds back what may
// yet become one. What is found never depends on where the text was cut.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::chat {

// Which of two markers that begin at the same place is meant: the longest, which may mean to wait for more text; or the
// shortest, which is certain as soon as it is there.
enum class MarkerLength { kLongest, kShortest };

class MarkerSearch {
 public:
  // Empty markers are left out.
  MarkerSearch(std::vector<std::string> markers, MarkerLength wanted);

  struct Found {
    std::size_t clear = 0;                // so many bytes from the beginning belong to no marker
    const std::string* marker = nullptr;  // the one that begins behind them; null: none, or not yet
  };
  // Looks at text from its beginning. `at_end`: nothing follows, so nothing is held back.
  Found look(std::string_view text, bool at_end) const;

  bool empty() const { return markers_.empty(); }

 private:
  std::vector<std::string> markers_;
  MarkerLength wanted_;
  std::array<bool, 256> first_bytes_{};
};

}  // namespace rkllm_mcp::chat
