// The server's side of simulated workers: the queues of the backend, and what talks to workers, with threads that the
// schedule chooses among.
#pragma once

#include "sim_worker.hpp"
#include "simulation/world/world.hpp"

#include "backend/queued_backend.hpp"
#include "counts.hpp"
#include "thread.hpp"

#include <rkllm_mcp/method.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {

// What workers can do.
namespace worker_methods {

inline constexpr std::array<std::string_view, 2> kParams{"handle", "prompt"};
inline constexpr std::array<std::string_view, 1> kParamsWithoutHandle{"prompt"};

constexpr Method method(std::string_view name, HandleRole role) {
  Method method;
  method.name = name;
  method.handle = role;
  method.params = kParamsWithoutHandle;
  if (role != HandleRole::kUses && role != HandleRole::kDestroys) return method;
  method.params = kParams;
  method.handle_param = "handle";
  return method;
}
constexpr Method streaming(Method method) {
  method.streams = true;
  return method;
}
constexpr Method beside(Method method) {
  method.immediate = true;
  method.aborts = method.name == "abort";
  return method;
}

inline constexpr std::array<Method, 7> kAll{
    method("init", HandleRole::kCreates),        method("destroy", HandleRole::kDestroys),
    streaming(method("run", HandleRole::kUses)), method("plain", HandleRole::kUses),
    beside(method("abort", HandleRole::kUses)),  beside(method("is_running", HandleRole::kUses)),
    method("version", HandleRole::kNone)};
inline constexpr const Method& kInit = kAll[0];
inline constexpr const Method& kDestroy = kAll[1];
inline constexpr const Method& kRun = kAll[2];
inline constexpr const Method& kPlain = kAll[3];
inline constexpr const Method& kAbort = kAll[4];
inline constexpr const Method& kIsRunning = kAll[5];
inline constexpr const Method& kVersion = kAll[6];

}  // namespace worker_methods

class WorkerBackend {
 public:
  static constexpr std::size_t kMostModels = 3;

  explicit WorkerBackend(World& world);
  WorkerBackend(const WorkerBackend&) = delete;
  WorkerBackend& operator=(const WorkerBackend&) = delete;

  QueuedBackend& queues() { return *backend_; }  // until it ends
  bool has_queues() const { return backend_ != nullptr; }
  SimWorkers& workers() { return workers_; }
  const SimWorkers& workers() const { return workers_; }

  // A model is gone although nobody destroyed it. Called on one of the backend's threads.
  void when_lost(std::function<void(const std::string& handle)> lost) { lost_ = std::move(lost); }
  bool has_failed_worker(const std::string& handle) const;  // whether any worker that had this handle's model failed
  bool has_failed_latest_worker(
      const std::string& handle) const;  // only the last such worker: a handle is used again if its loading failed
  bool any_worker_has_ended() const;
  // Asked after each step: a model whose worker has ended is gone soon. Throws a Violation.
  void check();

  // In a thread of its own, since it waits.
  void end();
  bool is_ending() const { return ending_.joinable(); }
  bool is_over() const { return is_over_; }
  // To be called when the schedule has failed: ends what can still be ended.
  void abandon();

 private:
  static constexpr int kStepsToEnd = 5'000;

  const SimWorker* latest_worker(const std::string& handle) const;  // null: none has had a model of it

  World& world_;
  SimWorkers workers_;
  Counts counts_;
  std::function<void(const std::string& handle)> lost_ = [](const std::string&) {};
  std::unique_ptr<QueuedBackend> backend_;
  std::map<std::string, int> steps_since_end_;  // by handle: since its worker ended
  Thread ending_;
  bool is_over_ = false;
};

}  // namespace rkllm_mcp::simulation
