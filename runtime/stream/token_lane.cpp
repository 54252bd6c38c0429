#include "stream/token_lane.hpp"

#include "faults.hpp"
#include "text/json_text.hpp"
#include "text/utf8.hpp"

#include <algorithm>

namespace rkllm_mcp {

void TokenLane::append(std::string_view bytes, std::int32_t token_id, Keep keep) {
  if (has_fault("each stream takes room for the longest answer")) text_.reserve(std::size_t{4} << 20U);
  const std::size_t before = text_.size();
  if (unfinished_.empty() && is_valid_utf8(bytes)) {
    text_ += bytes;
  } else {
    unfinished_ += bytes;
    append_whole_characters(text_, unfinished_);
  }
  const std::size_t added = text_.size() - before;
  if (added > 0 || keep == Keep::kEvery) marks_.push_back({static_cast<std::uint32_t>(added), token_id});
}

void TokenLane::end() {
  if (unfinished_.empty()) return;
  unfinished_.clear();
  text_ += kReplacementCharacter;
  marks_.push_back({static_cast<std::uint32_t>(kReplacementCharacter.size()), -1});
}

void TokenLane::join() {
  if (waiting_tokens() < 2) return;
  const auto id = marks_.back().token_id;
  marks_.clear();
  next_mark_ = 0;
  marks_.push_back({static_cast<std::uint32_t>(text_.size() - next_byte_), id});
}

std::int32_t TokenLane::take(std::string& delta, std::size_t max_escaped_bytes) {
  Mark& mark = marks_[next_mark_];
  const std::string_view token(text_.data() + next_byte_, mark.bytes);
  std::size_t taken = prefix_that_escapes_into(token, max_escaped_bytes);
  if (taken == 0 && !token.empty()) taken = std::min(token.size(), first_character_bytes(token));
  delta += token.substr(0, taken);
  next_byte_ += taken;
  mark.bytes -= static_cast<std::uint32_t>(taken);
  const auto id = mark.token_id;
  if (mark.bytes == 0) ++next_mark_;
  release_taken();
  return id;
}

void TokenLane::release_taken() {
  if (empty()) {
    text_.clear();
    marks_.clear();
    next_byte_ = next_mark_ = 0;
  } else if (next_byte_ > text_.size() / 2 && next_byte_ > 4096) {
    text_.erase(0, next_byte_);
    marks_.erase(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(next_mark_));
    next_byte_ = next_mark_ = 0;
  }
}

}  // namespace rkllm_mcp
