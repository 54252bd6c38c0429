// A model in a worker. Calls go over two connections: one for those that take their turn, one for those beside.
#pragma once

#include "backend/engine.hpp"
#include "worker/worker_engine.hpp"
#include "worker/worker_line.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace rkllm_mcp {

class WorkerModel final : public Model {
 public:
  WorkerModel(WorkerEngine& engine, std::string id, Engine::LostFunction lost)
      : engine_(engine), id_(std::move(id)), lost_(std::move(lost)) {}
  ~WorkerModel() override;

  void begin_run(std::shared_ptr<CallObserver> observer) override;
  CallOutcome call(const CallRequest& request) override;
  CallOutcome call_beside(const CallRequest& request) override;
  void stop_run() override;
  void stop_loading() override;
  bool loaded() const override { return loaded_; }
  Values values() const override { return values_; }
  std::optional<pid_t> process() const override;

 private:
  template <class Act>
  CallOutcome guarded(const Act& act);
  Json params_of(const CallRequest& request) const;
  void create(const CallRequest& request, CallOutcome& outcome);
  void run(const CallRequest& request, CallOutcome& outcome);
  void destroy(const CallRequest& request, CallOutcome& outcome);
  void take_token(const Json& chunk);
  void lose(const RpcError& why);
  void leave_worker();

  WorkerEngine& engine_;
  const std::string id_;
  const Engine::LostFunction lost_;

  std::shared_ptr<WorkerProcess> worker_;
  std::optional<WorkerLine> queued_;
  std::optional<WorkerLine> beside_;
  std::string id_there_;  // the handle's name in the worker
  Values values_;
  std::shared_ptr<CallObserver> observer_;  // of the latest run

  std::mutex loading_;
  bool abandoned_ = false;                     // guarded by loading_
  std::weak_ptr<WorkerProcess> loading_in_{};  // guarded by loading_

  std::atomic<bool> loaded_{false};
  std::mutex losing_;
};

}  // namespace rkllm_mcp
