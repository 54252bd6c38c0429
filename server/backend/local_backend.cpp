#include "backend/local_backend.hpp"

#include "backend/run_sink.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <condition_variable>
#include <utility>

namespace rkllm_mcp {

// One initialised model, or one that is being initialised.
struct LocalBackend::Handle {
  HandleRecord record;
  bool live = false;       // rkllm_init has succeeded; guarded by the backend's mutex
  bool closing = false;    // its destruction is queued: no more calls; likewise
  std::size_t queued = 0;  // calls that wait for the runner; likewise
  JobPointer running;      // likewise

  std::mutex native_guard;
  // Sinks of runs that the library never ended properly: it might still call them.
  std::vector<std::shared_ptr<RunSink>> abandoned;
  // That of the latest run: the thread that made the last callback may still be on its way out of it.
  std::shared_ptr<RunSink> latest;
  Runner runner;
};

struct LocalBackend::Job {
  CallId id = 0;
  CallRequest request;
  std::shared_ptr<CallObserver> observer;
  HandlePointer handle;                                                    // null for calls without one
  std::shared_ptr<RunSink> sink;                                           // of streaming calls
  enum class State { kWaiting, kRunning, kDone } state = State::kWaiting;  // guarded by the backend's mutex
  bool aborted = false;   // rkllm_abort was called while it ran; likewise
  bool given_up = false;  // its observer has been told that nothing will come of it; likewise
};

namespace {

// For calls that the backend makes for itself.
class NobodyListens : public CallObserver {
 public:
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override {}
};

const Method* find_abort(const AbiSet& abi) {
  const auto found =
      std::find_if(abi.methods.begin(), abi.methods.end(), [](const Method& each) { return each.aborts; });
  return found == abi.methods.end() ? nullptr : &*found;
}

std::size_t batch_size_of(const HandleRecord& record) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, record.session_value("n_batch").value_or(1)));
}

// The most tokens that a run will generate: its own limit, else the one that the model was loaded with.
std::optional<std::uint64_t> token_limit_of(const Json& params, const HandleRecord& record) {
  // Nothing is checked yet: the stub will do that.
  std::int64_t limit = record.session_value("max_new_tokens").value_or(0);
  if (const auto infer = params.find("rkllm_infer_params"); infer != params.end() && infer->is_object()) {
    const auto own = infer->find("max_new_tokens");
    if (own != infer->end() && own->is_number_integer() && own->get<std::int64_t>() > 0)
      limit = own->get<std::int64_t>();
  }
  if (limit <= 0) return std::nullopt;
  return static_cast<std::uint64_t>(limit);
}

}  // namespace

LocalBackend::LocalBackend(const LoadedLibrary& library, const Limits& limits)
    : library_(library), limits_(limits), abort_method_(find_abort(library.abi())) {}

LocalBackend::~LocalBackend() {
  constexpr std::chrono::seconds kPatience{10};
  shut_down(std::chrono::steady_clock::now() + kPatience);
}

Backend::CallId LocalBackend::start(CallRequest request, std::shared_ptr<CallObserver> observer) {
  const auto job = std::make_shared<Job>();
  job->request = std::move(request);
  job->observer = std::move(observer);
  try {
    const std::lock_guard lock(mutex_);
    job->id = next_call_++;
    admit(job);
    jobs_.emplace(job->id, job);
    enqueue(job);
  } catch (...) {
    refuse(job, std::current_exception());
  }
  return job->id;
}

void LocalBackend::refuse(const JobPointer& job, std::exception_ptr error) {
  // Not from inside start(): its caller is promised that.
  handleless_.post([job, error] {
    CallOutcome outcome;
    outcome.error = error;
    job->observer->on_done(std::move(outcome));
  });
}

void LocalBackend::admit(const JobPointer& job) {
  const Method& method = *job->request.method;
  if (shutting_down_) throw runtime_unavailable("the server is shutting down");
  if (method.handle == HandleRole::kNone) return;
  if (method.handle == HandleRole::kCreates) {
    job->handle = create_handle();
    ++job->handle->queued;
    return;
  }
  job->handle = resolve_handle(method, job->request.params);
  if (method.immediate) return;
  Handle& handle = *job->handle;
  if (handle.queued >= limits_.queued_per_handle) {
    throw RpcError(ErrorCode::kQueueFull, "the queue of handle " + handle.record.id + " is full",
                   Json{{"queued", handle.queued}, {"limit", limits_.queued_per_handle}});
  }
  if (method.handle == HandleRole::kDestroys) {
    handle.closing = true;
    stop_everything_on(handle);
  }
  ++handle.queued;
}

