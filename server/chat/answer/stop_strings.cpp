#include "chat/answer/stop_strings.hpp"

#include <utility>

namespace rkllm_mcp::chat {

StopStrings::StopStrings(std::vector<std::string> stops) : search_(std::move(stops), MarkerLength::kShortest) {}

std::string StopStrings::feed(std::string_view text) {
  if (search_.empty()) return std::string(text);
  if (!stopped_by_.empty()) return "";
  pending_ += text;
  return take(false);
}

std::string StopStrings::flush() { return stopped_by_.empty() ? take(true) : ""; }

std::string StopStrings::take(bool at_end) {
  const auto found = search_.look(pending_, at_end);
  std::string text = pending_.substr(0, found.clear);
  if (found.marker != nullptr) {
    stopped_by_ = *found.marker;
    pending_.clear();
  } else {
    pending_.erase(0, found.clear);
  }
  return text;
}

}  // namespace rkllm_mcp::chat
