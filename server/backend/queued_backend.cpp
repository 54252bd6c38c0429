#include "backend/queued_backend.hpp"

#include "backend/queue_length.hpp"
#include "faults.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <utility>

namespace rkllm_mcp {
namespace {

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

}  // namespace

QueuedBackend::QueuedBackend(std::unique_ptr<Engine> engine, std::span<const Method> methods, const Limits& limits)
    : engine_(std::move(engine)),
      destroy_(find_method(methods, HandleRole::kDestroys)),
      limits_(limits),
      handles_(limits.handles, limits.counts),
      handleless_(mutex_, CallQueue::Positions::kUntold) {
  handleless_.start(std::bind_front(&QueuedBackend::run_queued, this, std::ref(handleless_), nullptr));
}

QueuedBackend::~QueuedBackend() {
  constexpr std::chrono::seconds kPatience{10};
  if (!shutting_down_) shut_down(Clock::now() + kPatience);
  std::map<std::string, std::shared_ptr<ModelHandle>> left;  // destroyed before the tables, which their threads use
  std::unique_lock lock(mutex_);
  change_.wait(lock, [this] { return jobs_.empty(); });  // a call that ends at last still uses all of this
  left = handles_.take_all();
  lock.unlock();
}

Backend::CallId QueuedBackend::start(CallRequest request) {
  const auto job = std::make_shared<QueuedCall>(std::move(request));
  try {
    const std::lock_guard lock(mutex_);
    try {
      assign_handle(*job);
      queue_for(*job).add(*job);
    } catch (...) {
      undo(*job);
      throw;
    }
    if (job->request.method->handle == HandleRole::kDestroys) begin_closing(*job->handle);
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

bool QueuedBackend::is_lease(const QueuedCall& job) { return job.request.method == &kLease; }

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
  try {
    queue_for(*job).add(*job);
  } catch (...) {
    undo(*job);
    refuse(*job, std::current_exception());
  }
  return job->request.id;
}

void QueuedBackend::end_lease(CallId lease) {
  const std::lock_guard lock(mutex_);
  if (const auto found = jobs_.find(lease); found != jobs_.end()) stop(*found->second);
}

void QueuedBackend::let_go(QueuedCall& lease) {
  if (std::exchange(lease.ending, true) || lease.state == QueuedCall::State::kDone) return;
  ModelHandle& handle = *lease.handle;
  try {
    while (!lease.leased.empty()) end_waiting(*lease.leased.front(), cancelled());
    if (handle.queue.running()) {
      stop(*handle.queue.running());  // when it has ended, note_handle_change() ends the lease
    } else {
      end_held(lease);
    }
  } catch (...) {  // for want of memory: it can be ended later
    lease.ending = false;
    throw;
  }
}

void QueuedBackend::end_held(QueuedCall& lease) {
  auto kept = lease.shared_from_this();                           // the queue lets go of it
  notices_.post([this, kept] { finish(*kept, CallOutcome()); });  // first: it may be that there is no memory for it
  lease.handle->last_used = Clock::now();
  lease.state = QueuedCall::State::kDone;
  lease.handle->queue.release();
}

bool QueuedBackend::destroy_in_order(const std::string& handle, EndedFunction ended) {
  const std::lock_guard lock(mutex_);
  ModelHandle* const found = handles_.find(handle);
  if (found == nullptr || found->closing || destroy_ == nullptr || shutting_down_) return false;
  destroy_unasked(*found, std::move(ended));
  return true;
}

void QueuedBackend::refuse(QueuedCall& job, const std::exception_ptr& error) {
  // Posted: Backend::start() promises that on_done() never comes from inside it.
  notices_.post([job = job.shared_from_this(), error] { job->observer().on_done({.error = error}); });
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
  const std::string& holder = job.request.source.holder;
  const auto is_theirs = [&holder](const auto& each) { return each->request.source.holder == holder; };
  const auto theirs = holder.empty() ? 0 : std::ranges::count_if(waiting, is_theirs);
  const QueueLength length{waiting.size(), static_cast<std::size_t>(theirs)};
  const QueueLength most{limits_.queued_per_handle, limits_.queued_per_holder};
  if (const auto full = why_full("handle " + handle.id, length, most, limits_.counts)) throw RpcError(*full);
}

// Undoes what queue_for() and create_handle() have done, perhaps in part. The job keeps the handle, which must not be
// destroyed while the mutex is held.
void QueuedBackend::undo(const QueuedCall& job) {
  jobs_.erase(job.request.id);
  if (!job.handle || job.request.method->handle != HandleRole::kCreates) return;
  handles_.remove(*job.handle);
  handles_.give_back(*job.handle);
}

// The model's destruction is in its queue. Calls before it that there is no memory to end now are made first.
void QueuedBackend::begin_closing(ModelHandle& handle) {
  handle.closing = true;
  try {
    stop_everything_on(handle);
  } catch (const std::bad_alloc&) {
  }
}

// The queue that the job is to be added to. It is one of the jobs from here on, until undo() if it cannot be added.
CallQueue& QueuedBackend::queue_for(QueuedCall& job) {
  jobs_.emplace(job.request.id, job.shared_from_this());
  return queue_of(job);
}

void QueuedBackend::create_handle(QueuedCall& job) {
  const auto handle = job.handle = handles_.make(mutex_);
  handle->model = engine_->new_model(
      handle->id, [this, id = handle->id, of = handle.get()](const RpcError& why) { lose(id, of, why); });
  handle->queue.start(std::bind_front(&QueuedBackend::run_queued, this, std::ref(handle->queue), handle.get()));
  handle->beside.start(std::bind_front(&QueuedBackend::run_beside, this, std::ref(*handle)));
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
  if (found->second->handle && has_fault("what cancels a call cancels all of its model"))
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
  if (job.state == QueuedCall::State::kRunning && is_lease(job)) {
    let_go(job);
  } else if (job.state == QueuedCall::State::kRunning) {
    const Method& method = *job.request.method;
    if (method.streams) job.handle->model->stop_run();
    if (method.handle == HandleRole::kCreates) {
      job.abandoned = true;
      job.handle->model->stop_loading();
    }
  }
  if (job.state == QueuedCall::State::kWaiting) end_waiting(job, cancelled());
}

void QueuedBackend::end_waiting(QueuedCall& job, const RpcError& why) {
  if (job.state != QueuedCall::State::kWaiting) return;
  auto kept = job.shared_from_this();  // the queue lets go of it
  // First: where there is no memory for it, the call waits on. The notice needs the mutex, and so does not come before.
  notices_.post([this, kept, why] { finish(*kept, {.error = std::make_exception_ptr(why)}); });
  job.state = QueuedCall::State::kDone;
  queue_of(job).remove(job);
  if (has_fault("a call that has left its queue is kept until the one ahead has ended") && job.handle &&
      job.handle->queue.running())
    job.handle->queue.running()->leased.push_back(std::move(kept));
}

void QueuedBackend::stop_everything_on(ModelHandle& handle) {
  for (const auto& [id, job] : jobs_) {
    const Method& method = *job->request.method;
    // A model that is still being created is destroyed when it has been created.
    const bool is_kept =
        method.handle == HandleRole::kDestroys || (method.handle == HandleRole::kCreates && !shutting_down_);
    if (job->handle.get() == &handle && !method.immediate && !is_kept) stop(*job);
  }
}

void QueuedBackend::destroy_unasked(ModelHandle& handle, EndedFunction ended) {
  if (handle.closing || destroy_ == nullptr) return;
  const auto job = std::make_shared<QueuedCall>(CallRequest{
      .method = destroy_, .params = Json::object(), .observer = std::make_shared<TellsEnd>(std::move(ended))});
  job->handle = handle.shared_from_this();
  try {
    queue_for(*job).add(*job);
  } catch (...) {
    undo(*job);
    throw;
  }
  handle.closing = true;
}

bool QueuedBackend::shut_down(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  shutting_down_ = true;
  for (const auto& [id, handle] : handles_.all()) {
    stop_everything_on(*handle);
    destroy_unasked(*handle);
  }
  const auto all_done = [this] { return jobs_.empty(); };
  if (!change_.wait_until(lock, deadline, all_done)) {
    lock.unlock();
    const bool killed = engine_->kill();
    deadline = Clock::now() + kForTheKilled;
    lock.lock();
    if (!killed || !change_.wait_until(lock, deadline, all_done)) {
      abandon_all(lock);
      return false;
    }
  }
  lock.unlock();
  // The end of a model may hang, too.
  return handle_ends_.wait_until_idle(std::max(deadline, Clock::now() + kForTheKilled));
}

void QueuedBackend::abandon_all(std::unique_lock<Mutex>& lock) {
  std::vector<std::shared_ptr<QueuedCall>> untold;
  for (const auto& [id, job] : jobs_) {
    if (job->state != QueuedCall::State::kDone && !std::exchange(job->given_up, true)) untold.push_back(job);
  }
  lock.unlock();
  for (const auto& job : untold) {
    job->observer().on_done({.error = std::make_exception_ptr(runtime_unavailable(
                                 "the server is shutting down, and the runtime did not stop in time"))});
  }
}

}  // namespace rkllm_mcp
