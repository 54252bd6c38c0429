#include "stream/token_stream.hpp"

#include "limit.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace rkllm_mcp {
namespace {

// Beyond so many waiting tokens of one lane nobody will miss their boundaries: they join, and memory stays small.
constexpr std::size_t kMaxWaitingMarks = 16 * 1024;

}  // namespace

NoStreamMemory no_stream_memory(const MemoryShare& share, std::size_t more, std::size_t bytes) {
  if (!share.is_too_much_for_its_part(more)) return {Limit::kMemory, no_memory()};
  return {Limit::kStreamMemory,
          too_large("the memory of all streams (" + std::string(name_of(Limit::kStreamMemory)) + ") is used up", bytes,
                    share.limit())};
}

void TokenStream::wake() {
  if (!awake_.exchange(true)) wake_();
}

void TokenStream::on_queued(std::size_t calls_before) noexcept {
  if (!options_.tell_position) return;
  queued_ = true;
  position_ = calls_before;
  wake();
}

void TokenStream::on_begun(std::optional<std::uint64_t> token_limit) noexcept {
  token_limit_ = token_limit.value_or(0);
  if (!queued_) return;
  position_ = 0;
  wake();
}

std::optional<std::size_t> TokenStream::take_queue_position() {
  const std::size_t position = position_.exchange(kNoPosition);
  return position == kNoPosition ? std::nullopt : std::optional(position);
}

std::size_t TokenStream::waiting_bytes() const {
  std::size_t bytes = 0;
  for (const auto& lane : lanes_) bytes += lane.waiting_bytes();
  return bytes;
}

void TokenStream::overflow(Limit limit, const RpcError& why) {
  stopping_ = true;
  if (overflow_) return;
  overflow_ = why;
  count(options_.counts, limit);
}

void TokenStream::account() {
  std::size_t bytes = waiting_bytes();
  for (const auto& rows : rows_) bytes += rows.values.size() * sizeof(float);
  share_.set(bytes);
}

void TokenStream::join(TokenLane& lane) {
  const std::size_t tokens = lane.waiting_tokens();
  if (tokens < 2) return;
  lane.join();
  count(options_.counts, &Counts::joined_tokens, tokens - 1);
}

TokenStream::Room TokenStream::look_for_room(std::size_t bytes) {
  if (overflow_ || failure_) return Room::kNever;
  const std::size_t waiting = waiting_bytes();
  if (waiting + bytes <= options_.buffer_bytes && share_.has_room_for(bytes)) {
    full_.reset();
    return Room::kYes;
  }
  // The token at which the run was stopped is kept. A run that cannot be stopped uses twice the buffer at most.
  if (stopping_) return waiting + bytes <= 2 * options_.buffer_bytes ? Room::kYes : Room::kNever;
  const auto now = Clock::now();
  if (!full_ || waiting < full_->waiting) full_ = Full{waiting, now + options_.stall};
  if (options_.when_full == WhenFull::kWait && now < full_->deadline) return Room::kNotYet;
  if (waiting + bytes > options_.buffer_bytes) {
    overflow(Limit::kStreamBuffer, too_large("the client did not take the stream; its buffer is full", waiting + bytes,
                                             options_.buffer_bytes));
  } else {
    const auto full = no_stream_memory(share_, bytes, waiting + bytes);
    overflow(full.limit, full.error);
  }
  return Room::kNever;
}

void TokenStream::keep(std::size_t batch, std::string_view text, std::int32_t token_id) {
  if (lanes_.size() <= batch) lanes_.resize(batch + 1);
  TokenLane& lane = lanes_[batch];
  lane.append(text, token_id, options_.keep_tokens ? TokenLane::Keep::kEvery : TokenLane::Keep::kVisible);
  if (!options_.keep_tokens && lane.waiting_tokens() > kMaxWaitingMarks) join(lane);
  account();
}

// Room may also come from other streams, which wake nobody here: it is looked for now and then.
void TokenStream::await_room(std::unique_lock<Mutex>& lock) {
  constexpr std::chrono::milliseconds kBetweenLooks{50};
  room_.wait_for(lock, std::min(options_.stall, kBetweenLooks),
                 [this] { return stopping_ || waiting_bytes() < full_->waiting; });
}

void TokenStream::tell_of_room() {
  room_.notify_one();
  if (on_room_) std::exchange(on_room_, {})();
}

void TokenStream::on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept {
  tokens_.fetch_add(1, std::memory_order_relaxed);
  const auto bytes = text.value_or(std::string_view());
  if (!wants(bytes)) return;
  try {
    std::unique_lock lock(mutex_);
    Room room = look_for_room(bytes.size());
    for (; room == Room::kNotYet; room = look_for_room(bytes.size())) await_room(lock);
    if (room == Room::kYes) keep(batch, bytes, token_id);
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    fail();
  }
  wake();
}

