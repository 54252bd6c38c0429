#include "backend/queued_backend.hpp"

#include "backend/kept_caches.hpp"
#include "jsonrpc/failure.hpp"
#include "put_back.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <deque>
#include <utility>

namespace rkllm_mcp {

// Calls that wait, and the thread that makes them one after the other, see serve(). All but the thread is guarded by
// the backend's mutex, which must not be held by whoever destroys a queue whose thread has been started.
struct QueuedBackend::Queue {
  explicit Queue(Mutex& mutex_of_backend) : mutex(mutex_of_backend) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() {
    if (!thread.joinable()) return;
    {
      const std::lock_guard lock(mutex);
      ending = true;
    }
    news.notify_one();
    thread.join();
  }

  Mutex& mutex;
  std::deque<QueuedCallPointer> waiting;  // in their order
  QueuedCallPointer holder;               // the lease that is held
  bool ending = false;
  ConditionVariable news;  // for the thread: there is a call to make, or it is to end
  Thread thread;
};

// One initialised model, or one that is being initialised.
struct QueuedBackend::Handle {
  explicit Handle(Mutex& mutex) : queue(mutex), beside(mutex) {}

  std::string id;
  std::string name;        // see load(); empty: made by rkllm_init
  unsigned number = 0;     // in its id
  std::uint64_t load = 0;  // see HandleUse

  // Guarded by the backend's mutex:
  bool live = false;     // rkllm_init has succeeded
  bool closing = false;  // its destruction is queued: no more calls
  QueuedCallPointer running;
  std::exception_ptr lost;            // why its model is gone although nobody destroyed it
  Json created_with;                  // the parameters of rkllm_init
  std::string file;                   // see HandleUse
  Json last_perf;                     // of the latest run that had one
  std::uint64_t foreign_changes = 0;  // see HandleUse
  Clock::time_point last_used = Clock::now();
  // Written with the mutex and by the queue's thread alone, which reads them without it.
  Model::Values values;
  std::optional<pid_t> process;

  Mutex start_mutex;  // see the header
  std::unique_ptr<Model> model;
  Queue queue;
  Queue beside;  // of calls that need not wait for a run
};

struct QueuedBackend::QueuedCall {
  explicit QueuedCall(CallRequest what) : request(std::move(what)) {}

  CallObserver& observer() const { return *request.observer; }

  CallId id = 0;
  CallRequest request;
  HandlePointer handle;  // null for calls without one
  const Clock::time_point queued_at = Clock::now();
  std::string model;        // see load()
  QueuedCallPointer lease;  // whose call it is; null: nobody's

