#include "backend/queued_backend.hpp"

#include "backend/kept_caches.hpp"
#include "jsonrpc/envelope.hpp"
#include "put_back.hpp"
#include "run_loop.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <utility>

namespace rkllm_mcp {
namespace {

// The figures of a run of one token (the chat host warms models up by such) say nothing of a model's speed: they do not
// take the place of those of an answer.
void note_perf(Json& last, const Json& perf) {
  const bool is_answer = perf.is_object() && perf.contains("generate_tokens") && perf["generate_tokens"].is_number() &&
                         perf["generate_tokens"].get<double>() > 1;
  if (is_answer || last.is_null()) last = perf;
}

constexpr std::chrono::milliseconds kForTheKilled{300};  // calls end soon after what makes them has been killed

// What a lease is in a queue, among calls.
constexpr Method kLease{.name = "lease",
                        .title = {},
                        .description = {},
                        .declaration = {},
                        .params = {},
                        .handle_param = "handle",
                        .handle = HandleRole::kUses,
                        .input_schema = {},
                        .output_schema = {}};

// For calls that the backend makes for itself. `ended` may be null.
class TellsEnd final : public CallObserver {
 public:
  explicit TellsEnd(QueuedBackend::EndedFunction ended) : ended_(std::move(ended)) {}
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override {
    if (ended_) ended_(outcome.error);
  }