bool TokenStream::offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id,
                              const std::function<void()>& on_room) noexcept {
  const auto bytes = text.value_or(std::string_view());
  if (wants(bytes)) {
    try {
      const std::lock_guard lock(mutex_);
      const Room room = look_for_room(bytes.size());
      if (room == Room::kNotYet) {
        on_room_ = on_room;
        return false;
      }
      if (room == Room::kYes) keep(batch, bytes, token_id);
    } catch (const std::bad_alloc&) {
      const std::lock_guard lock(mutex_);
      fail();
    }
    wake();
  }
  tokens_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void TokenStream::fail() {
  failure_ = std::current_exception();
  stopping_ = true;
}

void TokenStream::on_rows(const FloatRows& lent) noexcept {
  try {
    keep_rows(lent);
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(mutex_);
    fail();
  }
}

void TokenStream::keep_rows(const FloatRows& lent) {
  const std::lock_guard lock(mutex_);
  auto kept = std::find_if(rows_.begin(), rows_.end(), [&](const ValueRows& rows) { return rows.field == lent.field; });
  if (kept == rows_.end()) {
    rows_.push_back({std::string(lent.field),
                     std::string(lent.values_name),
                     std::string(lent.rows_name),
                     std::string(lent.columns_name),
                     {},
                     0,
                     lent.columns});
    kept = rows_.end() - 1;
  }
  const std::size_t values = lent.rows * lent.columns;
  const std::size_t bytes = (kept->values.size() + values) * sizeof(float);
  if (bytes > options_.values_bytes) {
    return overflow(Limit::kStreamValues,
                    too_large("the run's values exceed " + std::string(name_of(Limit::kStreamValues)), bytes,
                              options_.values_bytes));
  }
  if (!share_.has_room_for(values * sizeof(float))) {
    const auto full = no_stream_memory(share_, values * sizeof(float), bytes);
    return overflow(full.limit, full.error);
  }
  kept->values.insert(kept->values.end(), lent.values, lent.values + values);
  kept->rows += lent.rows;
  account();
}

void TokenStream::on_done(CallOutcome outcome) noexcept {
  {
    const std::lock_guard lock(mutex_);
    for (auto& lane : lanes_) lane.end();
    if (overflow_) outcome.error = std::make_exception_ptr(*overflow_);
    if (failure_) outcome.error = failure_;
    outcome_ = std::move(outcome);
  }
  wake();
}

TokenLane* TokenStream::next_lane() {
  for (std::size_t tried = 0; tried < lanes_.size(); ++tried) {
    TokenLane& lane = lanes_[next_lane_];
    next_lane_ = (next_lane_ + 1) % lanes_.size();
    if (!lane.empty()) return &lane;
  }
  return nullptr;
}

std::optional<Chunk> TokenStream::take(ChunkOf what, std::size_t max_escaped_bytes) {
  const std::lock_guard lock(mutex_);
  TokenLane* const lane = next_lane();
  if (lane == nullptr) return std::nullopt;
  if (what == ChunkOf::kAllThatWaits && !options_.keep_tokens) join(*lane);
  Chunk chunk{static_cast<std::size_t>(lane - lanes_.data()), {}, {}};
  const auto token_id = lane->take(chunk.delta, max_escaped_bytes);
  if (options_.keep_tokens) chunk.token_ids.push_back(token_id);
  account();
  tell_of_room();
  return chunk;
}

std::optional<Chunk> TokenStream::take_entry() {
  const std::lock_guard lock(mutex_);
  TokenLane* const lane = next_lane();
  if (lane == nullptr) return std::nullopt;
  Chunk chunk{static_cast<std::size_t>(lane - lanes_.data()), {}, {}};
  while (!lane->empty()) {
    const auto token_id = lane->take(chunk.delta, std::numeric_limits<std::size_t>::max());
    if (options_.keep_tokens) chunk.token_ids.push_back(token_id);
  }
  account();
  tell_of_room();
  return chunk;
}

bool TokenStream::waiting() const {
  const std::lock_guard lock(mutex_);
  return any_waiting();
}

std::size_t TokenStream::bytes_waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_bytes();
}

bool TokenStream::drained() const {
  const std::lock_guard lock(mutex_);
  return outcome_ && !any_waiting();
}

bool TokenStream::any_waiting() const {
  return std::any_of(lanes_.begin(), lanes_.end(), [](const TokenLane& lane) { return !lane.empty(); });
}

CallOutcome TokenStream::take_outcome() {
  const std::lock_guard lock(mutex_);
  CallOutcome outcome = std::move(*outcome_);
  auto rows = std::exchange(rows_, {});
  if (outcome.error) {
    rows.clear();
    account();
    return outcome;
  }
  outcome.rows = std::move(rows);
  outcome.memory = std::exchange(share_, MemoryShare(options_.memory));  // no text waits any more
  return outcome;
}

void TokenStream::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);  // or a callback about to wait would miss it
    stopping_ = true;
    tell_of_room();
  }
}

}  // namespace rkllm_mcp