  // Guarded by the backend's mutex:
  enum class State { kWaiting, kRunning, kDone } state = State::kWaiting;
  bool abandoned = false;                // it creates a model that nobody waits for
  bool aborted = false;                  // rkllm_abort was called while it ran
  bool given_up = false;                 // its observer has been told that nothing will come of it
  std::deque<QueuedCallPointer> leased;  // of a lease: its calls that wait
  bool ending = false;                   // of a lease: it takes no more calls
};

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
      handleless_(std::make_unique<Queue>(mutex_)) {
  handleless_->thread = Thread([this] { serve(*handleless_, nullptr); });
}

QueuedBackend::~QueuedBackend() {
  constexpr std::chrono::seconds kPatience{10};
  if (!shutting_down_) shut_down(Clock::now() + kPatience);
  std::map<std::string, HandlePointer> left;  // they go before the tables, which their threads use
  std::unique_lock lock(mutex_);
  change_.wait(lock, [this] { return jobs_.empty(); });  // a call that ends at last still uses all of this
  left.swap(handles_);
  lock.unlock();
}

Backend::CallId QueuedBackend::start(CallRequest request) {
  return queue(std::make_shared<QueuedCall>(std::move(request)));
}

Backend::CallId QueuedBackend::load(std::string model, CallRequest request) {
  const auto job = std::make_shared<QueuedCall>(std::move(request));
  job->model = std::move(model);
  return queue(job);
}

Backend::CallId QueuedBackend::queue(const QueuedCallPointer& job) {
  try {
    const std::lock_guard lock(mutex_);
    job->id = next_call_++;
    assign_handle(job);
    jobs_.emplace(job->id, job);
    enqueue(job);
  } catch (...) {
    refuse(job, std::current_exception());
  }
  return job->id;
}

Backend::CallId QueuedBackend::lease(const std::string& handle, CallRequest request) {
  request.method = &kLease;
  request.params = Json{{"handle", handle}};
  return start(std::move(request));
}

bool QueuedBackend::can_use_lease(const QueuedCallPointer& lease) const {
  return !shutting_down_ && lease->handle && lease->handle->queue.holder == lease && !lease->ending;
}

Backend::CallId QueuedBackend::start_leased(CallId lease, CallRequest request) {
  const auto job = std::make_shared<QueuedCall>(std::move(request));
  const std::lock_guard lock(mutex_);
  job->id = next_call_++;
  const auto found = jobs_.find(lease);
  if (found == jobs_.end() || !can_use_lease(found->second)) {
    refuse(job, std::make_exception_ptr(lease_has_ended()));
    return job->id;
  }
  job->lease = found->second;
  job->handle = job->lease->handle;
  jobs_.emplace(job->id, job);
  job->lease->leased.push_back(job);
  job->handle->queue.news.notify_one();
  return job->id;
}

void QueuedBackend::end_lease(CallId lease) {
  const std::lock_guard lock(mutex_);
  if (const auto found = jobs_.find(lease); found != jobs_.end()) stop(found->second);
}

void QueuedBackend::let_go(const QueuedCallPointer& lease) {
  if (std::exchange(lease->ending, true) || lease->state == QueuedCall::State::kDone) return;
  Handle& handle = *lease->handle;
  while (!lease->leased.empty()) end_waiting(QueuedCallPointer(lease->leased.front()), cancelled());
  if (handle.running) {
    stop(QueuedCallPointer(handle.running));  // note_handle_change() goes on from here
  } else {
    end_held(lease);
  }
}

void QueuedBackend::end_held(const QueuedCallPointer& lease) {
  Handle& handle = *lease->handle;
  handle.queue.holder = nullptr;
  handle.last_used = Clock::now();
  lease->state = QueuedCall::State::kDone;
  tell_positions(handle, 0);
  notices_.post([this, lease] { finish(lease, CallOutcome()); });
  handle.queue.news.notify_one();
}

bool QueuedBackend::grant(Handle& handle, const QueuedCallPointer& lease) {
  if (handle.lost || !handle.model->loaded()) return false;
  handle.queue.holder = lease;
  lease->observer().on_begun(std::nullopt);  // with the mutex held: its end cannot be told before
  return true;
}

bool QueuedBackend::destroy_in_order(const std::string& handle, EndedFunction ended) {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || found->second->closing || destroy_ == nullptr || shutting_down_) return false;
  destroy_unasked(found->second, std::move(ended));
  return true;
}

std::optional<QueuedBackend::HandleUse> QueuedBackend::use_of(const std::string& handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || found->second->closing) return std::nullopt;
  const Handle& that = *found->second;
  HandleUse use;
  use.load = that.load;
  use.file = that.file;
  use.waiting = that.queue.waiting.size();
  use.in_use = that.running || that.queue.holder || use.waiting > 0;
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
    Load load{
        id, job->model, model_path_in(job->request.params), job->handle->model->loading_in(), now - job->queued_at, {}};
    if (const auto before = load_times_.find(load.path); before != load_times_.end()) load.before = before->second;
    all.push_back(std::move(load));
  }
  return all;
}

void QueuedBackend::refuse(const QueuedCallPointer& job, const std::exception_ptr& error) {
  // Not from inside start(): its caller is promised that.
  notices_.post([job, error] {
    CallOutcome outcome;
    outcome.error = error;
    job->observer().on_done(std::move(outcome));
  });
}

