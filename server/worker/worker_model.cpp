#include "worker/worker_model.hpp"

#include "backend/logged_errors.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::seconds kToEnd{1};
// A longer frame could have to wait for room in the socket for calls beside, and stop_run(), which uses it, must not.
constexpr std::size_t kMostBytesBeside = 32 * 1024;
constexpr std::int64_t kMostEntries = 255;  // of a batch: C counts them in a byte

}  // namespace

WorkerModel::~WorkerModel() { leave_worker(); }

void WorkerModel::leave_worker() {
  if (!worker_) return;
  if (!has_fault("who stops a loading may wait for its worker's end")) {
    const std::lock_guard lock(loading_);
    loading_in_.reset();
  }
  worker_->forget(this);
  loading_process_ = 0;
  beside_.reset();
  in_order_.reset();
  worker_.reset();
}

CallOutcome WorkerModel::call(const CallRequest& request) {
  try {
    const HandleRole role = request.method->handle;
    if (role == HandleRole::kCreates) return create(request);
    if (!in_order_) return without_model(id_);
    if (role == HandleRole::kDestroys) return destroy(request);
    std::optional<WorkerConnection::Run> run;
    if (request.method->streams)
      run.emplace(WorkerConnection::Run{run_, *observer_, entries(), [this] { return stop_once(); }});
    WorkerConnection::End end = in_order_->call(request, run ? &*run : nullptr);
    add_printed(end);
    return std::move(end.outcome);
  } catch (...) {
    return failed();
  }
}

CallOutcome WorkerModel::call_beside(const CallRequest& request) {
  try {
    if (!beside_) return without_model(id_);
    if (to_text(request.params).size() > kMostBytesBeside) {
      throw InvalidParams("params", "longer than those of " + std::string(request.method->name) + " can be");
    }
    return beside_->call(request).outcome;
  } catch (...) {
    return failed();
  }
}

// Called in a handler: the outcome of a call that has thrown the exception which is being handled. If that says that
// the worker has ended, the model is lost with it.
CallOutcome WorkerModel::failed() {
  CallOutcome outcome{.error = std::current_exception()};
  try {
    throw;
  } catch (const RpcError& error) {
    if (error.code() == ErrorCode::kRuntimeUnavailable) lose(error);
  } catch (...) {
    // A bug, or no memory, before the call was sent or after its reply was read: the worker goes on.
  }
  return outcome;
}

void WorkerModel::add_printed(WorkerConnection::End& end) const {
  if (!end.outcome.error) add_logged_errors(in_order_->logged_errors(), end.outcome);
}

CallOutcome WorkerModel::create(const CallRequest& request) {
  worker_ = engine_.worker_for(WorkerEngine::For::kModel);
  {
    const std::lock_guard lock(loading_);
    if (!engine_.options().one_for_all) loading_in_ = worker_;
    if (abandoned_) worker_->kill();
  }
  if (!engine_.options().one_for_all) loading_process_ = worker_->id();
  auto [in_order, beside] = worker_->open(id_);
  in_order_.emplace(*worker_, std::move(in_order), engine_.options().hang, engine_.options().loop);
  beside_.emplace(*worker_, std::move(beside), engine_.options().hang, engine_.options().loop);
  CallOutcome outcome;
  try {
    WorkerConnection::End end = in_order_->call(request);
    add_printed(end);
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
  bool is_killed = false;
  {
    const std::lock_guard lock(loading_);
    loading_in_.reset();
    is_killed = abandoned_;
  }
  if (is_killed) {  // stop_loading() came just after the model was loaded
    leave_worker();
    throw runtime_unavailable("the loading of the model was cancelled");
  }
  loading_process_ = 0;
  loaded_ = true;
  if (has_fault("a model whose worker has died is kept")) return outcome;
  worker_->when_ended(
      this, [this](const WorkerProcess::End& end) { lose(worker_died(end, worker_->log().errors_since(0))); });
  return outcome;
}

CallOutcome WorkerModel::destroy(const CallRequest& request) {
  WorkerConnection::End end = in_order_->call(request);
  if (end.loaded) return std::move(end.outcome);
  if (end.outcome.error) throw runtime_unavailable("the worker has lost its model");
  loaded_ = false;
  const auto worker = worker_;
  leave_worker();
  if (!engine_.options().one_for_all) worker->end(kToEnd);  // what the model held is certainly free then
  return std::move(end.outcome);
}

void WorkerModel::begin_run(CallObserver& observer) {
  observer_ = &observer;
  run_ = in_order_->new_number();
  const std::lock_guard lock(stopping_);
  run_is_stopped_ = false;
}

void WorkerModel::stop_run() {
  observer_->stop();
  stop_once();
}

bool WorkerModel::stop_once() {
  const std::uint32_t run = has_fault("what stops a run means the one before") ? run_ - 1 : run_;
  const std::lock_guard lock(stopping_);
  if (!run_is_stopped_) run_is_stopped_ = beside_->stop(run);
  return run_is_stopped_;
}

std::size_t WorkerModel::entries() const {
  const Values& known = in_order_->handle_values();
  const auto said = known.find("n_batch");
  if (said == known.end()) return 1;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(said->second, 1, kMostEntries));
}

// A worker that was started for this model alone is killed. A shared one goes on, and with it the loading.
void WorkerModel::stop_loading() {
  const std::lock_guard lock(loading_);
  // This is never the last reference, whose end would wait for the worker's: leave_worker() waits for the lock.
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
