#include "models/model_slot.hpp"

#include "backend/outcome_on_loop.hpp"
#include "clock.hpp"
#include "json_members.hpp"
#include "jsonrpc/envelope.hpp"
#include "run_loop.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::milliseconds kProgressEvery{250};
// Bounds of the pause before a model whose keep_alive is over, but is in use, is looked at again.
constexpr double kSoonestLook = 0.05;  // seconds
constexpr double kLatestLook = 1;

Clock::time_point after(Clock::time_point from, double seconds) {
  constexpr double kLongest = 1e9;  // beyond any use, and far from the clock's end
  return from + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(seconds, kLongest)));
}

// Whether a load that has failed so may succeed once another model is gone.
bool is_want_of_room(const RpcError& error) {
  return error.code() == ErrorCode::kRuntimeUnavailable || error.code() == ErrorCode::kQueueFull;
}

// Whether there are loaded models, or other loads than `init`: their end may make room.
bool has_others(const QueuedBackend& queue, Backend::CallId init) {
  const auto is_other = [init](const QueuedBackend::Load& load) { return load.init != init; };
  return !queue.handles().empty() || std::ranges::any_of(queue.loads(), is_other);
}

}  // namespace

ModelSlot::ModelSlot(const SlotSurroundings& around, NamedModel model, Use use, Events events)
    : around_(around),
      model_(std::move(model)),
      use_(use),
      events_(std::move(events)),
      expiry_(around.loop, [this] { look_whether_expired(); }),
      next_progress_(around.loop, [this] { tell_progress(); }) {}

std::string ModelSlot::title() const {
  return use_ == Use::kEmbeddings ? model_.name + " for embeddings" : model_.name;
}

void ModelSlot::update(NamedModel model, chat::KeepAlive keep_alive) {
  model_ = std::move(model);
  events_.keep_alive = keep_alive;
  if (users_waiting_.empty()) arm();
}

const chat::KeepAlive& ModelSlot::keep_alive() const {
  if (kept_) return *kept_;
  return model_.keep_alive ? *model_.keep_alive : events_.keep_alive;
}

std::optional<QueuedBackend::HandleUse> ModelSlot::handle_use() const {
  return around_.runtime.queue == nullptr ? std::nullopt : around_.runtime.queue->use_of(handle_);
}

void ModelSlot::add(std::shared_ptr<ModelWaiter> user) {
  asio::post(around_.loop, [weak = weak_from_this()] {  // first: where that throws, nobody waits here
    if (const auto alive = weak.lock()) alive->serve();
  });
  users_waiting_.push_back({std::move(user), Clock::now()});
  expiry_.clear();
}

void ModelSlot::remove(const ModelWaiter* user) {
  std::erase_if(users_waiting_, [user](const Waiting& each) { return each.user.get() == user; });
  if (state_ == State::kLoaded && users_ == 0 && users_waiting_.empty()) arm();
}

std::size_t ModelSlot::waiting_of(const std::string& holder) const {
  const auto is_theirs = [&holder](const Waiting& each) { return each.user->holder() == holder; };
  return static_cast<std::size_t>(std::ranges::count_if(users_waiting_, is_theirs));
}

bool ModelSlot::is_idle() const {
  if (state_ != State::kLoaded || users_ > 0 || !users_waiting_.empty()) return false;
  const auto use = handle_use();
  return use && !use->in_use;
}

bool ModelSlot::is_free_for_newcomer() const {
  return state_ == State::kLoaded && users_waiting_.empty() && handle_use().has_value();
}

Clock::time_point ModelSlot::last_used() const {
  const auto use = handle_use();
  return use ? std::max(last_used_, use->last_used) : last_used_;
}

std::optional<Clock::time_point> ModelSlot::expires() const {
  if (state_ != State::kLoaded || users_ > 0 || keep_alive().forever) return std::nullopt;
  return after(last_used(), keep_alive().seconds);
}

std::optional<std::int64_t> ModelSlot::loaded_since_s() const {
  return state_ == State::kLoaded ? std::optional(since_s_) : std::nullopt;
}

void ModelSlot::serve() {
  switch (state_) {
    case State::kLoading:
    case State::kUnloading: break;
    case State::kUnloaded:
      if (!users_waiting_.empty()) load();
      break;
    case State::kLoaded:
      if (!handle_use()) {  // somebody has destroyed it
        forget_handle();
        return serve();
      }
      while (state_ == State::kLoaded && !users_waiting_.empty()) {
        const Waiting next = std::move(users_waiting_.front());
        users_waiting_.pop_front();
        ++users_;
        const bool had_to_wait = next.since < loaded_at_;
        next.user->ready(handle_, load_,
                         had_to_wait ? std::optional(seconds_between(next.since, Clock::now()) * 1000) : std::nullopt);
      }
      break;
  }
}