void QueuedBackend::assign_handle(const QueuedCallPointer& job) {
  const Method& method = *job->request.method;
  if (shutting_down_) throw runtime_unavailable("the server is shutting down");
  if (method.handle == HandleRole::kNone) return;
  if (method.handle == HandleRole::kCreates) {
    create_handle(*job);
    job->handle->load = job->id;
    job->handle->name = job->model;
    return;
  }
  job->handle = resolve_handle(method, job->request.params);
  if (method.immediate) return;
  Handle& handle = *job->handle;
  if (handle.queue.waiting.size() >= limits_.queued_per_handle) {
    count(limits_.counts, Limit::kQueueLength);
    throw RpcError(ErrorCode::kQueueFull, "the queue of handle " + handle.id + " is full",
                   Json{{"queued", handle.queue.waiting.size()}, {"limit", limits_.queued_per_handle}});
  }
  const std::string& holder = job->request.source.holder;
  const auto is_theirs = [&holder](const QueuedCallPointer& each) { return each->request.source.holder == holder; };
  const auto theirs = holder.empty() ? 0 : std::ranges::count_if(handle.queue.waiting, is_theirs);
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
  if (handles_.size() >= limits_.handles) {
    count(limits_.counts, Limit::kHandles);
    throw RpcError(ErrorCode::kQueueFull, "as many models are loaded as limits.max_handles allows; destroy one first",
                   Json{{"queued", handles_.size()}, {"limit", limits_.handles}});
  }
  const auto handle = job.handle = std::make_shared<Handle>(mutex_);
  handle->number = unused_numbers_.empty() ? next_handle_++ : unused_numbers_.extract(unused_numbers_.begin()).value();
  handle->id = "llm-" + std::to_string(handle->number);
  handle->model = engine_->new_model(
      handle->id, [this, id = handle->id, of = handle.get()](const RpcError& why) { lose(id, of, why); });
  handle->queue.thread = Thread([this, at = handle.get()] { serve(at->queue, at); });
  handle->beside.thread = Thread([this, at = handle.get()] { serve(at->beside, at); });
  handles_.emplace(handle->id, handle);
}

QueuedBackend::HandlePointer QueuedBackend::resolve_handle(const Method& method, const Json& params) const {
  const std::string path = "params." + std::string(method.handle_param);
  const auto named = params.find(std::string(method.handle_param));
  if (named != params.end() && !named->is_null()) {
    if (!named->is_string()) throw InvalidParams(path, "expected string, such as \"llm-1\"");
    const auto& id = named->get_ref<const std::string&>();
    constexpr std::size_t kLongest = 64;  // of the handles that there are; megabytes are not searched
    if (id.size() > kLongest) throw unknown_handle(id, live_ids());
    if (id.find('\0') != std::string::npos) throw InvalidParams(path, "must not contain U+0000");
    const auto found = handles_.find(id);
    if (found == handles_.end() || found->second->closing) throw unknown_handle(id, live_ids());
    return found->second;
  }
  const auto unnamed = unnamed_handles();
  std::vector<std::string> ids;
  for (const HandlePointer& handle : unnamed) {
    if (handle->live && !handle->closing) ids.push_back(handle->id);
  }
  if (ids.size() == 1) return handles_.at(ids.front());
  if (ids.empty() && unnamed.size() == 1 && !unnamed.front()->closing) {
    return unnamed.front();  // being created: the call waits for that, as one sent right behind rkllm_init must
  }
  if (ids.empty() && unnamed.empty()) {
    ids = live_ids();  // of models that were loaded by their names
    throw RpcError(ErrorCode::kUnknownHandle,
                   ids.empty() ? "no handle exists; call rkllm_init first"
                               : "rkllm_init has made no handle that may be left out; name one of those of models that "
                                 "were loaded by their names: " +
                                     named_in_message(ids),
                   Json{{"handles", ids}});
  }
  const std::string these = ids.empty() ? "several are being made" : "these do: " + named_in_message(ids);
  throw RpcError(ErrorCode::kInvalidParams, path + ": required while more than one handle exists; " + these,
                 Json{{"path", path}, {"handles", ids}});
}

std::vector<QueuedBackend::HandlePointer> QueuedBackend::unnamed_handles() const {
  std::vector<HandlePointer> unnamed;
  for (const auto& [id, handle] : handles_) {
    if (handle->name.empty()) unnamed.push_back(handle);
  }
  return unnamed;
}

std::vector<std::string> QueuedBackend::live_ids() const {
  std::vector<std::string> ids;
  for (const auto& [id, handle] : handles_) {
    if (handle->live && !handle->closing) ids.push_back(id);
  }
  return ids;
}

