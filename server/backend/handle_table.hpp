// The models that are loaded, and which of them a call means.
//
// Threads: everything is guarded by the backend's mutex, but for what says otherwise. What does not change once a
// handle has been added needs none.
#pragma once

#include "backend/call_queue.hpp"
#include "backend/engine.hpp"
#include "clock.hpp"
#include "counts.hpp"
#include "thread.hpp"

#include <rkllm_mcp/method.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

// One initialised model, or one that is being initialised. It ends without the mutex, and on none of its own threads.
struct ModelHandle : std::enable_shared_from_this<ModelHandle> {
  ModelHandle(Mutex& mutex_of_backend, unsigned its_number)
      : number(its_number),
        id("llm-" + std::to_string(its_number)),
        queue(mutex_of_backend, CallQueue::Positions::kTold),
        beside(mutex_of_backend, CallQueue::Positions::kUntold) {}

  const unsigned number;
  const std::string id;    // on the wire
  std::string name;        // by which it was loaded; empty: by rkllm_init
  std::uint64_t load = 0;  // see QueuedBackend::HandleUse

  bool live = false;                  // rkllm_init has succeeded
  bool closing = false;               // its destruction is queued: no more calls
  std::exception_ptr lost;            // why its model is gone although nobody destroyed it
  Json created_with;                  // the parameters of rkllm_init
  std::string file;                   // see QueuedBackend::HandleUse
  Json last_perf;                     // see QueuedBackend::HandleStatus
  std::uint64_t foreign_changes = 0;  // see QueuedBackend::HandleUse
  Clock::time_point last_used = Clock::now();
  // Written with the mutex and by the queue's thread alone, which reads them without it.
  Model::Values values;
  std::optional<pid_t> process;

  Mutex start_mutex;             // see QueuedBackend
  std::unique_ptr<Model> model;  // without the mutex: by the threads of the two queues, and as Model says
  CallQueue queue;
  CallQueue beside;  // of calls that need not wait for a run
};

class HandleTable {
 public:
  // Holds at most `most` handles. `counts`, unless it is null, counts the handles that are refused for that.
  HandleTable(std::size_t most, Counts* counts) : most_(most), counts_(counts) {}

  // A handle with the next free number, which nobody finds before it is added. Throws RpcError (kQueueFull).
  std::shared_ptr<ModelHandle> make(Mutex& mutex_of_backend);
  void add(ModelHandle& handle);
  void remove(const ModelHandle& handle);     // if it is there
  void give_back(const ModelHandle& handle);  // its number is free again: the handle was not made after all
  std::map<std::string, std::shared_ptr<ModelHandle>> take_all() { return std::exchange(by_id_, {}); }

  // The handles that these return are valid while the mutex is held; for longer use take their shared_from_this().
  // Null if there is no such handle. A handle that is being destroyed is found.
  ModelHandle* find(const std::string& id) const;
  bool holds(const ModelHandle& handle) const { return find(handle.id) == &handle; }
  // The handle that a call of this method means: the one that it names, or else the only one that rkllm_init has made
  // or is making. None is found that is being destroyed. Throws RpcError (kUnknownHandle, kInvalidParams).
  ModelHandle& meant_by(const Method& method, const Json& params) const;
  // The ids of handles whose models are loaded, and not being destroyed.
  std::vector<std::string> live_ids() const;
  // All handles by their ids, also those that are being created or destroyed.
  const std::map<std::string, std::shared_ptr<ModelHandle>>& all() const { return by_id_; }

 private:
  ModelHandle& the_only_one(const std::string& path) const;

  const std::size_t most_;
  Counts* const counts_;
  unsigned next_number_ = 1;
  std::set<unsigned> given_back_;  // the next handles get these
  std::map<std::string, std::shared_ptr<ModelHandle>> by_id_;
};

}  // namespace rkllm_mcp
