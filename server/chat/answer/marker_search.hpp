// Finds markers in text that comes in pieces: it tells how much of the text is certainly none, and holds back what may
// yet become one. What is found never depends on where the text was cut.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

inline MarkerSearch::MarkerSearch(std::vector<std::string> markers, MarkerLength wanted) : wanted_(wanted) {
  for (std::string& marker : markers) {
    if (marker.empty()) continue;
    first_bytes_[static_cast<unsigned char>(marker.front())] = true;
    markers_.push_back(std::move(marker));
  }
}

inline MarkerSearch::Found MarkerSearch::look(std::string_view text, bool at_end) const {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!first_bytes_[static_cast<unsigned char>(text[at])]) continue;
    const auto rest = text.substr(at);
    const std::string* whole = nullptr;
    bool may_become_longer = false;
    for (const std::string& marker : markers_) {
      if (rest.starts_with(marker)) {
        const bool longer = whole == nullptr || marker.size() > whole->size();
        if (whole == nullptr || longer == (wanted_ == MarkerLength::kLongest)) whole = &marker;
      } else if (std::string_view(marker).starts_with(rest)) {
        may_become_longer = true;
      }
    }
    const bool waits = may_become_longer && !at_end && (whole == nullptr || wanted_ == MarkerLength::kLongest);
    if (waits) return {at, nullptr};
    if (whole != nullptr) return {at, whole};
  }
  return {text.size(), nullptr};
}

}  // namespace rkllm_mcp::chat