QueuedBackend::Queue& QueuedBackend::queue_of(const QueuedCall& job) {
  if (!job.handle) return *handleless_;
  return job.request.method->immediate ? job.handle->beside : job.handle->queue;
}

void QueuedBackend::enqueue(const QueuedCallPointer& job) {
  Queue& queue = queue_of(*job);
  queue.waiting.push_back(job);
  if (job->handle && &queue == &job->handle->queue) tell_positions(*job->handle, queue.waiting.size() - 1);
  queue.news.notify_one();
}

void QueuedBackend::tell_positions(const Handle& handle, std::size_t from) {
  const auto& waiting = handle.queue.waiting;
  for (std::size_t place = from; place < waiting.size(); ++place) {
    const std::size_t calls_before = place + (handle.running || handle.queue.holder ? 1 : 0);
    if (calls_before > 0) waiting[place]->observer().on_queued(calls_before);
  }
}

void QueuedBackend::leave_queue(const QueuedCallPointer& job) {
  if (job->lease) {
    std::erase(job->lease->leased, job);
    return;
  }
  Queue& queue = queue_of(*job);
  const auto found = std::find(queue.waiting.begin(), queue.waiting.end(), job);
  const auto place = static_cast<std::size_t>(found - queue.waiting.begin());
  queue.waiting.erase(found);
  if (job->handle && &queue == &job->handle->queue) tell_positions(*job->handle, place);
}

std::deque<QueuedBackend::QueuedCallPointer>& QueuedBackend::makeable(Queue& queue) {
  const bool is_leased = queue.holder && !is_put_back("a model that is leased serves others");
  return is_leased ? queue.holder->leased : queue.waiting;
}

void QueuedBackend::serve(Queue& queue, Handle* handle) {
  const bool is_beside = handle != nullptr && &queue == &handle->beside;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      queue.news.wait(lock, [&queue] { return queue.ending || !makeable(queue).empty(); });
      if (queue.ending) return;  // no call is left: each keeps its handle
    }
    is_beside ? run_beside(*handle) : run_queued(queue, handle);
  }
}

QueuedBackend::QueuedCallPointer QueuedBackend::next_of(Queue& queue) {
  auto& waiting = makeable(queue);
  if (waiting.empty()) return nullptr;
  if (is_put_back("who has come last is served first")) std::swap(waiting.front(), waiting.back());
  QueuedCallPointer next = std::move(waiting.front());
  waiting.pop_front();
  next->state = QueuedCall::State::kRunning;
  return next;
}

void QueuedBackend::cancel(CallId id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return;
  if (found->second->handle && is_put_back("what cancels a call cancels all of its model"))
    stop_everything_on(*found->second->handle);
  stop(found->second);
}

void QueuedBackend::give_up(CallId id, const RpcError& why) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end() || found->second->state != QueuedCall::State::kWaiting) return;
  count(limits_.counts, Limit::kQueueTime);
  end_waiting(found->second, why);
}

void QueuedBackend::stop(const QueuedCallPointer& job) {
  if (job->state == QueuedCall::State::kRunning && job->request.method == &kLease) {
    let_go(job);
  } else if (job->state == QueuedCall::State::kRunning) {
    const Method& method = *job->request.method;
    if (method.streams) job->handle->model->stop_run();
    if (method.handle == HandleRole::kCreates) {
      job->abandoned = true;
      job->handle->model->stop_loading();
    }
  }
  end_waiting(job, cancelled());
}

void QueuedBackend::end_waiting(const QueuedCallPointer& job, const RpcError& why) {
  if (job->state != QueuedCall::State::kWaiting) return;
  job->state = QueuedCall::State::kDone;
  leave_queue(job);
  if (is_put_back("a call that has left its queue is kept until the one ahead has ended") && job->handle &&
      job->handle->running)
    job->handle->running->leased.push_back(job);
  notices_.post([this, job, why] {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(why);
    finish(job, std::move(outcome));
  });
}

void QueuedBackend::stop_everything_on(Handle& handle) {
  for (const auto& [id, job] : jobs_) {
    const Method& method = *job->request.method;
    // What is still being created is destroyed when it is there.
    const bool is_kept =
        method.handle == HandleRole::kDestroys || (method.handle == HandleRole::kCreates && !shutting_down_);
    if (job->handle.get() == &handle && !method.immediate && !is_kept) stop(job);
  }
}

