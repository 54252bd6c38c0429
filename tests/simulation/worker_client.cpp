#include "worker_client.hpp"

#include "sim_backend.hpp"

#include "settings_defaults.h"
#include "worker/worker_engine.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::size_t kMostWorkerCalls = 16;
constexpr std::size_t kMostModels = 3;
constexpr std::chrono::seconds kHang{120};
constexpr std::chrono::seconds kToShutDown{10};
constexpr int kStepsToNotice = 150;
constexpr int kStepsToForget = 30;        // a call that has ended: its threads let go of it when their turn comes
constexpr int kLongSleepOfReaders = 120;  // times that it could have acted

constexpr std::array<std::string_view, 2> kParams{"handle", "prompt"};
constexpr std::array<std::string_view, 1> kParamsWithoutHandle{"prompt"};

Method method(std::string_view name, HandleRole role) {
  Method method;
  method.name = name;
  method.handle = role;
  method.params = kParamsWithoutHandle;
  if (role != HandleRole::kUses && role != HandleRole::kDestroys) return method;
  method.params = kParams;
  method.handle_param = "handle";
  return method;
}

Method streaming(Method method) {
  method.streams = true;
  return method;
}

Method beside(Method method) {
  method.immediate = true;
  method.aborts = method.name == "abort";
  return method;
}

const std::array<Method, 7> kMethods{
    method("init", HandleRole::kCreates),        method("destroy", HandleRole::kDestroys),
    streaming(method("run", HandleRole::kUses)), method("plain", HandleRole::kUses),
    beside(method("abort", HandleRole::kUses)),  beside(method("is_running", HandleRole::kUses)),
    method("version", HandleRole::kNone)};
const Method& kInit = kMethods[0];
const Method& kDestroy = kMethods[1];
const Method& kRun = kMethods[2];
const Method& kPlain = kMethods[3];
const Method& kAbort = kMethods[4];
const Method& kIsRunning = kMethods[5];
const Method& kVersion = kMethods[6];

std::unique_ptr<QueuedBackend> make_backend(World& world, Counts& counts) {
  WorkerEngine::Options options{.loop = world.loop(), .command = {}};
  options.one_for_all = world.choices().choose(3) == 2;
  options.hang = kHang;
  QueuedBackend::Limits limits;
  limits.handles = kMostModels;
  limits.counts = &counts;
  limits.queued_per_handle = defaults::kQueueMaxPerHandle;
  return std::make_unique<QueuedBackend>(std::make_unique<WorkerEngine>(std::move(options)), kMethods, limits);
}

}  // namespace

WorkerClient::WorkerClient(World& world, std::string name)
    : world_(world), name_(std::move(name)), workers_(world), backend_(make_backend(world, counts_)) {
  backend_->when_lost([this](const std::string& handle) {
    World::saw("a model was lost");
    if (!has_failed_worker(handle)) world_.violates("the model " + handle + " is told to be lost, and is not");
  });
}

void WorkerClient::abandon() {
  if (is_over_) return;
  settled_ = true;
  workers_.behave();
  for (const auto& worker : workers_.all()) worker->kill();
  if (!ending_.joinable()) end();
  for (int i = 0; i < kStepsToEnd && !is_over_; ++i) {
    try {
      world_.step();
    } catch (const Violation&) {
      // The first one has been told.
    }
  }
  if (!is_over_) [[maybe_unused]]
    auto* const left = backend_.release();  // threads that never go on are in it
}

void WorkerClient::start() {
  load();
  plan();
}

void WorkerClient::plan() {
  world_.may_happen(name_ + " acts", [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->act();
  });
}

void WorkerClient::act() {
  if (settled_) return;
  if (sleeps_for_ > 0) {
    --sleeps_for_;
    return plan();
  }
  switch (world_.choices().choose(16)) {
    case 0:
    case 1: load(); break;
    case 2:
    case 3:
    case 4:
    case 5: call(kRun); break;
    case 6: call(kPlain); break;
    case 7: call(kIsRunning); break;
    case 8: call(kAbort); break;
    case 9: cancel(); break;
    case 10:
      set_reading(false);
      if (world_.choices().happens(2)) sleeps_for_ = kLongSleepOfReaders;
      break;
    case 11:
    case 12: set_reading(true); break;
    case 13: begin(kVersion, {}, 0); break;
    case 14:
      if (world_.choices().happens(3)) call(kDestroy);
      break;
    default: break;  // it waits
  }
  plan();
}

void WorkerClient::load() { begin(kInit, {}, 0); }

void WorkerClient::call(const Method& method) {
  if (handles_.empty()) return;
  const std::string& handle = handles_[world_.choices().choose(static_cast<std::uint32_t>(handles_.size()))];
  const bool is_endless = &method == &kRun && world_.choices().happens(6);
  const std::size_t tokens = &method != &kRun ? 0
                             : is_endless     ? WorkerCall::kEndless
                                              : world_.choices().choose(SimBackend::kTokens);
  begin(method, handle, tokens);
}

