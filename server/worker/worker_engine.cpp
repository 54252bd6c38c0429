#include "worker/worker_engine.hpp"

#include "faults.hpp"
#include "worker/worker_connection.hpp"
#include "worker/worker_model.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <exception>
#include <future>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr int kMostTries = 3;

}  // namespace

void WorkerEngine::try_out() {
  for (int tries = 1;; ++tries) {
    const auto worker = worker_for(For::kCalls);
    try {
      // A socket pair of its own, so that calls may be made on others meanwhile.
      return WorkerConnection(*worker, worker->open({}).first, options_.hang, options_.loop).ping();
    } catch (const RpcError&) {
      // A model may have taken this worker meanwhile, and its loading may have ended it.
      const std::lock_guard lock(mutex_);
      if (killed_ || idle_ == worker || tries == kMostTries) throw;
    }
  }
}

std::unique_ptr<Model> WorkerEngine::new_model(const std::string& id, LostFunction lost) {
  return std::make_unique<WorkerModel>(*this, id, std::move(lost));
}

CallOutcome WorkerEngine::call(const CallRequest& request) {
  try {
    const auto worker = worker_for(For::kCalls);
    // The line to a worker that a model has taken stays open until the next call.
    if (called_.lock() != worker) {
      calls_.emplace(*worker, worker->open({}).first, options_.hang, options_.loop);
      called_ = worker;
    }
    return calls_->call(request).outcome;
  } catch (...) {
    called_.reset();  // the next call tries with a line of its own
    return {.error = std::current_exception()};
  }
}

bool WorkerEngine::kill() {
  const std::lock_guard lock(mutex_);
  killed_ = true;
  if (has_fault("workers are left alive at the end")) return true;
  for (const auto& each : all_) {
    if (const auto worker = each.lock()) worker->kill();
  }
  return true;
}

std::shared_ptr<WorkerProcess> WorkerEngine::worker_for(For use) {
  const std::lock_guard lock(mutex_);
  if (!idle_ || idle_->ended()) spawn();
  return use == For::kModel && !options_.one_for_all ? std::exchange(idle_, nullptr) : idle_;
}

void WorkerEngine::spawn() {
  if (killed_) throw runtime_unavailable("the server is shutting down");
  std::erase_if(all_, [](const auto& each) { return each.expired(); });
  all_.reserve(all_.size() + 1);  // before there is a worker, which kill() has to know
  std::exception_ptr failure;
  spawner_.execute([&] {
    try {
      // The process's number is known before anything that it prints is read.
      std::promise<pid_t> number;
      const std::shared_future<pid_t> id = number.get_future();
      idle_ = std::make_shared<WorkerProcess>(
          options_.command, [this, id](std::string_view line) { options_.line(id.get(), line); }, options_.hang);
      number.set_value(idle_->id());
    } catch (...) {
      failure = std::current_exception();
    }
  });
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const std::system_error& error) {
    throw runtime_unavailable(error.what());
  }
  all_.push_back(idle_);
  if (has_fault("workers are left alive at the end")) static_cast<void>(new auto(idle_));
}

}  // namespace rkllm_mcp
