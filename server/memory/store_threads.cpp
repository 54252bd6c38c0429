#include "memory/store_threads.hpp"

#include "clock.hpp"
#include "run_loop.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

namespace rkllm_mcp::memory {
namespace {

constexpr std::chrono::seconds kBeforeNextOpening{2};

RpcError too_much_waits(std::size_t most) {
  return {ErrorCode::kQueueFull, "too many requests wait for the memory store; try again later",
          Json{{"queued", most}, {"limit", most}}};
}

constexpr int kMostTries = 5;  // of a transaction that is interrupted

std::optional<StoreError::Kind> kind_of(const std::exception_ptr& error) {
  if (!error) return std::nullopt;
  try {
    std::rethrow_exception(error);
  } catch (const StoreError& failed) {
    return failed.kind();
  } catch (...) {
    return std::nullopt;
  }
}

// Makes a transaction, several times if it is interrupted. Gives what was wrong the last time; null: nothing.
template <class Action>
std::exception_ptr in_transaction(Store& store, Transaction::Use use, const Action& action) {
  std::exception_ptr error;
  for (int tried = 0; tried < kMostTries; ++tried) {
    try {
      Transaction transaction(store, use);
      action();
      transaction.commit();
      return nullptr;
    } catch (...) {
      error = std::current_exception();
    }
    if (kind_of(error) != StoreError::Kind::kInterrupted) break;
  }
  return error;
}

// The error that a client is told in place of this one.
std::exception_ptr told(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const StoreError& failed) {
    return std::make_exception_ptr(as_client_sees(failed));
  } catch (...) {
    return error;
  }
}

std::string reason_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace

StoreThreads::StoreThreads(asio::io_context& loop, OpenFunction open, Options options, StateFunction changed)
    : loop_(loop), open_(std::move(open)), options_(std::move(options)), changed_(std::move(changed)) {
  try {
    threads_.emplace_back([this] { write_on(); });
    for (std::size_t reader = 0; reader < options_.readers; ++reader) threads_.emplace_back([this] { read_on(); });
    threads_.emplace_back([this] { check_on(); });
  } catch (...) {
    stop();
    join();
    throw;
  }
}

StoreThreads::~StoreThreads() {
  stop();
  {
    constexpr std::chrono::milliseconds kForWhatWaits{700};
    std::unique_lock lock(mutex_);
    ended_.wait_for(lock, kForWhatWaits, [this] { return has_ended_; });
  }
  join();
}

void StoreThreads::join() {
  hurry_ = true;
  for (auto& thread : threads_) thread.join();
}

void StoreThreads::stop() {
  stop_check_ = true;
  const std::lock_guard lock(mutex_);
  stopping_ = true;
  writes_.news.notify_all();
  reads_.news.notify_all();
  opened_.notify_all();
}

void StoreThreads::add(Queue& queue, Work work, mcp::DoneFunction done) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) throw RpcError(ErrorCode::kQueueFull, "the server is ending", Json{{"reason", "ending"}});
    if (queue.waiting.size() >= options_.most_waiting) throw too_much_waits(options_.most_waiting);
    queue.waiting.push_back({std::move(work), std::move(done)});
  }
  queue.news.notify_one();
}

void StoreThreads::write(Work work, mcp::DoneFunction done) { add(writes_, std::move(work), std::move(done)); }

void StoreThreads::read(Work work, mcp::DoneFunction done) {
  add(options_.readers == 0 ? writes_ : reads_, std::move(work), std::move(done));
}

bool StoreThreads::open(Use use, std::unique_ptr<Store>& store, std::exception_ptr& why) {
  for (int tried = 0; !store && tried < kMostTries; ++tried) {
    try {
      store = open_(use, use == Use::kChecking ? stop_check_ : hurry_);
    } catch (...) {
      why = std::current_exception();
      if (kind_of(why) != StoreError::Kind::kInterrupted) return false;
    }
  }
  return store != nullptr;
}

void StoreThreads::say(const std::string& trouble) {
  if (!changed_) return;
  post_patiently(loop_, [this, trouble, alive = alive_.watch()] {
    if (!alive.expired()) changed_(trouble);
  });
}

void StoreThreads::answer(std::vector<Piece> group) {
  for (Piece& piece : group) {
    piece.work = nullptr;  // what it held is released here, not on the loop
    if (piece.error) piece.error = told(piece.error);
  }
  const auto pieces = std::make_shared<std::vector<Piece>>(std::move(group));
  post_patiently(loop_, [pieces, alive = alive_.watch()] {
    for (Piece& piece : *pieces) {
      const auto done = std::exchange(piece.done, nullptr);
      if (!alive.expired()) done(std::move(piece.result), piece.error);
    }
  });
}

// --- the writer -----------------------------------------------------------------------------------------------------

void StoreThreads::write_alone(Store& store, Piece& piece) {
  piece.error = in_transaction(store, Transaction::Use::kWriting, [&] { piece.result = piece.work(store); });
}

