#include "transport/bytes/outbox.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp {

namespace {

// A quiet connection keeps at most so much; a burst's buffer goes back to the system.
constexpr std::size_t kKeptOutputBytes = 16 * 1024;

void empty(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > kKeptOutputBytes) buffer.shrink_to_fit();
}

}  // namespace

std::string& Outbox::open_buffer() {
  if (!is_open_) {
    gathered_.emplace_back().swap(spare_);
    is_open_ = true;
  }
  return gathered_.back();
}

void Outbox::append(std::string_view bytes) {
  if (bytes.empty()) return;
  open_buffer().append(bytes);
  count(bytes.size());
}

void Outbox::take(std::string bytes) {
  if (bytes.size() < kLongBytes) return append(std::string_view(bytes));
  const std::size_t added = bytes.size();
  gathered_.push_back(std::move(bytes));
  is_open_ = false;
  count(added);
}

void Outbox::count(std::size_t bytes) {
  gathered_bytes_ += bytes;
  if (size() >= limit_) full_ = true;
}

void Outbox::expect(std::size_t bytes) {
  gathered_.reserve(gathered_.size() + 3);  // what there is before the long message, itself, and what comes after it
  std::string& buffer = open_buffer();
  const std::size_t needed = buffer.size() + bytes;
  if (needed <= buffer.capacity()) return;
  // For many small messages the buffer doubles its size each time: so each byte is copied only a few times.
  buffer.reserve(bytes >= kLongBytes ? needed : std::max(needed, 2 * buffer.capacity()));
}

bool Outbox::begin() {
  written_ = 0;
  if (gathered_bytes_ == 0) {
    // Memory is given back only when nothing waits: a busy connection keeps swapping the same two buffers.
    gathered_.clear();
    is_open_ = false;
    empty(spare_);
    empty(in_flight_);
    return false;
  }
  while (gathered_.front().empty()) gathered_.erase(gathered_.begin());  // opened, but never filled
  in_flight_.clear();
  spare_.swap(in_flight_);
  in_flight_.swap(gathered_.front());
  gathered_.erase(gathered_.begin());
  if (gathered_.empty()) is_open_ = false;
  gathered_bytes_ -= in_flight_.size();
  return true;
}

bool Outbox::written(std::size_t bytes) {
  written_ += bytes;
  if (!full_ || size() > limit_ / 2) return false;
  full_ = false;
  return true;
}

}  // namespace rkllm_mcp
