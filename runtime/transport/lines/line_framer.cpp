#include "transport/lines/line_framer.hpp"

#include <new>
#include <utility>

namespace rkllm_mcp {

namespace {

// A long line's buffer is given back; below this it stays for the next one.
constexpr std::size_t kKeptLineBytes = 64 * 1024;

}  // namespace

void LineFramer::feed(std::string_view bytes, const ReceiveFunction& receive) {
  while (!bytes.empty()) bytes.remove_prefix(feed_line(bytes, receive));
}

std::size_t LineFramer::feed_line(std::string_view bytes, const ReceiveFunction& receive) {
  const auto end = bytes.find('\n');
  if (end == std::string_view::npos) {
    keep(bytes, receive);
    return bytes.size();
  }
  if (skipping_) {
    skipping_ = false;
  } else if (partial_.empty()) {
    deliver(bytes.substr(0, end), receive);
  } else {
    keep(bytes.substr(0, end), receive);
    if (!std::exchange(skipping_, false)) deliver_kept(receive);
  }
  return end + 1;
}

void LineFramer::finish(const ReceiveFunction& receive) {
  if (!std::exchange(skipping_, false)) deliver_kept(receive);
}

// The receiver takes a share of its own for what it keeps of the line, so this one is given back first.
void LineFramer::deliver_kept(const ReceiveFunction& receive) {
  share_.set(0);
  deliver(partial_, receive);
  partial_.clear();
  if (partial_.capacity() > kKeptLineBytes) partial_.shrink_to_fit();
}

void LineFramer::keep(std::string_view part, const ReceiveFunction& receive) {
  if (skipping_) return;
  const auto bytes = partial_.size() + part.size();
  if (bytes > limit_ + 1) {  // the one more may be the '\r' of the line's end
    skip_rest();
    return receive(Oversized{bytes, limit_});
  }
  try {
    if (share_.has_room_for(part.size())) {
      partial_.append(part);
      return share_.set(partial_.capacity());
    }
  } catch (const std::bad_alloc&) {
    // The system has none either.
  }
  receive(NoRoom{partial_});
  skip_rest();
}

void LineFramer::skip_rest() {
  partial_.clear();
  partial_.shrink_to_fit();
  share_.set(0);
  skipping_ = true;
}

void LineFramer::deliver(std::string_view line, const ReceiveFunction& receive) const {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (line.empty()) return;
  if (line.size() > limit_) return receive(Oversized{line.size(), limit_});
  receive(line);
}

}  // namespace rkllm_mcp