 private:
  const QueuedBackend::EndedFunction ended_;
};

RpcError lease_has_ended() {
  return {ErrorCode::kUnknownHandle, "the model is not loaded any more", Json{{"handles", Json::array()}}};
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
  if (const auto infer = params.find("rkllm_infer_params"); infer != params.end() && infer->is_object()) {
    const auto own = infer->find("max_new_tokens");
    if (own != infer->end() && own->is_number_integer() && own->get<std::int64_t>() > 0)
      limit = own->get<std::int64_t>();
  }
  if (limit <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(limit);
}

// Whether a run that failed has changed nothing in the model, or has been completed and only its cache was not saved.
bool has_left_alone(const CallOutcome& outcome) {
  return as_rpc_error(outcome.error).code() == ErrorCode::kInvalidParams || is_only_not_saved(outcome);
}

}  // namespace

QueuedBackend::QueuedBackend(std::unique_ptr<Engine> engine, std::span<const Method> methods, const Limits& limits)
    : engine_(std::move(engine)),
      destroy_(find_method(methods, HandleRole::kDestroys)),
      limits_(limits),
      handles_(limits.handles, limits.counts),
      handleless_(mutex_, CallQueue::Positions::kUntold) {
  handleless_.start([this] { run_queued(handleless_, nullptr); });
}

QueuedBackend::~QueuedBackend() {
  constexpr std::chrono::seconds kPatience{10};
  if (!shutting_down_) shut_down(Clock::now() + kPatience);
  std::map<std::string, std::shared_ptr<ModelHandle>> left;  // they go before the tables, which their threads use
  std::unique_lock lock(mutex_);
  change_.wait(lock, [this] { return jobs_.empty(); });  // a call that ends at last still uses all of this
  left = handles_.take_all();
  lock.unlock();
}

Backend::CallId QueuedBackend::start(CallRequest request) {
  const auto job = std::make_shared<QueuedCall>(std::move(request));
  try {
    const std::lock_guard lock(mutex_);
    assign_handle(*job);
    const auto add = [&] {
      jobs_.emplace(job->request.id, job);
      queue_of(*job).add(*job);
    };
    or_else(add, [&] {
      jobs_.erase(job->request.id);
      if (job->request.method->handle == HandleRole::kDestroys) job->handle->closing = false;
    });
  } catch (...) {
    refuse(*job, std::current_exception());
  }
  return job->request.id;
}

Backend::CallId QueuedBackend::lease(const std::string& handle, CallRequest request) {
  request.method = &kLease;
  request.params = Json{{"handle", handle}};
  return start(std::move(request));
}

bool QueuedBackend::can_use_lease(const QueuedCall& lease) const {
  return !shutting_down_ && lease.handle && lease.handle->queue.holder() == &lease && !lease.ending;
}

Backend::CallId QueuedBackend::start_leased(CallId lease, CallRequest request) {
  const auto job = std::make_shared<QueuedCall>(std::move(request));
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(lease);
  if (found == jobs_.end() || !can_use_lease(*found->second)) {
    refuse(*job, std::make_exception_ptr(lease_has_ended()));
    return job->request.id;
  }
  job->lease = found->second;
  job->handle = job->lease->handle;
  jobs_.emplace(job->request.id, job);
  job->handle->queue.add(*job);
  return job->request.id;
}

void QueuedBackend::end_lease(CallId lease) {
  const std::lock_guard lock(mutex_);
  if (const auto found = jobs_.find(lease); found != jobs_.end()) stop(*found->second);
}

void QueuedBackend::let_go(QueuedCall& lease) {
  if (std::exchange(lease.ending, true) || lease.state == QueuedCall::State::kDone) return;
  ModelHandle& handle = *lease.handle;
  while (!lease.leased.empty()) end_waiting(*lease.leased.front(), cancelled());
  if (handle.queue.running()) {
    stop(*handle.queue.running());  // note_handle_change() goes on from here
  } else {
    end_held(lease);
  }
}

void QueuedBackend::end_held(QueuedCall& lease) {
  auto kept = lease.shared_from_this();  // the queue lets go of it
  lease.handle->last_used = Clock::now();
  lease.state = QueuedCall::State::kDone;
  lease.handle->queue.release();
  notices_.post([this, kept = std::move(kept)] { finish(*kept, CallOutcome()); });
}

bool QueuedBackend::grant(ModelHandle& handle, QueuedCall& lease) {
  if (handle.lost || !handle.model->loaded()) return false;
  handle.queue.hold(lease);
  lease.observer().on_begun(std::nullopt);  // with the mutex held: its end cannot be told before
  return true;
}

bool QueuedBackend::destroy_in_order(const std::string& handle, EndedFunction ended) {
  const std::lock_guard lock(mutex_);
  ModelHandle* const found = handles_.find(handle);
  if (found == nullptr || found->closing || destroy_ == nullptr || shutting_down_) return false;
  destroy_unasked(*found, std::move(ended));
  return true;
}

std::optional<QueuedBackend::HandleUse> QueuedBackend::use_of(const std::string& handle) const {
  const std::lock_guard lock(mutex_);
  const ModelHandle* const found = handles_.find(handle);
  if (found == nullptr || found->closing) return std::nullopt;
  const ModelHandle& that = *found;
  HandleUse use;
  use.load = that.load;
  use.file = that.file;
  use.waiting = that.queue.waiting().size();
  use.in_use = that.queue.is_in_use() || use.waiting > 0;
  use.last_used = that.last_used;
  use.foreign_changes = that.foreign_changes;
  use.process = that.process;
  return use;
}

std::optional<pid_t> QueuedBackend::loading_process(CallId init) const {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(init);
  if (found == jobs_.end() || !found->second->handle) return std::nullopt;
  return found->second->handle->model->loading_in();
}

std::vector<QueuedBackend::Load> QueuedBackend::loads() const {
  const std::lock_guard lock(mutex_);
  std::vector<Load> all;
  const auto now = Clock::now();
  for (const auto& [id, job] : jobs_) {
    const bool loads = job->request.method != nullptr && job->request.method->handle == HandleRole::kCreates;
    if (!loads || !job->handle || job->abandoned) continue;
    Load load{id,
              job->request.source.model,
              model_path_in(job->request.params),
              job->handle->model->loading_in(),
              now - job->queued_at,
              {}};
    if (const auto before = load_times_.find(load.path); before != load_times_.end()) load.before = before->second;
    all.push_back(std::move(load));
  }
  return all;
}

void QueuedBackend::refuse(QueuedCall& job, const std::exception_ptr& error) {
  // Not from inside start(): its caller is promised that.
  notices_.post([job = job.shared_from_this(), error] {
    CallOutcome outcome;
    outcome.error = error;
    job->observer().on_done(std::move(outcome));
  });
}

void QueuedBackend::assign_handle(QueuedCall& job) {
  const Method& method = *job.request.method;
  if (shutting_down_) throw runtime_unavailable("the server is shutting down");
  if (method.handle == HandleRole::kNone) return;
  if (method.handle == HandleRole::kCreates) {
    create_handle(job);
    job.handle->load = job.request.id;
    job.handle->name = job.request.source.model;
    return;
  }
  job.handle = handles_.meant_by(method, job.request.params).shared_from_this();
  if (method.immediate) return;
  ModelHandle& handle = *job.handle;
  const auto& waiting = handle.queue.waiting();
  if (waiting.size() >= limits_.queued_per_handle) {
    count(limits_.counts, Limit::kQueueLength);
    throw RpcError(ErrorCode::kQueueFull, "the queue of handle " + handle.id + " is full",
                   Json{{"queued", waiting.size()}, {"limit", limits_.queued_per_handle}});
  }
  const std::string& holder = job.request.source.holder;
  const auto is_theirs = [&holder](const auto& each) { return each->request.source.holder == holder; };
  const auto theirs = holder.empty() ? 0 : std::ranges::count_if(waiting, is_theirs);
  if (static_cast<std::size_t>(theirs) >= limits_.queued_per_holder) {
    count(limits_.counts, Limit::kQueueLength);
    throw RpcError(
        ErrorCode::kQueueFull,
        "this access token has as many places in the queue of handle " + handle.id + " as queue.max_per_token allows",
        Json{{"queued", theirs}, {"limit", limits_.queued_per_holder}});
  }
  if (method.handle == HandleRole::kDestroys) {
    handle.closing = true;
    stop_everything_on(handle);
  }
}

// If this throws, the job keeps the half-made handle, since a handle must not be destroyed while the mutex is held.
void QueuedBackend::create_handle(QueuedCall& job) {
  const auto handle = job.handle = handles_.make(mutex_);
  handle->model = engine_->new_model(
      handle->id, [this, id = handle->id, of = handle.get()](const RpcError& why) { lose(id, of, why); });
  handle->queue.start([this, of = handle.get()] { run_queued(of->queue, of); });
  handle->beside.start([this, of = handle.get()] { run_beside(*of); });
  handles_.add(*handle);
}

CallQueue& QueuedBackend::queue_of(const QueuedCall& job) {
  if (!job.handle) return handleless_;
  return job.request.method->immediate ? job.handle->beside : job.handle->queue;
}

void QueuedBackend::cancel(CallId id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  if (found->second->handle && is_put_back("what cancels a call cancels all of its model"))
    stop_everything_on(*found->second->handle);
  stop(*found->second);
}

void QueuedBackend::give_up(CallId id, const RpcError& why) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second->state != QueuedCall::State::kWaiting) return;
  count(limits_.counts, Limit::kQueueTime);
  end_waiting(*found->second, why);
}

