// Executes calls on a runtime library in this process.
//
// The vendor's library has no locks of its own, so every handle has one runner thread that makes its calls in the order
// in which they came. What the contract allows during a run (rkllm_abort, rkllm_is_running) goes to a runner of its own
// and does not wait. Calls that touch no handle share a third kind of runner.
//
// Threads: start(), cancel() and the queries from any thread (in practice the event loop); observers are called on
// runner threads and on the library's. Locks: `mutex_` guards the tables and is never held while the library is called;
// a handle's `native_guard` is held whenever its pointer could be freed or is used beside its runner.
#pragma once

#include "backend.hpp"
#include "backend/loaded_library.hpp"
#include "backend/runner.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace rkllm_mcp {

class RunSink;

class LocalBackend : public Backend {
 public:
  struct Limits {
    std::size_t handles = 16;
    std::size_t queued_per_handle = 64;
  };

  LocalBackend(const LoadedLibrary& library, const Limits& limits);
  ~LocalBackend() override;

  CallId start(CallRequest request, std::shared_ptr<CallObserver> observer) override;
  void cancel(CallId id) override;

  // What a handle is doing, for status pages.
  struct HandleStatus {
    std::string id;
    bool running;
    std::size_t queued;
  };
  std::vector<HandleStatus> handles() const;

  // Takes no more calls, stops all runs and destroys all handles. True if everything has ended by `deadline`; if not,
  // threads still hang in the library and only the end of the process helps. Calls that hang are ended with an error
  // then, so that those who wait for them are told.
  bool shut_down(std::chrono::steady_clock::time_point deadline);

 private:
  struct Job;
  struct Handle;
  using JobPointer = std::shared_ptr<Job>;
  using HandlePointer = std::shared_ptr<Handle>;

  // With mutex_ held. These throw RpcError.
  void admit(const JobPointer& job);
  HandlePointer create_handle();
  HandlePointer resolve_handle(const Method& method, const Json& params) const;
  std::vector<std::string> live_ids() const;

  void refuse(const JobPointer& job, std::exception_ptr error);
  void enqueue(const JobPointer& job);  // with mutex_ held
  void stop(const JobPointer& job);     // with mutex_ held, like the next
  void stop_everything_on(Handle& handle);
  void give_up(std::unique_lock<std::mutex>& lock);  // unlocks

  // On runner threads.
  void run_queued(const JobPointer& job);
  void run_immediate(const JobPointer& job);
  void execute(Job& job, CallOutcome& outcome);
  void note_handle_change(const Job& job, bool succeeded);  // with mutex_ held
  void finish(const JobPointer& job, CallOutcome outcome);
  void abort_native(Handle& handle);

  const LoadedLibrary& library_;
  const Limits limits_;
  const Method* const abort_method_;  // null if this API set has none

  mutable std::mutex mutex_;
  bool shutting_down_ = false;
  CallId next_call_ = 1;
  unsigned next_handle_ = 1;
  std::map<CallId, JobPointer> jobs_;
  std::map<std::string, HandlePointer> handles_;  // by wire id, those being created or destroyed included
  std::condition_variable change_;

  Runner handleless_;
  Runner immediate_;
};

}  // namespace rkllm_mcp
