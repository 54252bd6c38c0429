#include "transport/lines/line_framer.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace rkllm_mcp {

namespace {

// A long line's buffer is given back; below this it stays for the next one.
constexpr std::size_t kKeptLineBytes = 64 * 1024;

}  // namespace

std::optional<Received> LineFramer::next(std::string_view& bytes) {
  release();
  const auto end = bytes.find('\n');
  const bool has_end = end != std::string_view::npos;
  const auto part = bytes.substr(0, end);
  bytes.remove_prefix(has_end ? end + 1 : bytes.size());
  if (has_end && !skipping_ && partial_.empty()) return whole(part);
  const auto refused = keep(part);
  if (!has_end || std::exchange(skipping_, false)) return refused;
  return kept();
}

std::optional<Received> LineFramer::finish() {
  release();
  if (std::exchange(skipping_, false)) return std::nullopt;
  return kept();
}

void LineFramer::release() {
  if (!std::exchange(is_given_, false)) return;
  partial_.clear();
  if (partial_.capacity() > kKeptLineBytes) partial_.shrink_to_fit();
}

// Whoever gets the line takes a share of its own for what it keeps of it, so this one is given back first.
std::optional<Received> LineFramer::kept() {
  share_.set(0);
  is_given_ = true;
  return whole(partial_);
}

std::optional<Received> LineFramer::keep(std::string_view part) {
  if (skipping_) return std::nullopt;
  const auto bytes = partial_.size() + part.size();
  if (bytes <= limit_ + 1) {  // the one more may be the '\r' of the line's end
    try {
      if (share_.has_room_for(part.size())) {
        partial_.append(part);
        share_.set(partial_.capacity());
        return std::nullopt;
      }
    } catch (const std::bad_alloc&) {
      // The budget had room, but the system has no memory: ends like a budget without room.
    }
  }
  share_.set(0);
  is_given_ = skipping_ = true;
  if (bytes > limit_ + 1) return Oversized{bytes, limit_};
  return NoRoom{partial_};
}

std::optional<Received> LineFramer::whole(std::string_view line) const {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty()) return std::nullopt;
  if (line.size() > limit_) return Oversized{line.size(), limit_};
  return line;
}

bool FirstBytes::allow(std::string_view& bytes) {
  if (content_ == Content::kUndecided) {
    bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
    if (bytes.empty()) return true;
    content_ = bytes.front() == '{' || bytes.front() == '[' ? Content::kMessages : Content::kOther;
  }
  return content_ != Content::kOther;
}

}  // namespace rkllm_mcp