Json ModelSlot::param_to_load_with() const {
  Json param = param_of(model_);
  if (!model_.is_preset && events_.default_context > 0 && !without_default_context_) {
    param["max_context_len"] = events_.default_context;
  }
  return param;
}

void ModelSlot::load() {
  const ModelRuntime& runtime = around_.runtime;
  if (runtime.queue == nullptr) {
    return fail_all({chat::ErrorKind::kRuntimeFailed, runtime_unavailable(runtime.reason)});
  }
  if (const auto why = events_.forbids()) return fail_all(*why);
  state_ = State::kLoading;
  load_began_ = Clock::now();
  loaded_with_ = param_to_load_with();
  bytes_.emplace(model_.path, model_.bytes);
  const auto tell_loaded = [weak = weak_from_this()](const CallOutcome& outcome) {
    if (const auto alive = weak.lock()) alive->loaded(outcome);
  };
  CallRequest request{.method = find_method(runtime.methods, HandleRole::kCreates),
                      .params = Json{{"param", loaded_with_}},
                      .source = {.id = {}, .peer = {}, .model = model_.name},
                      .observer = std::make_shared<OutcomeOnLoop>(around_.loop, weak_from_this(), tell_loaded)};
  init_ = runtime.queue->start(runtime.watched(std::move(request)));
  around_.log.info("model {} is being loaded", title());
  events_.changed();
  tell_progress();
}

chat::LoadProgress ModelSlot::progress() {
  chat::LoadProgress progress;
  if (state_ != State::kLoading) return progress;
  progress.total = model_.bytes;
  const QueuedBackend* const queue = around_.runtime.queue;
  const auto process = queue == nullptr ? std::nullopt : queue->loading_process(init_);
  if (process && bytes_) progress.bytes = bytes_->of(*process);
  if (load_s_) progress.seconds_left = std::max(0.0, *load_s_ - seconds_between(load_began_, Clock::now()));
  return progress;
}

void ModelSlot::tell_progress() {
  if (state_ != State::kLoading) return;
  const chat::LoadProgress now = progress();
  const std::deque<Waiting> told = users_waiting_;
  for (const Waiting& each : told) each.user->loading(now);
  events_.changed();
  next_progress_.set_after(kProgressEvery);
}

void ModelSlot::loaded(const CallOutcome& outcome) {
  if (state_ != State::kLoading) return;
  next_progress_.clear();
  if (outcome.error) return load_failed(outcome.error);
  handle_ = outcome.handle;
  const auto use = handle_use();
  if (!use) {
    return load_failed(std::make_exception_ptr(runtime_unavailable("the model has died as soon as it was loaded")));
  }
  state_ = State::kLoaded;
  load_ = use->load;
  load_s_ = seconds_between(load_began_, Clock::now());
  since_s_ = seconds_since_1970();
  loaded_at_ = Clock::now();
  last_used_ = loaded_at_;
  has_made_room_ = false;
  users_ = 0;
  kept_.reset();
  context_ = integer_in(loaded_with_, "max_context_len");
  around_.log.info("model {} is loaded: {}, in {:.3f} s", title(), handle_, *load_s_);
  if (use_ == Use::kTurns) warn_of_unknown_template(around_.log, model_);
  serve();
  if (!when_unloaded_.empty()) {
    begin_to_unload();
  } else if (users_ == 0) {
    arm();
  }
  events_.changed();
}

void ModelSlot::load_failed(const std::exception_ptr& error) {
  const RpcError why = as_rpc_error(error);
  const Backend::CallId init = init_;
  forget_handle();
  around_.log.warn("model {} could not be loaded: {}", title(), why.what());
  if (why.code() == ErrorCode::kCallFailed && !model_.is_preset && events_.default_context > 0 &&
      !without_default_context_) {
    without_default_context_ = true;  // the model may have been built for a shorter context
    return load();
  }
  without_default_context_ = without_default_context_ && is_want_of_room(why);
  if (!is_want_of_room(why)) return fail_all({chat::ErrorKind::kRuntimeFailed, why});
  if (std::exchange(has_made_room_, true)) {
    has_made_room_ = false;
    return fail_all({chat::ErrorKind::kNoRoom, why});
  }
  state_ = State::kLoading;  // nobody else begins meanwhile
  events_.make_room(*this, [weak = weak_from_this(), why, init](bool made_room) {
    const auto alive = weak.lock();
    if (!alive) return;
    alive->state_ = State::kUnloaded;
    if (made_room) return alive->load();
    alive->has_made_room_ = false;
    const QueuedBackend* const queue = alive->around_.runtime.queue;
    const bool is_full = why.code() == ErrorCode::kQueueFull || (queue != nullptr && has_others(*queue, init));
    alive->fail_all({is_full ? chat::ErrorKind::kNoRoom : chat::ErrorKind::kRuntimeFailed, why});
  });
}

