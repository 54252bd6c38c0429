#include "side_thread.hpp"

#include <asio/post.hpp>

#include <sys/resource.h>
#include <unistd.h>

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
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
    return true;
  } catch (const std::system_error&) {
    return false;
  }
}

void SideThread::run(std::function<void()> work, std::function<void()> then) {
  if (!start()) {
    work();
    return asio::post(loop_, std::move(then));
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(work), std::move(then), nullptr, asio::make_work_guard(loop_)});
  }
  news_.notify_one();
}

void SideThread::work() {
  // Where processors are short the loop goes first. (On Linux this is a matter of one thread.)
  constexpr int kNicer = 5;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNicer);
  std::unique_lock lock(mutex_);
  while (true) {
    news_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (stopping_) return;
    Piece piece = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    try {
      piece.work();
    } catch (...) {
      piece.fault = std::current_exception();
    }
    piece.work = nullptr;  // what it held is released here, not on the loop
    asio::post(loop_, [then = std::move(piece.then), fault = piece.fault, alive = std::weak_ptr(alive_)] {
      if (fault) std::rethrow_exception(fault);
      if (!alive.expired()) then();
    });
    piece.loop_stays.reset();
    lock.lock();
  }
}

}  // namespace rkllm_mcp