void StoreThreads::write_group(Store& store, std::vector<Piece>& group) {
  if (group.size() == 1) return write_alone(store, group.front());
  const auto failed = in_transaction(store, Transaction::Use::kWriting, [&] {
    for (Piece& piece : group) {
      piece.error = nullptr;
      try {
        piece.result = piece.work(store);
      } catch (const RpcError&) {
        piece.error = std::current_exception();
      }
    }
  });
  if (!failed) return;
  const bool may_be_there = kind_of(failed) == StoreError::Kind::kUnknown;
  for (Piece& piece : group) {
    if (may_be_there) {
      piece.error = failed;
    } else {
      write_alone(store, piece);
    }
  }
}

// Whether there is more to do.
bool StoreThreads::tidy(Store& store, std::string& trouble) {
  bool is_more = false;
  const auto failed = in_transaction(store, Transaction::Use::kWriting, [&] { is_more = options_.tidy(store); });
  trouble = kind_of(failed) == StoreError::Kind::kUnavailable ? reason_of(failed) : std::string();
  return is_more && !failed;
}

void StoreThreads::end_writing() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  ended_.notify_all();
}

void StoreThreads::write_on() {
  std::unique_ptr<Store> store;
  std::exception_ptr why;
  Clock::time_point opens_again{};
  std::string told_trouble = "it is being opened";
  const auto tell = [&](const std::string& trouble) {
    if (trouble != told_trouble) say(told_trouble = trouble);
  };
  const auto open_now = [&] {
    if (store || Clock::now() < opens_again) return;
    const bool is_open = open(Use::kWriting, store, why);
    opens_again = Clock::now() + kBeforeNextOpening;
    tell(is_open ? std::string() : reason_of(why));
    if (!is_open) return;
    const std::lock_guard lock(mutex_);
    is_opened_ = true;
    opened_.notify_all();
  };
  bool is_more = static_cast<bool>(options_.tidy);
  while (true) {
    open_now();
    std::vector<Piece> group;
    {
      std::unique_lock lock(mutex_);
      if (!is_more || !store) {
        const auto pause = store ? options_.between_tidying : kBeforeNextOpening;
        writes_.news.wait_for(lock, pause, [this] { return stopping_ || !writes_.waiting.empty(); });
        is_more = static_cast<bool>(options_.tidy);
      }
      if (writes_.waiting.empty() && stopping_) break;
      const auto count = static_cast<std::ptrdiff_t>(std::min(writes_.waiting.size(), options_.most_together));
      std::move(writes_.waiting.begin(), writes_.waiting.begin() + count, std::back_inserter(group));
      writes_.waiting.erase(writes_.waiting.begin(), writes_.waiting.begin() + count);
      if (damage_) {
        why = damage_;
        store.reset();
        opens_again = Clock::time_point::max();
      }
    }
    if (group.empty()) {
      std::string trouble = told_trouble;
      if (is_more && store) is_more = tidy(*store, trouble);
      tell(trouble);
      continue;
    }
    open_now();
    if (store) {
      write_group(*store, group);
      // If all writes of a group fail in this way, the store counts as unusable.
      const bool has_failed = std::ranges::all_of(
          group, [](const Piece& piece) { return kind_of(piece.error) == StoreError::Kind::kUnavailable; });
      tell(has_failed ? reason_of(group.front().error) : std::string());
    } else {
      for (Piece& piece : group) piece.error = why;
    }
    answer(std::move(group));
    is_more = static_cast<bool>(options_.tidy);
  }
  store.reset();
  end_writing();
}

// --- the readers ----------------------------------------------------------------------------------------------------

void StoreThreads::read_one(Store& store, Piece& piece) {
  piece.error = in_transaction(store, Transaction::Use::kReading, [&] { piece.result = piece.work(store); });
}

void StoreThreads::read_on() {
  std::unique_ptr<Store> store;
  std::exception_ptr why = std::make_exception_ptr(
      StoreError(StoreError::Kind::kUnavailable, "it cannot be opened; the server's log says why"));
  while (true) {
    std::vector<Piece> one;
    {
      std::unique_lock lock(mutex_);
      reads_.news.wait(lock, [this] { return stopping_ || !reads_.waiting.empty(); });
      if (reads_.waiting.empty()) return;
      one.push_back(std::move(reads_.waiting.front()));
      reads_.waiting.pop_front();
      // The writer opens it first, and makes it if need be; it needs not long.
      constexpr std::chrono::seconds kForTheWriter{5};
      if (!store) opened_.wait_for(lock, kForTheWriter, [this] { return stopping_ || is_opened_; });
      if (damage_) why = damage_;
      if (damage_) store.reset();
      if (!is_opened_ || damage_) {
        one.front().error = why;
      }
    }
    Piece& piece = one.front();
    if (!piece.error && !open(Use::kReading, store, why)) piece.error = why;
    if (!piece.error) read_one(*store, piece);
    answer(std::move(one));
  }
}

// Checks the store once, as soon as the writer has opened it. Takes long.
void StoreThreads::check_on() {
  {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return stopping_ || is_opened_; });
    if (stopping_ || options_.readers == 0) return;
  }
  std::unique_ptr<Store> store;
  std::exception_ptr why;
  if (!open(Use::kChecking, store, why)) return;
  try {
    store->check();
  } catch (const StoreError& error) {
    if (error.kind() != StoreError::Kind::kDamaged) return;
    say(error.what());
    const std::lock_guard lock(mutex_);
    damage_ = std::current_exception();
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace rkllm_mcp::memory
