// Makes calls in worker processes: one for each model, or one for all. A worker that dies takes its models with it and
// nothing else; the next rkllm_init gets a new one.
#pragma once

#include "backend/engine.hpp"
#include "backend/runner.hpp"
#include "thread.hpp"
#include "worker/worker_connection.hpp"
#include "worker/worker_process.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

class WorkerEngine final : public Engine {
 public:
  struct Options {
    asio::io_context& loop;  // reads what runs produce
    WorkerProcess::Command command;
    bool one_for_all = false;
    std::chrono::milliseconds hang{};  // a worker that is silent for longer is killed
    // Every line that a worker prints, with the worker's process id. Any thread.
    std::function<void(pid_t, std::string_view)> line = [](pid_t, std::string_view) {};
  };

  explicit WorkerEngine(Options options) : options_(std::move(options)) {}

  // Starts a worker and waits until its library is loaded; kill() ends the waiting. Throws RpcError
  // kRuntimeUnavailable.
  void try_out();

  std::unique_ptr<Model> new_model(const std::string& id, LostFunction lost) override;
  CallOutcome call(const CallRequest& request) override;
  bool kill() override;

  // For models.
  const Options& options() const { return options_; }
  // For models and for call(): the idle worker, which is started if there is none. A model takes it away, unless all
  // models share one worker. Throws RpcError kRuntimeUnavailable.
  enum class For { kCalls, kModel };
  std::shared_ptr<WorkerProcess> worker_for(For use);

 private:
  void spawn();  // the idle worker, with mutex_ held; throws RpcError kRuntimeUnavailable

  const Options options_;
  Mutex mutex_;
  bool killed_ = false;                  // nothing is started any more; guarded by mutex_, like the rest
  std::shared_ptr<WorkerProcess> idle_;  // serves calls without a handle, and the next model
  std::vector<std::weak_ptr<WorkerProcess>> all_;
  // For call(), which one thread at a time calls: its connection, and the worker at the other end. A worker that a
  // model has taken is not kept alive by these two.
  std::optional<WorkerConnection> calls_;
  std::weak_ptr<WorkerProcess> called_;
  // A worker is told to die with the thread that started it, so that has to be one that lives as long as this.
  Runner spawner_;
};

}  // namespace rkllm_mcp
