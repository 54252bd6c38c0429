#include "chat/answer/marker_search.hpp"

#include <utility>

namespace rkllm_mcp::chat {

MarkerSearch::MarkerSearch(std::vector<std::string> markers, MarkerLength wanted) : wanted_(wanted) {
  for (std::string& marker : markers) {
    if (marker.empty()) continue;
    first_bytes_[static_cast<unsigned char>(marker.front())] = true;
    markers_.push_back(std::move(marker));
  }
}

MarkerSearch::Found MarkerSearch::look(std::string_view text, bool at_end) const {
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