void QueuedBackend::stop(QueuedCall& job) {
  if (job.state == QueuedCall::State::kRunning && job.request.method == &kLease) {
    let_go(job);
  } else if (job.state == QueuedCall::State::kRunning) {
    const Method& method = *job.request.method;
    if (method.streams) job.handle->model->stop_run();
    if (method.handle == HandleRole::kCreates) {
      job.abandoned = true;
      job.handle->model->stop_loading();
    }
  }
  end_waiting(job, cancelled());
}

void QueuedBackend::end_waiting(QueuedCall& job, const RpcError& why) {
  if (job.state != QueuedCall::State::kWaiting) return;
  auto kept = job.shared_from_this();  // the queue lets go of it
  job.state = QueuedCall::State::kDone;
  queue_of(job).remove(job);
  if (is_put_back("a call that has left its queue is kept until the one ahead has ended") && job.handle &&
      job.handle->queue.running())
    job.handle->queue.running()->leased.push_back(kept);
  notices_.post([this, kept = std::move(kept), why] {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(why);
    finish(*kept, std::move(outcome));
  });
}

void QueuedBackend::stop_everything_on(ModelHandle& handle) {
  for (const auto& [id, job] : jobs_) {
    const Method& method = *job->request.method;
    // What is still being created is destroyed when it is there.
    const bool is_kept =
        method.handle == HandleRole::kDestroys || (method.handle == HandleRole::kCreates && !shutting_down_);
    if (job->handle.get() == &handle && !method.immediate && !is_kept) stop(*job);
  }
}