void WorkerClient::begin(const Method& method, const std::string& handle, std::size_t tokens) {
  if (calls_.size() == kMostWorkerCalls) return;
  auto call =
      std::make_shared<WorkerCall>(world_, method, name_ + "." + std::to_string(calls_.size() + 1), handle, tokens);
  call->has_lost_worker = [this, &method](const std::string& of) {
    const bool has_own = method.handle == HandleRole::kUses || method.handle == HandleRole::kDestroys;
    return has_own ? has_failed_worker(of) : any_worker_has_ended();
  };
  call->ended = [this, &method, weak = std::weak_ptr(call)] {
    const auto ended = weak.lock();
    if (&method == &kInit && ended->has_succeeded()) handles_.push_back(ended->handle());
    go_on_settling();
  };
  call->is_before_its_turn = [this, handle, one = call.get()] {
    const auto here =
        std::find_if(calls_.begin(), calls_.end(), [one](const auto& each) { return each.call.get() == one; });
    return std::any_of(calls_.begin(), here, [&handle](const Started& each) {
      return each.call->handle() == handle && each.call->must_be_waiting();
    });
  };
  // What stops runs, or takes their model away, excuses those that are open and those to come.
  if (&method == &kAbort) excuse(handle);
  if (&method == &kDestroy) destroyed_.insert(handle);
  if (destroyed_.count(handle) > 0) {
    call->may_find_no_model();
    excuse(handle);
  }
  // What stops a run means the one that is going on when it is made.
  const bool is_being_stopped = std::any_of(calls_.begin(), calls_.end(), [&handle](const Started& each) {
    return &each.call->method() == &kAbort && each.call->handle() == handle && !each.call->has_ended();
  });
  if (is_being_stopped) call->may_be_stopped();
  calls_.push_back({call});
  calls_.back().id = backend_->start(call->request(call));
}

// The calls on it may end without having been made whole.
void WorkerClient::excuse(const std::string& handle) {
  for (const Started& each : calls_) {
    if (each.call->handle() != handle) continue;
    each.call->may_be_stopped();
    if (destroyed_.count(handle) > 0) each.call->may_find_no_model();
  }
}

void WorkerClient::cancel() {
  std::vector<Started*> open;
  for (Started& each : calls_) {
    if (!each.call->has_ended()) open.push_back(&each);
  }
  if (open.empty()) return;
  const Started& one = *open[world_.choices().choose(static_cast<std::uint32_t>(open.size()))];
  cancel(one);
}

void WorkerClient::cancel(const Started& one) {
  World::saw("a call in a worker was cancelled");
  one.call->may_be_stopped();
  world_.tell(name_ + " cancels " + one.call->told());
  backend_->cancel(one.id);
}

void WorkerClient::set_reading(bool reading) {
  for (const Started& each : calls_) each.call->set_reading(reading);
}

bool WorkerClient::has_failed_worker(const std::string& handle) const {
  return std::any_of(workers_.all().begin(), workers_.all().end(),
                     [&](const auto& worker) { return worker->has_failed() && worker->has_place_of(handle); });
}

bool WorkerClient::any_worker_has_ended() const {
  return std::any_of(workers_.all().begin(), workers_.all().end(),
                     [](const auto& worker) { return worker->has_failed() || worker->is_dying(); });
}

// The model of a worker that has ended is gone soon.
void WorkerClient::check() {
  if (!backend_ || ending_.joinable()) return;
  for (Started& each : calls_) {
    if (each.call->has_ended() && each.call->is_held() && ++each.steps_since_end > kStepsToForget)
      throw Violation{each.call->told() + " has ended, and is kept"};
  }
  if (!any_worker_has_ended()) return;
  for (const auto& status : backend_->handles()) {
    const auto& all = workers_.all();
    const auto worker =
        std::find_if(all.rbegin(), all.rend(), [&](const auto& each) { return each->has_place_of(status.id); });
    const bool has_ended = worker != all.rend() && (*worker)->has_ended();
    int& steps = steps_since_end_[status.id];
    steps = has_ended ? steps + 1 : 0;
    if (steps > kStepsToNotice) throw Violation{"calls on " + status.id + ", whose worker has ended, go on"};
  }
}

void WorkerClient::settle() {
  settled_ = true;
  workers_.behave();
  set_reading(true);
  for (const Started& each : calls_) {
    if (each.call->is_endless() && !each.call->has_ended()) cancel(each);
  }
  go_on_settling();
}

void WorkerClient::go_on_settling() {
  const bool is_owed =
      std::any_of(calls_.begin(), calls_.end(), [](const auto& each) { return !each.call->has_ended(); });
  if (!settled_ || is_owed) return;
  world_.may_happen(name_ + " leaves", [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (self && !self->ending_.joinable()) self->end();
  });
}

void WorkerClient::end() {
  ending_ = Thread([this] {
    backend_->shut_down(Clock::now() + kToShutDown);
    backend_.reset();
    World::saw(counts_);
    for (const auto& worker : workers_.all()) {
      if (!worker->has_ended()) world_.violates("worker " + std::to_string(worker->id()) + " is left");
    }
    is_over_ = true;
  });
}

std::string WorkerClient::owed() const {
  std::string text = name_ + ":";
  for (const Started& each : calls_) {
    if (!each.call->has_ended()) text += " " + each.call->told();
  }
  return text;
}

}  // namespace rkllm_mcp::simulation
