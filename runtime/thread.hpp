// Threads, locks, and what a thread waits for. Code that uses these in place of the standard library's can be tested in
// a simulation (tests/simulation): all its threads run on one thread, in an order that a schedule chooses. In every
// other build they are the standard library's.
//
// In a simulation another thread may run where a thread waits, or takes a lock. So a lock that a thread holds while it
// waits, or while it takes another lock, must be a Mutex, and no std::mutex.
#pragma once

#include "clock.hpp"

#include <poll.h>

#ifdef RKLLM_MCP_SIMULATION
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>
#else
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#endif

namespace rkllm_mcp {

#ifdef RKLLM_MCP_SIMULATION

class Mutex {
 public:
  void lock();
  void unlock() { is_locked_ = false; }

 private:
  bool is_locked_ = false;
};

class ConditionVariable {
 public:
  void notify_one();
  void notify_all();

  template <class IsSo>
  void wait(std::unique_lock<Mutex>& lock, const IsSo& is_so) {
    while (!is_so()) wait_once(lock, Clock::time_point::max());
  }
  template <class IsSo>
  bool wait_until(std::unique_lock<Mutex>& lock, Clock::time_point deadline, const IsSo& is_so) {
    while (!is_so()) {
      if (Clock::now() >= deadline) return false;
      wait_once(lock, deadline);
    }
    return true;
  }
  template <class IsSo>
  bool wait_for(std::unique_lock<Mutex>& lock, Clock::duration patience, const IsSo& is_so) {
    return wait_until(lock, Clock::now() + patience, is_so);
  }

 private:
  void wait_once(std::unique_lock<Mutex>& lock, Clock::time_point deadline);

  std::vector<bool*> waiting_;  // a flag of each thread that waits, which wakes it; who has waited longest is the first
};

class Thread {
 public:
  Thread() = default;
  explicit Thread(std::function<void()> work);
  Thread(Thread&&) = default;
  Thread& operator=(Thread&&) = default;

  bool joinable() const { return has_ended_ != nullptr; }
  void join();

 private:
  std::shared_ptr<bool> has_ended_;
};

// As ::poll().
int poll_descriptors(pollfd* descriptors, nfds_t count, int timeout_ms);

inline void yield_to_others(int /*niceness*/) {}  // all threads are one

#else

using Mutex = std::mutex;
using ConditionVariable = std::condition_variable;
using Thread = std::thread;

inline int poll_descriptors(pollfd* descriptors, nfds_t count, int timeout_ms) {
  return ::poll(descriptors, count, timeout_ms);
}

// From now on other threads go before the calling one where processors are short: 19 is the most that there is.
inline void yield_to_others(int niceness) {
  // In Linux this is a property of the thread.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), niceness);
}

#endif

}  // namespace rkllm_mcp