void QueuedBackend::destroy_unasked(ModelHandle& handle, EndedFunction ended) {
  if (handle.closing || destroy_ == nullptr) return;
  handle.closing = true;
  const auto job = std::make_shared<QueuedCall>(CallRequest{
      .method = destroy_, .params = Json::object(), .observer = std::make_shared<TellsEnd>(std::move(ended))});
  job->handle = handle.shared_from_this();
  jobs_.emplace(job->request.id, job);
  queue_of(*job).add(*job);
}

QueuedBackend::Taken QueuedBackend::take_queued(CallQueue& queue, ModelHandle* handle) {
  // An rkllm_abort that is under way is meant for the run before this one.
  std::unique_lock<Mutex> nobody_aborts;
  if (handle != nullptr) nobody_aborts = std::unique_lock(handle->start_mutex);
  const std::lock_guard lock(mutex_);
  Taken taken{queue.next()};
  const auto& job = taken.job;
  if (!job || handle == nullptr) return taken;
  const bool is_granted = job->request.method == &kLease && grant(*handle, *job);
  if (!is_granted) queue.set_running(job);
  queue.tell_positions();
  if (is_granted) return {};  // it is finished when it is ended
  if (handle->lost) {
    taken.refusal = handle->lost;
  } else if (job->request.method->handle != HandleRole::kCreates &&
             (!handle->model->loaded() || is_put_back("a model that is there is taken for one that is not"))) {
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
  CallOutcome outcome;
  outcome.error = refusal;
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

// An rkllm_abort that is under way marks its run before it is made, and takes that back if it was refused.
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
  std::weak_ptr<QueuedCall> meant;   // one that is taken out of its queue meanwhile is not kept
  std::shared_ptr<QueuedCall> kept;  // by a fault that has been put back
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
          if (is_put_back("an abort keeps the run that it is for")) kept = run->shared_from_this();
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
    const bool ends_lease = job.lease && (job.lease->ending || is_put_back("a lease ends with its first call"));
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
  // This may be the last reference, and this thread the handle's own, which cannot wait for itself.
  handle_ends_.post([handle = std::move(handle)] {});
  change_.notify_all();
}

std::vector<QueuedBackend::HandleStatus> QueuedBackend::handles() const {
  const std::lock_guard lock(mutex_);
  std::vector<HandleStatus> all;
  const auto now = Clock::now();
  for (const auto& [id, handle] : handles_.all()) {
    if (!handle->live) continue;
    HandleStatus status{id,
                        handle->name,
                        handle->queue.is_in_use(),
                        {},
                        handle->process,
                        handle->created_with,
                        handle->values,
                        handle->last_perf,
                        false};
    for (const auto& job : handle->queue.waiting()) {
      const CallRequest& request = job->request;
      status.queue.push_back({request.method->name, request.source.id, request.source.transport, now - job->queued_at});
    }
    all.push_back(std::move(status));
  }
  return all;
}

QueuedBackend::Use QueuedBackend::use() const {
  const std::lock_guard lock(mutex_);
  const auto is_live = [](const auto& entry) { return entry.second->live; };
  if (std::ranges::any_of(handles_.all(), is_live)) return Use::kModels;
  if (!handles_.all().empty()) return Use::kLoading;
  return jobs_.empty() ? Use::kIdle : Use::kCalls;
}

bool QueuedBackend::shut_down(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  shutting_down_ = true;
  for (const auto& [id, handle] : handles_.all()) {
    stop_everything_on(*handle);
    destroy_unasked(*handle);
  }
  const auto all_done = [this] { return jobs_.empty(); };
  if (change_.wait_until(lock, deadline, all_done)) return true;
  lock.unlock();
  const bool killed = engine_->kill();
  lock.lock();
  if (killed && change_.wait_for(lock, kForTheKilled, all_done)) return true;
  abandon_all(lock);
  return false;
}

void QueuedBackend::abandon_all(std::unique_lock<Mutex>& lock) {
  std::vector<std::shared_ptr<QueuedCall>> untold;
  for (const auto& [id, job] : jobs_) {
    if (job->state != QueuedCall::State::kDone && !std::exchange(job->given_up, true)) untold.push_back(job);
  }
  lock.unlock();
  for (const auto& job : untold) {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(
        runtime_unavailable("the server is shutting down, and the runtime did not stop in time"));
    job->observer().on_done(std::move(outcome));
  }
}

}  // namespace rkllm_mcp
