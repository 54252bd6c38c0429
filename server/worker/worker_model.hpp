// A model in a worker. Calls go over two sockets: one for those that go in order, one for those beside them.
#pragma once

#include "backend/engine.hpp"
#include "thread.hpp"
#include "worker/worker_connection.hpp"
#include "worker/worker_engine.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace rkllm_mcp {

class WorkerModel final : public Model {
 public:
  WorkerModel(WorkerEngine& engine, std::string id, Engine::LostFunction lost)
      : engine_(engine), id_(std::move(id)), lost_(std::move(lost)) {}
  ~WorkerModel() override;

  void begin_run(CallObserver& observer) override;
  CallOutcome call(const CallRequest& request) override;
  CallOutcome call_beside(const CallRequest& request) override;
  void stop_run() override;
  void stop_loading() override;
  std::optional<pid_t> loading_in() const override;
  bool loaded() const override { return loaded_; }
  Values values() const override { return in_order_ ? in_order_->handle_values() : Values(); }
  std::optional<pid_t> process() const override;

 private:
  CallOutcome create(const CallRequest& request);
  CallOutcome destroy(const CallRequest& request);
  CallOutcome failed();
  void add_printed(WorkerConnection::End& end) const;  // what the worker has printed during a call that has succeeded
  std::size_t entries() const;                         // of a run's batch
  void lose(const RpcError& why);
  bool stop_once();  // false if the worker could not be told: it is to be told again
  void leave_worker();

  WorkerEngine& engine_;
  const std::string id_;
  const Engine::LostFunction lost_;

  std::shared_ptr<WorkerProcess> worker_;
  std::optional<WorkerConnection> in_order_;  // to worker_, and ends before it: for calls one after the other
  std::optional<WorkerConnection> beside_;    // to worker_, and ends before it: for calls beside a run
  CallObserver* observer_ = nullptr;          // of the latest run; nobody stops one whose call has ended
  std::uint32_t run_ = 0;                     // its number on in_order_
  Mutex stopping_;
  bool run_is_stopped_ = false;  // its worker has been told; guarded by stopping_

  Mutex loading_;
  bool abandoned_ = false;                     // guarded by loading_
  std::weak_ptr<WorkerProcess> loading_in_{};  // guarded by loading_
  std::atomic<pid_t> loading_process_{0};      // 0: none

  std::atomic<bool> loaded_{false};
  Mutex losing_;
};

}  // namespace rkllm_mcp
