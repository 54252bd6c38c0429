// Calls in the order in which they came: those of one handle, or those without one, and the thread that makes them. A
// call waits in one place only, its queue; while a lease is held, the lease's own calls go first.
//
// Threads: who waits, who has the queue, and a call's state are guarded by the backend's mutex; a call's request and
// its observer are also used, without it, by whoever makes the call.
#pragma once

#include "backend.hpp"
#include "clock.hpp"
#include "thread.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace rkllm_mcp {

struct ModelHandle;

// A call, or a lease, until its observer has been told of its end.
struct QueuedCall : std::enable_shared_from_this<QueuedCall> {
  explicit QueuedCall(CallRequest what) : request(std::move(what)) {}

  CallObserver& observer() const { return *request.observer; }

  CallRequest request;
  std::shared_ptr<ModelHandle> handle;  // null for calls without one
  const Clock::time_point queued_at = Clock::now();
  std::shared_ptr<QueuedCall> lease;  // the lease that this call is made in; null: none

  enum class State { kWaiting, kRunning, kDone } state = State::kWaiting;
  bool abandoned = false;                          // it creates a model that nobody waits for
  bool aborted = false;                            // rkllm_abort was called while it ran
  bool given_up = false;                           // its observer has been told that nothing will come of it
  std::deque<std::shared_ptr<QueuedCall>> leased;  // of a lease: its calls that wait
  bool ending = false;                             // of a lease: it takes no more calls
};

class CallQueue {
 public:
  // Whether those who wait are told how many calls are before theirs, whenever that changes.
  enum class Positions { kTold, kUntold };

  CallQueue(Mutex& mutex_of_backend, Positions positions) : mutex_(mutex_of_backend), positions_(positions) {}
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  // Waits for the thread, if it was started: without the mutex, and not on that thread.
  ~CallQueue();

  // Once. `make_next` makes the call that is next, if there is one still; it is called without the mutex.
  void start(std::function<void()> make_next);

  // Puts a call behind all that wait; a call of a lease only behind those of the same lease.
  void add(QueuedCall& call);
  void remove(const QueuedCall& call);  // a call that waits
  // The call to be made now, which no longer waits; null: there is none.
  std::shared_ptr<QueuedCall> next();
  void tell_positions(std::size_t from = 0) const;  // those who wait at that place, and behind it

  // The waiting calls that belong to no lease, the next first.
  const std::deque<std::shared_ptr<QueuedCall>>& waiting() const { return waiting_; }
  // The call that is made now, and the lease that is held; null: none. Good while the mutex is held.
  QueuedCall* running() const { return running_.get(); }
  void set_running(std::shared_ptr<QueuedCall> call) { running_ = std::move(call); }
  QueuedCall* holder() const { return holder_.get(); }
  void hold(QueuedCall& lease) { holder_ = lease.shared_from_this(); }
  void release();  // ends the lease; those who wait are told their positions
  bool is_in_use() const { return running_ || holder_; }

 private:
  void work(const std::function<void()>& make_next);
  std::deque<std::shared_ptr<QueuedCall>>& makeable();  // the calls that are next: a lease's, if one is held

  Mutex& mutex_;
  const Positions positions_;
  std::deque<std::shared_ptr<QueuedCall>> waiting_;
  std::shared_ptr<QueuedCall> running_;
  std::shared_ptr<QueuedCall> holder_;
  bool ending_ = false;
  ConditionVariable news_;  // there is a call to make, or the thread is to end
  Thread thread_;
};

}  // namespace rkllm_mcp
