#include "threads/fair_threads.hpp"

#include "clock.hpp"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace rkllm_mcp {

struct FairThreads::Shared {
  explicit Shared(const Bounds& given) : bounds(given) {}

  struct Piece {
    Ticket ticket = 0;
    std::function<void()> work;
  };
  struct Line {  // of one owner, while something of it waits or is under way
    std::string owner;
    std::list<Piece> waiting{};
    std::size_t running = 0;
  };
  using Lines = std::list<Line>;

  const Bounds bounds;
  std::mutex mutex;  // guards all that follows
  std::condition_variable news;
  Lines lines;  // served in this order; an owner at its limit is skipped
  std::size_t waiting = 0;
  std::size_t threads = 0;
  std::size_t idle = 0;
  Ticket last_ticket = 0;
  bool ending = false;

  Lines::iterator next() {
    return std::ranges::find_if(
        lines, [this](const Line& line) { return !line.waiting.empty() && line.running < bounds.threads_of_one; });
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      ++idle;
      news.wait(lock, [this] { return ending || next() != lines.end(); });
      --idle;
      const auto line = next();
      if (line == lines.end()) break;
      lines.splice(lines.end(), lines, line);  // then others come
      Piece piece = std::move(line->waiting.front());
      line->waiting.pop_front();
      --waiting;
      ++line->running;
      lock.unlock();
      piece.work();
      piece.work = nullptr;  // what it held is released here
      lock.lock();
      --line->running;
      if (line->running == 0 && line->waiting.empty()) lines.erase(line);
      news.notify_all();  // another of this owner may be next
    }
    --threads;
    news.notify_all();
  }
};

FairThreads::Bounds FairThreads::shared_by_owners(std::size_t threads, std::size_t waiting) {
  const auto share = [](std::size_t all) { return std::max<std::size_t>(1, all - all / 4); };
  return {threads, waiting, share(threads), share(waiting)};
}

FairThreads::FairThreads(const Bounds& bounds) : shared_(std::make_shared<Shared>(bounds)) {}

FairThreads::~FairThreads() { end(Clock::now()); }

std::optional<FairThreads::Ticket> FairThreads::submit(const std::string& owner, std::function<void()> work) {
  Shared& shared = *shared_;
  const std::lock_guard lock(shared.mutex);
  if (shared.ending || shared.waiting >= shared.bounds.waiting) return std::nullopt;
  auto line = std::ranges::find(shared.lines, owner, &Shared::Line::owner);
  if (line != shared.lines.end() && line->waiting.size() >= shared.bounds.waiting_of_one) return std::nullopt;
  if (shared.idle <= shared.waiting && shared.threads < shared.bounds.threads) {
    try {
      // Nobody joins it. Only end() waits for it, by the number of threads, which the thread lowers as its last step.
      std::thread([kept = shared_] { kept->work(); }).detach();
      ++shared.threads;
    } catch (const std::system_error&) {
      if (shared.threads == 0) return std::nullopt;
    }
  }
  const Ticket ticket = ++shared.last_ticket;
  if (line == shared.lines.end()) line = shared.lines.insert(line, Shared::Line{owner});
  line->waiting.push_back({ticket, std::move(work)});
  ++shared.waiting;
  shared.news.notify_all();
  return ticket;
}

void FairThreads::withdraw(Ticket ticket) {
  std::list<Shared::Piece> dropped;  // released without the lock
  const std::lock_guard lock(shared_->mutex);
  for (auto line = shared_->lines.begin(); line != shared_->lines.end(); ++line) {
    const auto piece = std::ranges::find(line->waiting, ticket, &Shared::Piece::ticket);
    if (piece == line->waiting.end()) continue;
    dropped.splice(dropped.end(), line->waiting, piece);
    --shared_->waiting;
    if (line->running == 0 && line->waiting.empty()) shared_->lines.erase(line);
    return;
  }
}

bool FairThreads::end(Clock::time_point deadline) {
  std::list<Shared::Piece> dropped;  // released without the lock
  std::unique_lock lock(shared_->mutex);
  shared_->ending = true;
  for (Shared::Line& line : shared_->lines) dropped.splice(dropped.end(), line.waiting);
  shared_->waiting = 0;
  shared_->news.notify_all();
  const bool has_ended = shared_->news.wait_until(lock, deadline, [this] { return shared_->threads == 0; });
  lock.unlock();
  return has_ended;
}

}  // namespace rkllm_mcp
