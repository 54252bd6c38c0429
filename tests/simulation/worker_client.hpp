// Who has models in worker processes: the queues of the backend, and all of the server's side of workers, with threads
// that the schedule chooses among. Loads models, runs them, stops runs, asks beside them, does not read, destroys
// models.
#pragma once

#include "client.hpp"
#include "sim_worker.hpp"
#include "worker_call.hpp"
#include "world.hpp"

#include "backend/queued_backend.hpp"
#include "counts.hpp"
#include "thread.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

class WorkerClient : public Client, public std::enable_shared_from_this<WorkerClient> {
 public:
  WorkerClient(World& world, std::string name);
  void start() override;
  void settle() override;
  bool is_done() const override { return is_over_; }
  std::string owed() const override;
  void check() override;
  void abandon() override;

 private:
  struct Started {
    std::shared_ptr<WorkerCall> call;
    Backend::CallId id = 0;
    int steps_since_end = 0;
  };

  void plan();
  void act();
  void load();
  void call(const Method& method);
  void begin(const Method& method, const std::string& handle, std::size_t tokens);
  void excuse(const std::string& handle);
  void cancel();  // one of the calls
  void cancel(const Started& one);
  void set_reading(bool reading);
  void go_on_settling();
  void end();
  bool has_failed_worker(const std::string& handle) const;
  bool any_worker_has_ended() const;

  static constexpr int kStepsToEnd = 5'000;

  World& world_;
  const std::string name_;
  SimWorkers workers_;
  Counts counts_;
  std::unique_ptr<QueuedBackend> backend_;
  std::vector<Started> calls_;
  std::vector<std::string> handles_;            // of models that are loaded, or were
  std::set<std::string> destroyed_;             // of these
  std::map<std::string, int> steps_since_end_;  // of the worker of a handle
  int sleeps_for_ = 0;
  bool settled_ = false;
  Thread ending_;
  bool is_over_ = false;
};

}  // namespace rkllm_mcp::simulation
