// What QueuedBackend does on the threads of its queues: the next call is taken, made and finished.
#include "backend/kept_caches.hpp"
#include "backend/queued_backend.hpp"
#include "faults.hpp"
#include "json_members.hpp"
#include "jsonrpc/envelope.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace rkllm_mcp {
namespace {

// The figures of a run of one token (the chat host warms models up by such) say nothing of a model's speed: they do not
// take the place of those of an answer.
void note_perf(Json& last, const Json& perf) {
  const bool is_answer = number_in(perf, "generate_tokens").value_or(0) > 1;
  if (is_answer || last.is_null()) last = perf;
}

// Whether a call may change what the model keeps from one call to the next.
bool may_change(const Method& method) { return !method.immediate && !method.annotations.read_only; }

RpcError loading_cancelled() {
  return {ErrorCode::kCancelled, "the loading of the model was cancelled", Json{{"began", true}}};
}

// The most tokens that a run will generate: its own limit, else the one that the model was loaded with.
std::optional<std::uint64_t> token_limit_of(const Json& params, const Model::Values& values) {
  // Nothing is checked yet: the stub will do that.
  const auto general = values.find("max_new_tokens");
  std::int64_t limit = general == values.end() ? 0 : general->second;
  if (const Json* const infer = member_of(params, "rkllm_infer_params")) {
    if (const auto own = integer_in(*infer, "max_new_tokens").value_or(0); own > 0) limit = own;
  }
  if (limit <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(limit);
}

// Whether a run that failed has changed nothing in the model, or has been completed and only its cache was not saved.
bool has_left_alone(const CallOutcome& outcome) {
  return as_rpc_error(outcome.error).code() == ErrorCode::kInvalidParams || is_only_not_saved(outcome);
}

}  // namespace

QueuedBackend::Taken QueuedBackend::take_queued(CallQueue& queue, ModelHandle* handle) {
  // An rkllm_abort that is under way is meant for the run before this one.
  std::unique_lock<Mutex> nobody_aborts;
  if (handle != nullptr) nobody_aborts = std::unique_lock(handle->start_mutex);
  const std::lock_guard lock(mutex_);
  Taken taken{queue.next()};
  const auto& job = taken.job;
  if (!job || handle == nullptr) return taken;
  const bool is_granted = is_lease(*job) && !handle->lost && handle->model->loaded();
  if (is_granted) {
    queue.hold(*job);
    job->observer().on_begun(std::nullopt);  // with the mutex held: its end cannot be told before
  } else {
    queue.set_running(job);
  }
  queue.tell_positions();
  if (is_granted) return {};  // finish() is called when the lease ends
  if (handle->lost) {
    taken.refusal = handle->lost;
  } else if (job->request.method->handle != HandleRole::kCreates &&
             (!handle->model->loaded() || has_fault("a model that is there is taken for one that is not"))) {
    // The model could not be loaded after all.
    taken.refusal = std::make_exception_ptr(unknown_handle(handle->id, handles_.live_ids()));
  } else if (job->request.method->streams) {
    handle->model->begin_run(job->observer());
  }
  if (taken.refusal) job->state = QueuedCall::State::kDone;
  return taken;
}

void QueuedBackend::run_queued(CallQueue& queue, ModelHandle* handle) {
  const auto [job, refusal] = take_queued(queue, handle);
  if (!job) return;
  const CallRequest& request = job->request;
  CallOutcome outcome{.error = refusal};
  if (!refusal) {
    if (request.method->streams) job->observer().on_begun(token_limit_of(request.params, handle->values));
    if (handle == nullptr) {
      outcome = engine_->call(request);
    } else if (request.method->handle == HandleRole::kCreates) {
      outcome = create(request, *handle);
    } else {
      std::unique_lock<Mutex> nobody_else;  // may use a model that is being destroyed
      if (request.method->handle == HandleRole::kDestroys) nobody_else = std::unique_lock(handle->start_mutex);
      outcome = handle->model->call(request);
    }
  }
  if (handle != nullptr) await_abort(*handle, *job);
  finish(*job, std::move(outcome));
}

// Waits until start_mutex is free: before, run_beside() may still set run.aborted back, if the abort is refused.
void QueuedBackend::await_abort(ModelHandle& handle, const QueuedCall& run) {
  {
    const std::lock_guard lock(mutex_);
    if (!run.aborted) return;
  }
  const std::lock_guard starting(handle.start_mutex);
}

// While nothing runs, the run that is about to begin is meant, unless it was sent after the abort.
QueuedCall* QueuedBackend::run_to_abort(const ModelHandle& handle, const QueuedCall& abort) {
  const CallQueue& queue = handle.queue;
  if (queue.running()) return queue.running();
  if (queue.holder() || queue.waiting().empty()) return nullptr;
  QueuedCall& next = *queue.waiting().front();
  if (next.request.id > abort.request.id) return nullptr;
  return next.request.method->streams ? &next : nullptr;
}

void QueuedBackend::run_beside(ModelHandle& handle) {
  std::shared_ptr<QueuedCall> job;
  CallOutcome outcome;
  std::weak_ptr<QueuedCall> meant;   // weak: a run that leaves its queue meanwhile is not kept
  std::shared_ptr<QueuedCall> kept;  // null, unless a test has switched a fault on
  {
    const std::lock_guard starting(handle.start_mutex);  // no other run begins meanwhile
    {
      const std::lock_guard lock(mutex_);
      job = handle.beside.next();
      if (!job) return;
      if (handle.lost) {
        outcome.error = handle.lost;
      } else if (!handle.live || !handle.model->loaded()) {
        outcome.error = std::make_exception_ptr(unknown_handle(handle.id, handles_.live_ids()));
      } else if (job->request.method->aborts) {
        if (QueuedCall* const run = run_to_abort(handle, *job)) {
          run->aborted = true;  // before the library can end it
          meant = run->weak_from_this();
          if (has_fault("an abort keeps the run that it is for")) kept = run->shared_from_this();
        }
      }
    }
    if (!outcome.error) outcome = handle.model->call_beside(job->request);
    if (const auto run = meant.lock()) {
      const std::lock_guard lock(mutex_);
      run->aborted = outcome.error == nullptr;
      if (run->aborted) stop(*run);
    }
  }
  finish(*job, std::move(outcome));
}

CallOutcome QueuedBackend::create(const CallRequest& request, ModelHandle& handle) {
  const std::string path = model_path_in(request.params);
  const std::string before = path.empty() ? path : identity_of_file_(path);
  CallOutcome outcome = handle.model->call(request);
  // If the file was replaced during the call, it is not known which of the two was loaded.
  const bool is_certain = !outcome.error && !before.empty() && identity_of_file_(path) == before;
  if (is_certain) {
    const std::lock_guard lock(mutex_);
    handle.file = before;
  }
  return outcome;
}

void QueuedBackend::note_handle_change(const QueuedCall& job, const CallOutcome& outcome) {
  ModelHandle& handle = *job.handle;
  const HandleRole role = job.request.method->handle;
  const bool succeeded = outcome.error == nullptr;
  if (handle.queue.running() == &job) {
    handle.queue.set_running(nullptr);
    handle.last_used = Clock::now();
    handle.values = handle.model->values();
    handle.process = handle.model->process();
    const bool has_failed = job.request.method->streams && !succeeded && !has_left_alone(outcome);
    const bool is_foreign = !job.lease && role != HandleRole::kCreates && may_change(*job.request.method);
    if (has_failed || is_foreign) ++handle.foreign_changes;
    const bool ends_lease = job.lease && (job.lease->ending || has_fault("a lease ends with its first call"));
    if (ends_lease) end_held(*job.lease);
  }
  if (outcome.values.contains("perf")) note_perf(handle.last_perf, outcome.values["perf"]);
  if (role == HandleRole::kCreates) {
    handle.live = succeeded;
    handle.created_with = job.request.params;
    if (succeeded) note_load_time(job);
  }
  if (role == HandleRole::kDestroys) handle.closing = succeeded;
  const bool gone = (role == HandleRole::kCreates && !succeeded) || (role == HandleRole::kDestroys && succeeded);
  if (gone) handles_.remove(handle);
  if (role == HandleRole::kCreates && !succeeded) handles_.give_back(handle);
}

void QueuedBackend::note_load_time(const QueuedCall& job) {
  constexpr std::size_t kMostFiles = 1000;
  const std::string path = model_path_in(job.request.params);
  if (path.empty()) return;
  if (load_times_.size() >= kMostFiles) load_times_.clear();
  load_times_.insert_or_assign(path, Clock::now() - job.queued_at);
}

void QueuedBackend::lose(const std::string& id, const ModelHandle* lost, const RpcError& why) {
  const std::lock_guard lock(mutex_);
  ModelHandle* const found = handles_.find(id);
  if (found != lost) return;  // another one has its number now
  auto handle = found->shared_from_this();
  handle->lost = std::make_exception_ptr(why);  // for the calls that are still in its queue
  handles_.remove(*handle);
  if (!shutting_down_) notices_.post([this, id] { lost_(id); });
  // The last reference must not go on this thread, which may be the model's own.
  handle_ends_.post([handle = std::move(handle)] {});
}

void QueuedBackend::finish(QueuedCall& job, CallOutcome outcome) {
  std::shared_ptr<ModelHandle> handle;
  bool given_up = false;
  {
    const std::lock_guard lock(mutex_);
    outcome.aborted = outcome.aborted || job.aborted;
    if (job.handle) {
      outcome.handle = job.handle->id;
      note_handle_change(job, outcome);
    }
    if (job.abandoned) {
      if (!outcome.error) {  // loaded all the same, for nobody
        stop_everything_on(*job.handle);
        destroy_unasked(*job.handle);
      }
      outcome.error = std::make_exception_ptr(loading_cancelled());
    }
    job.state = QueuedCall::State::kDone;
    handle = std::move(job.handle);
    given_up = job.given_up;
  }
  if (!given_up) job.observer().on_done(std::move(outcome));
  const std::lock_guard lock(mutex_);
  jobs_.erase(job.request.id);
  change_.notify_all();
  // Where this is the last reference to a handle that is gone, it must not go on this thread, which may be the handle's
  // own, and cannot wait for itself. Most handles stay: no thread is woken for them.
  if (handle && !handles_.holds(*handle)) handle_ends_.post([handle = std::move(handle)] {});
  handle = nullptr;  // with the mutex: until it is released, the table cannot let go of it
}

}  // namespace rkllm_mcp