void ModelSlot::fail_all(const LoadFailure& failure) {
  forget_handle();
  const auto failed = std::exchange(users_waiting_, {});
  for (const Waiting& each : failed) each.user->failed(failure);
  for (const auto& done : std::exchange(when_unloaded_, {})) done(nullptr);
  events_.changed();
}

void ModelSlot::forget_handle() {
  state_ = State::kUnloaded;
  handle_.clear();
  load_ = 0;
  users_ = 0;
  init_ = 0;
  bytes_.reset();
  expiry_.clear();
  next_progress_.clear();
}

void ModelSlot::end_use(std::uint64_t load, std::optional<chat::KeepAlive> keep) {
  if (load != load_ || state_ == State::kUnloaded || users_ == 0) return;
  --users_;
  if (keep) kept_ = keep;
  last_used_ = Clock::now();
  if (users_ == 0 && users_waiting_.empty()) arm();
}

void ModelSlot::arm() {
  expiry_.clear();
  // By a deadline even if that time is over already: the model is never unloaded from inside the function that has
  // ended its last use.
  if (const auto due = expires()) expiry_.set_at(*due);
}

void ModelSlot::look_whether_expired() {
  if (state_ != State::kLoaded || users_ > 0 || !users_waiting_.empty()) return;
  const auto now = Clock::now();  // before it is asked: a use that ends after that has ended later
  const auto use = handle_use();
  if (!use) return;  // lost() is under way, or somebody has destroyed it
  if (use->in_use) {
    // The slot is not told when this use ends: it is a call, or a lease that was asked for by the handle. So a model
    // that is to be unloaded at once is looked at again soon.
    last_used_ = now;
    return expiry_.set_at(after(now, std::clamp(keep_alive().seconds, kSoonestLook, kLatestLook)));
  }
  const auto due = expires();
  if (!due || now < *due) return arm();
  around_.log.info("model {} is unloaded: it was not used for {:.0f} s", title(), keep_alive().seconds);
  unload([](const std::exception_ptr&) {});
}

void ModelSlot::unload(UnloadedFunction done) {
  if (state_ == State::kUnloaded) {
    return asio::post(around_.loop, [done = std::move(done)] { done(nullptr); });
  }
  when_unloaded_.push_back(std::move(done));
  if (state_ == State::kLoaded) begin_to_unload();
  if (state_ == State::kLoading && users_waiting_.empty() && around_.runtime.queue != nullptr) {
    around_.runtime.queue->cancel(init_);
  }
}

void ModelSlot::begin_to_unload() {
  state_ = State::kUnloading;
  expiry_.clear();
  const auto tell = [&loop = around_.loop, weak = weak_from_this()](const std::exception_ptr& error) {
    post_patiently(loop, [weak, error] {
      if (const auto alive = weak.lock()) alive->unloaded(error);
    });
  };
  QueuedBackend* const queue = around_.runtime.queue;
  if (queue == nullptr || !queue->destroy_in_order(handle_, tell)) tell(nullptr);
  events_.changed();
}

void ModelSlot::unloaded(std::exception_ptr error) {
  if (state_ != State::kUnloading) return;
  if (error && handle_use()) {
    state_ = State::kLoaded;  // the runtime has refused
    arm();
  } else {
    around_.log.info("model {} is unloaded", title());
    forget_handle();
    error = nullptr;
  }
  for (const auto& done : std::exchange(when_unloaded_, {})) done(error);
  events_.changed();
  serve();
}

void ModelSlot::lost(const std::string& handle) {
  if (handle_ != handle || (state_ != State::kLoaded && state_ != State::kUnloading)) return;
  forget_handle();
  for (const auto& done : std::exchange(when_unloaded_, {})) done(nullptr);
  events_.changed();
  serve();
}

}  // namespace rkllm_mcp