void QueuedBackend::destroy_unasked(const HandlePointer& handle, EndedFunction ended) {
  if (handle->closing || destroy_ == nullptr) return;
  handle->closing = true;
  const auto job = std::make_shared<QueuedCall>(CallRequest{
      .method = destroy_, .params = Json::object(), .observer = std::make_shared<TellsEnd>(std::move(ended))});
  job->id = next_call_++;
  job->handle = handle;
  jobs_.emplace(job->id, job);
  enqueue(job);
}

QueuedBackend::Taken QueuedBackend::take_queued(Queue& queue, Handle* handle) {
  // An rkllm_abort that is under way is meant for the run before this one.
  std::unique_lock<Mutex> nobody_aborts;
  if (handle != nullptr) nobody_aborts = std::unique_lock(handle->start_mutex);
  const std::lock_guard lock(mutex_);
  Taken taken{next_of(queue)};
  const auto& job = taken.job;
  if (!job || handle == nullptr) return taken;
  const bool is_granted = job->request.method == &kLease && grant(*handle, job);
  if (!is_granted) handle->running = job;
  tell_positions(*handle, 0);
  if (is_granted) return {};  // it is finished when it is ended
  if (handle->lost) {
    taken.refusal = handle->lost;
  } else if (job->request.method->handle != HandleRole::kCreates &&
             (!handle->model->loaded() || is_put_back("a model that is there is taken for one that is not"))) {
    // The model could not be loaded after all.
    taken.refusal = std::make_exception_ptr(unknown_handle(handle->id, live_ids()));
  } else if (job->request.method->streams) {
    handle->model->begin_run(job->observer());
  }
  if (taken.refusal) job->state = QueuedCall::State::kDone;
  return taken;
}

void QueuedBackend::run_queued(Queue& queue, Handle* handle) {
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
  finish(job, std::move(outcome));
}

// An rkllm_abort that is under way marks its run before it is made, and takes that back if it was refused.
void QueuedBackend::await_abort(Handle& handle, const QueuedCall& run) {
  {
    const std::lock_guard lock(mutex_);
    if (!run.aborted) return;
  }
  const std::lock_guard starting(handle.start_mutex);
}

// While nothing runs, the run that is about to begin is meant, unless it was sent after the abort.
QueuedBackend::QueuedCallPointer QueuedBackend::run_to_abort(const Handle& handle, const QueuedCall& abort) {
  if (handle.running) return handle.running;
  if (handle.queue.holder) return nullptr;
  if (handle.queue.waiting.empty() || handle.queue.waiting.front()->id > abort.id) return nullptr;
  const QueuedCallPointer& next = handle.queue.waiting.front();
  return next->request.method->streams ? next : nullptr;
}

void QueuedBackend::run_beside(Handle& handle) {
  QueuedCallPointer job;
  CallOutcome outcome;
  std::weak_ptr<QueuedCall> meant;  // one that is taken out of its queue meanwhile is not kept
  QueuedCallPointer kept;           // by a fault that has been put back
  {
    const std::lock_guard starting(handle.start_mutex);  // no other run begins meanwhile
    {
      const std::lock_guard lock(mutex_);
      job = next_of(handle.beside);
      if (!job) return;
      if (handle.lost) {
        outcome.error = handle.lost;
      } else if (!handle.live || !handle.model->loaded()) {
        outcome.error = std::make_exception_ptr(unknown_handle(handle.id, live_ids()));
      } else if (job->request.method->aborts) {
        const auto run = run_to_abort(handle, *job);
        if (run) run->aborted = true;  // before the library can end it
        meant = run;
        if (is_put_back("an abort keeps the run that it is for")) kept = run;
      }
    }
    if (!outcome.error) outcome = handle.model->call_beside(job->request);
    if (const auto run = meant.lock()) {
      const std::lock_guard lock(mutex_);
      run->aborted = outcome.error == nullptr;
      if (run->aborted) stop(run);
    }
  }
  finish(job, std::move(outcome));
}

