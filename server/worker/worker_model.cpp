#include "worker/worker_model.hpp"

#include "backend/logged_errors.hpp"
#include "jsonrpc/envelope.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::seconds kToEnd{1};
// Longer ones would have to wait, and nothing on that line may: stop_run() uses it.
constexpr std::size_t kMostBytesBeside = 32 * 1024;
constexpr std::int64_t kMostEntries = 255;  // of a batch: C counts them in a byte

}  // namespace

WorkerModel::~WorkerModel() { leave_worker(); }

void WorkerModel::leave_worker() {
  if (!worker_) return;
  worker_->forget(this);
  loading_process_ = 0;
  beside_.reset();
  turn_.reset();
  worker_.reset();
}

// What throws is the worker's end.
template <class Act>
CallOutcome WorkerModel::guarded(const Act& act) {
  CallOutcome outcome;
  try {
    outcome = act();
  } catch (const RpcError& error) {
    if (error.code() == ErrorCode::kRuntimeUnavailable) lose(error);
    outcome.error = std::current_exception();
  } catch (...) {
    outcome.error = std::current_exception();
  }
  return outcome;
}

CallOutcome WorkerModel::call(const CallRequest& request) {
  return guarded([&] {
    const HandleRole role = request.method->handle;
    if (role == HandleRole::kCreates) return create(request);
    if (role == HandleRole::kDestroys) return destroy(request);
    return request.method->streams ? run(request) : make(request).outcome;
  });
}

CallOutcome WorkerModel::call_beside(const CallRequest& request) {
  return guarded([&] {
    if (to_text(request.params).size() > kMostBytesBeside) {
      throw InvalidParams("params", "longer than those of " + std::string(request.method->name) + " can be");
    }
    return beside_->call(request).outcome;
  });
}

WorkerLine::End WorkerModel::make(const CallRequest& request, WorkerLine::Run* run) {
  WorkerLine::End end = run == nullptr ? turn_->call(request) : turn_->call(request, *run, engine_.options().loop);
  values_ = std::move(end.session);
  if (!end.outcome.error) add_logged_errors(turn_->logged_errors(), end.outcome);
  return end;
}

CallOutcome WorkerModel::create(const CallRequest& request) {
  worker_ = engine_.worker_for_model();
  {
    const std::lock_guard lock(loading_);
    if (!engine_.options().one_for_all) loading_in_ = worker_;
    if (abandoned_) worker_->kill();
  }
  if (!engine_.options().one_for_all) loading_process_ = worker_->id();
  auto [turn, beside] = worker_->open(id_);
  turn_.emplace(worker_, std::move(turn), engine_.options().hang);
  beside_.emplace(worker_, std::move(beside), engine_.options().hang);
  CallOutcome outcome;
  try {
    WorkerLine::End end = make(request);
    outcome = std::move(end.outcome);
    if (!outcome.error && (!end.loaded || !outcome.result.is_object())) {
      throw runtime_unavailable("the worker says that it has loaded a model, and has none");
    }
  } catch (...) {
    leave_worker();
    throw;
  }
  if (outcome.error) {
    leave_worker();
    return outcome;
  }
  outcome.result["handle"] = id_;
  {
    const std::lock_guard lock(loading_);
    loading_in_.reset();
  }
  loading_process_ = 0;
  loaded_ = true;
  worker_->when_ended(this, [this](const WorkerProcess::End& end) {
    lose(worker_died(end, worker_->log().errors_since(0)));
  });
  return outcome;
}

CallOutcome WorkerModel::destroy(const CallRequest& request) {
  WorkerLine::End end = turn_->call(request);
  if (end.loaded) return std::move(end.outcome);
  if (end.outcome.error) throw runtime_unavailable("the worker has lost its model");
  loaded_ = false;
  const auto worker = worker_;
  leave_worker();
  if (!engine_.options().one_for_all) worker->end(kToEnd);  // what the model held is certainly free then
  return std::move(end.outcome);
}

void WorkerModel::begin_run(std::shared_ptr<CallObserver> observer) {
  observer_ = std::move(observer);
  run_ = turn_->new_number();
  run_is_stopped_ = false;
}

void WorkerModel::stop_run() {
  observer_->stop();
  stop_once();
}

void WorkerModel::stop_once() {
  if (!run_is_stopped_.exchange(true) && !beside_->stop(run_)) run_is_stopped_ = false;
}

CallOutcome WorkerModel::run(const CallRequest& request) {
  const auto said = values_.find("n_batch");
  const std::int64_t entries = said == values_.end() ? 1 : std::clamp<std::int64_t>(said->second, 1, kMostEntries);
  WorkerLine::Run run{run_, *observer_, static_cast<std::size_t>(entries), [this] { stop_once(); }};
  return make(request, &run).outcome;
}

// A worker of its own holds nothing but this model. One that has others goes on, and so does the loading.
void WorkerModel::stop_loading() {
  const std::lock_guard lock(loading_);
  const auto worker = loading_in_.lock();
  abandoned_ = !engine_.options().one_for_all;
  if (worker) worker->kill();
}

std::optional<pid_t> WorkerModel::loading_in() const {
  const pid_t process = loading_process_;
  return process > 0 ? std::optional(process) : std::nullopt;
}

std::optional<pid_t> WorkerModel::process() const {
  if (!worker_) return std::nullopt;
  return worker_->id();
}

void WorkerModel::lose(const RpcError& why) {
  const std::lock_guard lock(losing_);  // whoever comes second waits until the first has told
  if (!loaded_) return;
  lost_(why);  // first: a call that finds nothing loaded is to find out why
  loaded_ = false;
}

}  // namespace rkllm_mcp
