#include "transport/bytes/outbox.hpp"

#include <algorithm>

namespace rkllm_mcp {

namespace {

// A quiet connection keeps at most so much; a burst's buffer goes back to the system.
constexpr std::size_t kKeptOutputBytes = 16 * 1024;

void empty(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > kKeptOutputBytes) buffer.shrink_to_fit();
}

}  // namespace

void Outbox::append(std::string_view bytes) {
  gathered_.append(bytes);
  if (size() >= limit_) full_ = true;
}

void Outbox::expect(std::size_t bytes) {
  const std::size_t needed = gathered_.size() + bytes;
  if (needed <= gathered_.capacity()) return;
  // Many small ones are better off with a buffer that grows by halves of itself.
  constexpr std::size_t kMany = 64 * 1024;
  gathered_.reserve(bytes >= kMany ? needed : std::max(needed, 2 * gathered_.capacity()));
}

bool Outbox::begin() {
  if (gathered_.empty()) {
    // Only now, with nothing more to come at once: a busy connection swaps the same two buffers for ever.
    empty(gathered_);
    empty(in_flight_);
    written_ = 0;
    return false;
  }
  in_flight_.clear();
  written_ = 0;
  in_flight_.swap(gathered_);
  return true;
}

bool Outbox::written(std::size_t bytes) {
  written_ += bytes;
  if (!full_ || size() > limit_ / 2) return false;
  full_ = false;
  return true;
}

}  // namespace rkllm_mcp