LocalBackend::HandlePointer LocalBackend::create_handle() {
  if (handles_.size() >= limits_.handles) {
    throw RpcError(ErrorCode::kQueueFull, "as many models are loaded as limits.max_handles allows; destroy one first",
                   Json{{"queued", handles_.size()}, {"limit", limits_.handles}});
  }
  const auto handle = std::make_shared<Handle>();
  handle->record.id = "llm-" + std::to_string(next_handle_++);
  handles_.emplace(handle->record.id, handle);
  return handle;
}

LocalBackend::HandlePointer LocalBackend::resolve_handle(const Method& method, const Json& params) const {
  const std::string path = "params." + std::string(method.handle_param);
  const auto named = params.find(std::string(method.handle_param));
  if (named != params.end() && !named->is_null()) {
    if (!named->is_string()) throw InvalidParams(path, "expected string, such as \"llm-1\"");
    if (named->get_ref<const std::string&>().find('\0') != std::string::npos) {
      throw InvalidParams(path, "must not contain U+0000");
    }
    const auto found = handles_.find(named->get<std::string>());
    if (found == handles_.end() || found->second->closing) {
      throw unknown_handle(named->get<std::string>(), live_ids());
    }
    return found->second;
  }
  const auto ids = live_ids();
  if (ids.size() == 1) return handles_.at(ids.front());
  if (ids.empty() && handles_.size() == 1 && !handles_.begin()->second->closing) {
    return handles_.begin()
        ->second;  // being created: the call waits for that, as one sent right behind rkllm_init must
  }
  if (ids.empty() && handles_.empty()) {
    throw RpcError(ErrorCode::kUnknownHandle, "no handle exists; call rkllm_init first", Json{{"handles", ids}});
  }
  throw InvalidParams(path, "required while more than one handle exists");
}

std::vector<std::string> LocalBackend::live_ids() const {
  std::vector<std::string> ids;
  for (const auto& [id, handle] : handles_) {
    if (handle->live && !handle->closing) ids.push_back(id);
  }
  return ids;
}

void LocalBackend::enqueue(const JobPointer& job) {
  if (job->request.method->immediate) return immediate_.post([this, job] { run_immediate(job); });
  Runner& runner = job->handle ? job->handle->runner : handleless_;
  runner.post([this, job] { run_queued(job); });
}

void LocalBackend::cancel(CallId id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = jobs_.find(id); found != jobs_.end()) stop(found->second);
}

void LocalBackend::stop(const JobPointer& job) {
  if (job->state == Job::State::kRunning && job->sink) job->sink->stop();
  if (job->state != Job::State::kWaiting) return;
  // It leaves the queue now: its runner passes it over.
  job->state = Job::State::kDone;
  if (job->handle && !job->request.method->immediate) --job->handle->queued;
  handleless_.post([this, job] {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(cancelled());
    finish(job, std::move(outcome));
  });
}

void LocalBackend::stop_everything_on(Handle& handle) {
  for (const auto& [id, job] : jobs_) {
    const Method& method = *job->request.method;
    if (job->handle.get() == &handle && !method.immediate && method.handle != HandleRole::kDestroys) stop(job);
  }
}

void LocalBackend::run_queued(const JobPointer& job) {
  {
    // An rkllm_abort that is under way is meant for the run before this one.
    std::unique_lock<std::mutex> nobody_aborts;
    if (job->handle) nobody_aborts = std::unique_lock(job->handle->native_guard);
    const std::lock_guard lock(mutex_);
    if (job->state == Job::State::kDone) return;
    job->state = Job::State::kRunning;
    if (Handle* const handle = job->handle.get()) {
      --handle->queued;
      handle->running = job;
      if (job->request.method->streams) {
        job->sink = std::make_shared<RunSink>(job->observer, batch_size_of(handle->record),
                                              [this, handle] { abort_native(*handle); });
      }
    }
  }
  CallOutcome outcome;
  const HandleRole role = job->request.method->handle;
  if ((role == HandleRole::kUses || role == HandleRole::kDestroys) && job->handle->record.native == nullptr) {
    const std::lock_guard lock(mutex_);  // the model could not be loaded after all
    outcome.error = std::make_exception_ptr(unknown_handle(job->handle->record.id, live_ids()));
  } else {
    if (job->sink) job->observer->on_begun(token_limit_of(job->request.params, job->handle->record));
    execute(*job, outcome);
  }
  finish(job, std::move(outcome));
}

void LocalBackend::run_immediate(const JobPointer& job) {
  {
    const std::lock_guard lock(mutex_);
    if (job->state == Job::State::kDone) return;
    job->state = Job::State::kRunning;
  }
  CallOutcome outcome;
  Handle& handle = *job->handle;
  bool live = false;  // its runner has finished creating it
  {
    const std::lock_guard lock(mutex_);
    live = handle.live;
  }
  {
    const std::lock_guard native_lock(handle.native_guard);
    if (!live || handle.record.native == nullptr) {
      const std::lock_guard lock(mutex_);
      outcome.error = std::make_exception_ptr(unknown_handle(handle.record.id, live_ids()));
    } else {
      if (job->request.method->aborts) {
        const std::lock_guard lock(mutex_);
        if (handle.running) handle.running->aborted = true;
        if (handle.running && handle.running->sink) handle.running->sink->stop();
      }
      execute(*job, outcome);
    }
  }
  finish(job, std::move(outcome));
}