CallOutcome QueuedBackend::create(const CallRequest& request, Handle& handle) {
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
  Handle& handle = *job.handle;
  const HandleRole role = job.request.method->handle;
  const bool succeeded = outcome.error == nullptr;
  if (handle.running.get() == &job) {
    handle.running = nullptr;
    handle.last_used = Clock::now();
    handle.values = handle.model->values();
    handle.process = handle.model->process();
    const bool has_failed = job.request.method->streams && !succeeded && !has_left_alone(outcome);
    const bool is_foreign = !job.lease && role != HandleRole::kCreates && may_change(*job.request.method);
    if (has_failed || is_foreign) ++handle.foreign_changes;
    const bool ends_lease = job.lease && (job.lease->ending || is_put_back("a lease ends with its first call"));
    if (ends_lease) end_held(job.lease);
  }
  if (outcome.values.contains("perf")) note_perf(handle.last_perf, outcome.values["perf"]);
  if (role == HandleRole::kCreates) {
    handle.live = succeeded;
    handle.created_with = job.request.params;
    if (succeeded) note_load_time(job);
  }
  if (role == HandleRole::kDestroys) handle.closing = succeeded;
  const bool gone = (role == HandleRole::kCreates && !succeeded) || (role == HandleRole::kDestroys && succeeded);
  if (gone) handles_.erase(handle.id);
  if (role == HandleRole::kCreates && !succeeded) unused_numbers_.insert(handle.number);
}

void QueuedBackend::note_load_time(const QueuedCall& job) {
  constexpr std::size_t kMostFiles = 1000;
  const std::string path = model_path_in(job.request.params);
  if (path.empty()) return;
  if (load_times_.size() >= kMostFiles) load_times_.clear();
  load_times_.insert_or_assign(path, Clock::now() - job.queued_at);
}

void QueuedBackend::lose(const std::string& id, const Handle* lost, const RpcError& why) {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(id);
  if (found == handles_.end() || found->second.get() != lost) return;  // another one has its number now
  HandlePointer handle = std::move(found->second);
  handle->lost = std::make_exception_ptr(why);  // for the calls that are still in its queue
  handles_.erase(found);
  if (!shutting_down_) notices_.post([this, id] { lost_(id); });
  // The last reference must not go on this thread, which may be the model's own.
  handle_ends_.post([handle = std::move(handle)] {});
}

void QueuedBackend::finish(const QueuedCallPointer& job, CallOutcome outcome) {
  HandlePointer handle;
  bool given_up = false;
  {
    const std::lock_guard lock(mutex_);
    outcome.aborted = outcome.aborted || job->aborted;
    if (job->handle) {
      outcome.handle = job->handle->id;
      note_handle_change(*job, outcome);
    }
    if (job->abandoned) {
      if (!outcome.error) {  // loaded all the same, for nobody
        stop_everything_on(*job->handle);
        destroy_unasked(job->handle);
      }
      outcome.error = std::make_exception_ptr(loading_cancelled());
    }
    job->state = QueuedCall::State::kDone;
    handle = std::move(job->handle);
    given_up = job->given_up;
  }
  if (!given_up) job->observer().on_done(std::move(outcome));
  const std::lock_guard lock(mutex_);
  jobs_.erase(job->id);
  // This may be the last reference, and this thread the handle's own, which cannot wait for itself.
  handle_ends_.post([handle = std::move(handle)] {});
  change_.notify_all();
}

std::vector<QueuedBackend::HandleStatus> QueuedBackend::handles() const {
  const std::lock_guard lock(mutex_);
  std::vector<HandleStatus> all;
  const auto now = Clock::now();
  for (const auto& [id, handle] : handles_) {
    if (!handle->live) continue;
    HandleStatus status{id,
                        handle->name,
                        handle->running || handle->queue.holder,
                        {},
                        handle->process,
                        handle->created_with,
                        handle->values,
                        handle->last_perf,
                        false};
    for (const auto& job : handle->queue.waiting) {
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
  if (std::any_of(handles_.begin(), handles_.end(), is_live)) return Use::kModels;
  if (!handles_.empty()) return Use::kLoading;
  return jobs_.empty() ? Use::kIdle : Use::kCalls;
}

bool QueuedBackend::shut_down(Clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  shutting_down_ = true;
  for (const auto& [id, handle] : handles_) {
    stop_everything_on(*handle);
    destroy_unasked(handle);
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
  std::vector<QueuedCallPointer> untold;
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
