// Executes calls through an engine, each handle's in the order in which they came.
//
// The vendor's library has no locks of its own, so every handle has a queue with a thread that makes its calls one
// after the other. What the contract allows during a run (rkllm_abort, rkllm_is_running) goes to a second queue of the
// handle and does not wait. Calls that touch no handle have a queue of their own. A call waits in one place only, its
// queue: one that leaves it is gone at once with its parameters and its observer, whatever runs ahead of it.
//
// Threads: start(), cancel() and the queries from any thread (in practice the event loop). Observers are called on the
// queues' threads, on the engine's, on the one of notices, and on those that call start(), cancel(), give_up(),
// end_lease() or shut_down(). Locks: `mutex_` guards the tables and is never held while a call is made; a
// handle's `start_mutex` is held by calls beside the queue, while the model is destroyed, and when the next call
// begins.
#pragma once

#include "backend.hpp"
#include "backend/call_queue.hpp"
#include "backend/engine.hpp"
#include "backend/handle_table.hpp"
#include "backend/runner.hpp"
#include "counts.hpp"
#include "thread.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class QueuedBackend : public Backend {
 public:
  struct Limits {
    std::size_t handles{};
    std::size_t queued_per_handle{};
    Counts* counts = nullptr;
    std::size_t queued_per_holder = static_cast<std::size_t>(-1);  // most of one access token in a handle's queue
  };

  // `methods` is the API set that the engine serves.
  QueuedBackend(std::unique_ptr<Engine> engine, std::span<const Method> methods, const Limits& limits);
  ~QueuedBackend() override;  // shuts down if that has not been done, and waits for the calls that hang

  // A call without a handle takes the only one that there is, but never one of a model that the server loads by name.
  CallId start(CallRequest request) override;
  void cancel(CallId id) override;
  void give_up(CallId id, const RpcError& why) override;

  // A lease of the handle with this id. It waits like a call: on_queued(); on_begun() when it has been granted;
  // on_done() with an error if it never is, and without one when it has ended. Of the request neither method nor
  // parameters are used.
  CallId lease(const std::string& handle, CallRequest request);
  // As start(), for a lease that has been granted: made at once, or after the lease's earlier calls. Error 4002 if the
  // lease has ended, or has been ended: somebody has destroyed the handle.
  CallId start_leased(CallId lease, CallRequest request);
  // Calls of the lease that have not ended are stopped, and the next lease or call begins. Unknown ids are ignored.
  void end_lease(CallId lease);

  // Destroys the handle after the calls that wait for it now; from now on nobody finds it. `ended` is called on a
  // thread of the backend. False, and nothing is called, if there is no such handle, if it is being destroyed, or if
  // the backend shuts down.
  using EndedFunction = std::function<void(std::exception_ptr error)>;
  bool destroy_in_order(const std::string& handle, EndedFunction ended);

  struct Waiting {
    std::string_view method;
    std::string request_id;  // as JSON text; empty: it has none
    std::string_view transport;
    Clock::duration since;
  };
  // What a handle is doing, for status pages.
  struct HandleStatus {
    std::string id;
    std::string model;  // the name that it was loaded by; empty: by rkllm_init
    bool running;
    std::vector<Waiting> queue;    // the next first
    std::optional<pid_t> process;  // the worker that holds the model; nothing if it is in this process
    Json created_with;             // the parameters of rkllm_init
    Model::Values values;          // see Model::values()
    Json last_perf;  // figures of the latest run of more than one token, else of the first run; null: no run had any
    bool simulated = false;  // filled in by the caller that knows the library
  };
  std::vector<HandleStatus> handles() const;

  // What a handle is used for, at this moment.
  struct HandleUse {
    std::uint64_t load = 0;  // a new number for each load
    std::string file{};      // that was loaded: see identify_files_by(); empty where it is not certain which it was
    std::size_t waiting = 0;
    bool in_use = false;          // a call is made, a lease is held, or somebody waits
    Clock::time_point last_used;  // when the latest call has ended
    // Counts the calls outside of leases that may have changed what the model keeps (KV cache, template, tools, caches,
    // adapters), and the runs that have failed.
    std::uint64_t foreign_changes = 0;
    std::optional<pid_t> process;  // as HandleStatus, also while the model is being loaded
  };
  // Nothing if there is no such handle, or it is being destroyed.
  std::optional<HandleUse> use_of(const std::string& handle) const;
  // The process in which this call of rkllm_init loads its model; nothing if it is not known.
  std::optional<pid_t> loading_process(CallId init) const;
  // A model that is being loaded.
  struct Load {
    CallId init;
    std::string model;                        // as HandleStatus
    std::string path;                         // of its file, as rkllm_init was given it
    std::optional<pid_t> process;             // see loading_process()
    Clock::duration since{};                  // how long ago it was asked for
    std::optional<Clock::duration> before{};  // how long the latest load of the same file took
  };
  // In the order in which they were asked for.
  std::vector<Load> loads() const;
  // kModels: a model is loaded; else kLoading: one is being loaded; else kCalls: a call is in progress; else kIdle.
  enum class Use { kIdle, kCalls, kLoading, kModels };
  Use use() const;

  // Called on a thread of the backend when a model is gone although nobody destroyed it; set before the first call.
  using LostFunction = std::function<void(const std::string& id)>;
  void when_lost(LostFunction lost) { lost_ = std::move(lost); }

  // Called with the path that a call of rkllm_init names, before the call and, if it succeeded, after it, on threads of
  // the backend. Returns a text that differs for another file and after any change of the file (file_identity());
  // empty: not known. To be set before the first call.
  using FileFunction = std::function<std::string(const std::string& path)>;
  void identify_files_by(FileFunction identity) { identity_of_file_ = std::move(identity); }

  // Takes no more calls, stops all runs and destroys all handles. True if everything has ended soon after `deadline`;
  // if not, threads still hang in the library, or in the end of a model, and only the end of the process helps. Calls
  // that hang are ended with an error then, so that those who wait for them are told.
  bool shut_down(Clock::time_point deadline);

 private:
  // With mutex_ held. These throw RpcError.
  void assign_handle(QueuedCall& job);
  void create_handle(QueuedCall& job);
  void undo(const QueuedCall& job);
  CallQueue& queue_for(QueuedCall& job);

  void refuse(QueuedCall& job, const std::exception_ptr& error);
  // With mutex_ held.
  void begin_closing(ModelHandle& handle);
  CallQueue& queue_of(const QueuedCall& job);
  static bool is_lease(const QueuedCall& job);
  bool can_use_lease(const QueuedCall& lease) const;
  void let_go(QueuedCall& lease);    // ends a lease that is held, when its running call has ended
  void end_held(QueuedCall& lease);  // ends it at once
  void end_waiting(QueuedCall& job, const RpcError& why);
  void stop(QueuedCall& job);
  void stop_everything_on(ModelHandle& handle);
  // Destroys the handle, unless that is under way already. `ended` may be empty.
  void destroy_unasked(ModelHandle& handle, EndedFunction ended = {});
  void abandon_all(std::unique_lock<Mutex>& lock);  // unlocks

  // On the queues' threads (queued_backend_threads.cpp).
  struct Taken {
    std::shared_ptr<QueuedCall> job{};  // null: none waits, or a lease that has been granted
    std::exception_ptr refusal{};       // why it is not made
  };
  Taken take_queued(CallQueue& queue, ModelHandle* handle);  // the next call of the queue
  // These make the next call of their queue, if one waits still.
  void run_queued(CallQueue& queue, ModelHandle* handle);  // `handle` null: of calls without one
  void run_beside(ModelHandle& handle);
  void await_abort(ModelHandle& handle, const QueuedCall& run);
  // The run that an rkllm_abort is for, or null. With the mutex.
  static QueuedCall* run_to_abort(const ModelHandle& handle, const QueuedCall& abort);
  CallOutcome create(const CallRequest& request, ModelHandle& handle);
  void note_handle_change(const QueuedCall& job, const CallOutcome& outcome);  // with mutex_ held
  void note_load_time(const QueuedCall& job);                                  // with mutex_ held
  void finish(QueuedCall& job, CallOutcome outcome);
  void lose(const std::string& id, const ModelHandle* lost, const RpcError& why);

  const std::unique_ptr<Engine> engine_;
  const Method* const destroy_;  // null if this API set has none
  const Limits limits_;
  LostFunction lost_ = [](const std::string&) {};
  FileFunction identity_of_file_ = [](const std::string&) { return std::string(); };

  mutable Mutex mutex_;
  bool shutting_down_ = false;
  std::map<CallId, std::shared_ptr<QueuedCall>> jobs_;
  std::map<std::string, Clock::duration> load_times_;  // of the latest load, by the file's path
  HandleTable handles_;
  ConditionVariable change_;

  CallQueue handleless_;
  Runner notices_;      // refusals and news: what must not wait for a call
  Runner handle_ends_;  // destroys handles, which may take until a process has died
};

}  // namespace rkllm_mcp