void LocalBackend::execute(Job& job, CallOutcome& outcome) {
  Handle* const handle = job.handle.get();
  try {
    CallContext context{
        job.request.params,     handle != nullptr ? &handle->record : nullptr, job.sink.get(), job.request.encoding, {},
        library_.file().version};
    if (job.request.method->handle == HandleRole::kDestroys) {
      const std::lock_guard native_lock(handle->native_guard);  // nobody else may use the pointer now
      outcome.result = library_.binding().call(*job.request.method, context);
    } else {
      outcome.result = library_.binding().call(*job.request.method, context);
    }
  } catch (...) {
    outcome.error = std::current_exception();
  }
  if (!job.sink) return;
  job.sink->complete(outcome);
  for (const auto& [name, value] : job.sink->learnt()) handle->record.session[name] = value;
  if (job.sink->gave_up()) handle->abandoned.push_back(job.sink);
  handle->latest = job.sink;
}

void LocalBackend::abort_native(Handle& handle) {
  if (abort_method_ == nullptr) return;
  try {
    const Json no_params = Json::object();
    CallContext context{no_params, &handle.record, nullptr, ArrayEncoding::kJson, {}, library_.file().version};
    library_.binding().call(*abort_method_, context);
  } catch (const std::exception&) {
    // The run goes on to its end; its observer stops listening all the same.
  }
}

void LocalBackend::note_handle_change(const Job& job, bool succeeded) {
  Handle& handle = *job.handle;
  const HandleRole role = job.request.method->handle;
  if (handle.running.get() == &job) handle.running = nullptr;
  if (role == HandleRole::kCreates) handle.live = succeeded;
  if (role == HandleRole::kDestroys) handle.closing = succeeded;
  const bool gone = (role == HandleRole::kCreates && !succeeded) || (role == HandleRole::kDestroys && succeeded);
  if (gone) handles_.erase(handle.record.id);
}

void LocalBackend::finish(const JobPointer& job, CallOutcome outcome) {
  HandlePointer handle;
  bool given_up = false;
  {
    const std::lock_guard lock(mutex_);
    outcome.aborted = outcome.aborted || job->aborted;
    if (job->handle) note_handle_change(*job, !outcome.error);
    job->state = Job::State::kDone;
    handle = std::move(job->handle);
    given_up = job->given_up;
  }
  if (!given_up) job->observer->on_done(std::move(outcome));
  // Once `jobs_` is empty, shut_down() lets the backend be destroyed: nothing of it may be touched after this block.
  const std::lock_guard lock(mutex_);
  jobs_.erase(job->id);
  // This may be the last reference, and this thread the handle's runner, which cannot wait for itself.
  handleless_.post([handle = std::move(handle)] {});
  change_.notify_all();
}

std::vector<LocalBackend::HandleStatus> LocalBackend::handles() const {
  const std::lock_guard lock(mutex_);
  std::vector<HandleStatus> all;
  for (const auto& [id, handle] : handles_) {
    if (handle->live) all.push_back({id, handle->running != nullptr, handle->queued});
  }
  return all;
}

bool LocalBackend::shut_down(std::chrono::steady_clock::time_point deadline) {
  const auto destroy = std::find_if(library_.abi().methods.begin(), library_.abi().methods.end(),
                                    [](const Method& each) { return each.handle == HandleRole::kDestroys; });
  std::unique_lock lock(mutex_);
  shutting_down_ = true;
  for (const auto& [id, handle] : handles_) {
    stop_everything_on(*handle);
    if (handle->closing || destroy == library_.abi().methods.end()) continue;
    handle->closing = true;
    ++handle->queued;
    const auto job = std::make_shared<Job>();
    job->id = next_call_++;
    job->request = {&*destroy, Json::object()};
    job->observer = std::make_shared<NobodyListens>();
    job->handle = handle;
    jobs_.emplace(job->id, job);
    enqueue(job);
  }
  if (change_.wait_until(lock, deadline, [this] { return jobs_.empty(); })) return true;
  give_up(lock);
  return false;
}

void LocalBackend::give_up(std::unique_lock<std::mutex>& lock) {
  std::vector<std::shared_ptr<CallObserver>> untold;
  for (const auto& [id, job] : jobs_) {
    if (job->state != Job::State::kDone && !std::exchange(job->given_up, true)) untold.push_back(job->observer);
  }
  lock.unlock();
  for (const auto& observer : untold) {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(
        runtime_unavailable("the server is shutting down, and the runtime did not stop in time"));
    observer->on_done(std::move(outcome));
  }
}

}  // namespace rkllm_mcp
