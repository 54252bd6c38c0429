#include "worker_client.hpp"

#include "sim_backend.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rkllm_mcp::simulation {

using namespace worker_methods;

namespace {

constexpr std::size_t kMostWorkerCalls = 16;
constexpr int kStepsToForget = 30;        // a call that has ended: its threads let go of it when their turn comes
constexpr int kLongSleepOfReaders = 120;  // times that it could have acted

}  // namespace

WorkerClient::WorkerClient(World& world, std::string name) : world_(world), name_(std::move(name)), backend_(world) {}

void WorkerClient::abandon() {
  settled_ = true;
  backend_.abandon();
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
    return has_own ? backend_.has_failed_worker(of) : backend_.any_worker_has_ended();
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
  calls_.back().id = backend_.queues().start(call->request(call));
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
  backend_.queues().cancel(one.id);
}

void WorkerClient::set_reading(bool reading) {
  for (const Started& each : calls_) each.call->set_reading(reading);
}

void WorkerClient::check() {
  if (backend_.is_ending()) return;
  for (Started& each : calls_) {
    if (each.call->has_ended() && each.call->is_held() && ++each.steps_since_end > kStepsToForget)
      throw Violation{each.call->told() + " has ended, and is kept"};
  }
  backend_.check();
}

void WorkerClient::settle() {
  settled_ = true;
  backend_.workers().behave();
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
    if (self && !self->backend_.is_ending()) self->backend_.end();
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
