// One stream = one buffer: what a run has produced and no client has been told yet. The runtime's callback fills it, a
// reader on the event loop (push, poll or collect) empties it.
//
// Threads: the CallObserver functions come from any thread (see backend.hpp), everything else from the event loop; one
// mutex guards the buffer. The wake function is called without the lock, at most once between two calls of rearm().
//
// Memory: at most `buffer_bytes` of text wait, twice that while the run is being stopped. When the stream is full, the
// callback waits for the reader until `stall` has passed without progress (push), or not at all (poll); then the run
// ends after what was buffered, with error 4006, or 4004 where the server's memory is used up. Values that exceed
// `values_bytes` end it at once. While the streams' memory is used up, each is full at the little it is guaranteed.
#pragma once

#include "backend.hpp"
#include "clock.hpp"
#include "counts.hpp"
#include "memory_budget.hpp"
#include "stream/token_lane.hpp"
#include "thread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp {

// What a chunk is made of: the next token alone, or all tokens that wait for one batch entry.
enum class ChunkOf { kOneToken, kAllThatWaits };

// A piece of an answer. Packing it is the dialect's business.
struct Chunk {
  std::size_t batch = 0;                // which prompt of the batch it belongs to
  std::string delta;                    // valid UTF-8
  std::vector<std::int32_t> token_ids;  // only if the stream keeps tokens: those of the delta
};

// Why a run ends whose stream finds no room for `bytes` bytes in all, `more` of them new. The error is 4006 if all
// streams together have used up their memory, and 4004 if all clients of the server together have used up theirs.
struct NoStreamMemory {
  Limit limit;
  RpcError error;
};
NoStreamMemory no_stream_memory(const MemoryShare& share, std::size_t more, std::size_t bytes);

class TokenStream : public CallObserver {
 public:
  enum class WhenFull { kWait, kStop };
  struct Options {
    std::size_t buffer_bytes{};
    std::size_t values_bytes{};
    std::chrono::milliseconds stall{};
    WhenFull when_full = WhenFull::kWait;
    bool tell_position = false;  // while the call waits in its queue, changes of its place wake the reader
    bool keep_tokens = false;    // every token, also one without text, is a chunk with its id; nothing is joined
    MemoryBudget memory{};       // that all streams share
    Counts* counts = nullptr;
  };

  TokenStream(const Options& options, std::function<void()> wake)
      : options_(options), wake_(std::move(wake)), share_(options.memory) {}

  void on_queued(std::size_t calls_before) noexcept override;
  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override;
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept override;
  bool offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id,
                   const std::function<void()>& on_room) noexcept override;
  void on_rows(const FloatRows& rows) noexcept override;
  void on_done(CallOutcome outcome) noexcept override;
  bool wants_to_stop() const noexcept override { return stopping_.load(std::memory_order_relaxed); }

  // The reader is about to look: the next event wakes it again.
  void rearm() { awake_.store(false); }
  // The next chunk, but never more text than escapes into `max_escaped_bytes`. Nothing if no token waits.
  std::optional<Chunk> take(ChunkOf what, std::size_t max_escaped_bytes);
  // Everything that waits for one batch entry, with the ids of all its tokens if the stream keeps them.
  std::optional<Chunk> take_entry();
  // True if take() would give something.
  bool waiting() const;
  std::size_t bytes_waiting() const;
  // True once the run has ended and every token has been taken.
  bool drained() const;
  // How the run ended, with the rows that it produced and what they take of the memory; call once, when drained() is
  // true.
  CallOutcome take_outcome();
  // The reader has gone or has had enough: the run stops at its next token, and the callback never waits again.
  void stop() noexcept override;

  // How many calls go before this one, if that has been told since the last time, and is wanted; 0: it has begun.
  std::optional<std::size_t> take_queue_position();

  std::uint64_t tokens_so_far() const { return tokens_.load(std::memory_order_relaxed); }
  std::uint64_t token_limit() const { return token_limit_.load(); }  // 0 while it is not known

 private:
  enum class Room { kYes, kNotYet, kNever };

  void wake();
  bool wants(std::string_view text) const { return !text.empty() || options_.keep_tokens; }
  void keep_rows(const FloatRows& lent);  // takes the lock itself
  // With the lock held:
  Room look_for_room(std::size_t bytes);
  void await_room(std::unique_lock<Mutex>& lock);
  void keep(std::size_t batch, std::string_view text, std::int32_t token_id);
  void tell_of_room();
  void overflow(Limit limit, const RpcError& why);
  void fail();     // the run ends with the exception that is being handled
  void account();  // what waits has changed
  void join(TokenLane& lane);
  std::size_t waiting_bytes() const;  // with the lock held, like any_waiting
  bool any_waiting() const;
  TokenLane* next_lane();  // one with something in it, each in its turn; null if there is none

  const Options options_;
  const std::function<void()> wake_;
  std::atomic<bool> awake_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> tokens_{0};
  std::atomic<std::uint64_t> token_limit_{0};

  static constexpr std::size_t kNoPosition = static_cast<std::size_t>(-1);
  std::atomic<std::size_t> position_{kNoPosition};  // that nobody has been told yet
  bool queued_ = false;                             // a place was told; only on_queued() and on_begun() use this

  // A token that there is no room for waits.
  struct Full {
    std::size_t waiting;         // bytes, when it began
    Clock::time_point deadline;  // for the client to take some of them
  };

  mutable Mutex mutex_;
  std::optional<Full> full_;
  ConditionVariable room_;
  std::function<void()> on_room_;  // of whoever does not wait for room_; empty: nobody
  std::vector<TokenLane> lanes_;   // one per batch entry
  std::size_t next_lane_ = 0;      // where the reader goes on
  MemoryShare share_;              // what waits, values included
  std::vector<ValueRows> rows_;
  std::optional<RpcError> overflow_;
  std::exception_ptr failure_;  // there was no memory for what the run produced
  std::optional<CallOutcome> outcome_;
};

}  // namespace rkllm_mcp
