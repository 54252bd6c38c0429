#include "side_thread.hpp"

#include "run_loop.hpp"

#include <mutex>
#include <system_error>
#include <utility>

namespace rkllm_mcp {

SideThread::~SideThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  news_.notify_one();
  if (thread_.joinable()) thread_.join();
}

bool SideThread::start() {
  try {
    if (!thread_.joinable()) thread_ = Thread([this] { work(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void SideThread::run(std::function<void()> work, std::function<void()> then) {
  if (!start()) {
    work();
    return asio::post(loop_, [then = std::move(then), alive = alive_.watch()] {
      if (!alive.expired()) then();
    });
  }
  auto piece = std::make_shared<Piece>(Piece{std::move(work), std::move(then), asio::make_work_guard(loop_)});
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(piece));
  }
  news_.notify_one();
}

void SideThread::work() {
  constexpr int kNicer = 5;
  yield_to_others(kNicer);  // the loop goes first
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    auto piece = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      piece->work();
    } catch (...) {
      piece->fault = std::current_exception();
    }
    piece->work = nullptr;  // what it held is released here, not on the loop
    // Kept until the post below has been made, so that the loop does not run out of work before; not in the piece,
    // which the loop destroys.
    auto loop_stays = std::move(piece->loop_stays);
    post_patiently(loop_, [piece = std::move(piece), alive = alive_.watch()] {
      const auto then = std::exchange(piece->then, nullptr);  // what it holds is released here: the piece may go later
      if (piece->fault) std::rethrow_exception(piece->fault);
      if (!alive.expired()) then();
    });
    loop_stays.reset();
    lock.lock();
  }
}

}  // namespace rkllm_mcp
