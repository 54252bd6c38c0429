#include "worker_client.hpp"

#include "simulation/server/sim_backend.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace rkllm_mcp::simulation {

using namespace worker_methods;

namespace {

constexpr std::size_t kMostWorkerCalls = 16;
constexpr std::size_t kMostLeases = 4;
constexpr int kStepsToForget = 30;        // a call that has ended: its threads let go of it when their turn comes
constexpr int kLongSleepOfReaders = 120;  // times that it could have acted

}  // namespace

WorkerClient::WorkerClient(World& world, std::string name, Leases leases)
    : world_(world), name_(std::move(name)), backend_(world), leases_(leases) {}

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
  switch (world_.choices().choose(leases_ == Leases::kNone ? 16 : 21)) {
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
    case 16: lease(); break;
    case 17:
    case 18:
    case 19: call_leased(); break;
    case 20: end_lease(); break;
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

void WorkerClient::begin(const Method& method, const std::string& handle, std::size_t tokens, Backend::CallId lease) {
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
  const std::size_t order = ++last_order_;
  call->is_before_its_turn = [this, handle, order, lease] { return is_overtaking(handle, order, lease); };
  // What stops runs, or takes their model away, excuses those that are open and those to come.
  if (&method == &kAbort) excuse(handle);
  if (&method == &kDestroy) destroyed_.insert(handle);
  if (destroyed_.count(handle) > 0) {
    call->may_find_no_model();
    excuse(handle);
  }
  // An abort stops whichever run is going on when the abort is made.
  const bool is_being_stopped = std::any_of(calls_.begin(), calls_.end(), [&handle](const Started& each) {
    return &each.call->method() == &kAbort && each.call->handle() == handle && !each.call->has_ended();
  });
  if (is_being_stopped) call->may_be_stopped();
  const bool has_no_lease = lease != 0 && std::none_of(leased_.begin(), leased_.end(), [lease](const Leased& each) {
                              return each.id == lease && each.lease->is_held();
                            });
  if (has_no_lease) {  // it is refused, and waits for nothing
    call->may_find_no_model();
    call->may_be_stopped();
  }
  world_.tell(name_ + " asks for " + call->told() + (lease == 0 ? "" : " in a lease"));
  calls_.push_back({call, 0, order, lease});
  calls_.back().id = lease == 0 ? backend_.queues().start(call->request(call))
                                : backend_.queues().start_leased(lease, call->request(call));
}

bool WorkerClient::is_overtaking(const std::string& handle, std::size_t order, Backend::CallId lease) const {
  const bool is_call = std::any_of(calls_.begin(), calls_.end(), [&](const Started& each) {
    return each.order < order && each.lease == lease && each.call->handle() == handle && each.call->must_be_waiting();
  });
  if (lease != 0) return is_call;
  return is_call || std::any_of(leased_.begin(), leased_.end(), [&](const Leased& each) {
           const bool is_earlier = each.order < order && each.lease->must_be_waiting();
           return each.lease->handle() == handle && (is_earlier || each.lease->is_held());
         });
}

void WorkerClient::lease() {
  if (handles_.empty() || leased_.size() == kMostLeases) return;
  const std::string& handle = handles_[world_.choices().choose(static_cast<std::uint32_t>(handles_.size()))];
  const std::size_t order = ++last_order_;
  auto lease = std::make_shared<WorkerLease>(world_, name_ + "." + std::to_string(order), handle);
  lease->has_lost_worker = [this, handle] { return backend_.has_failed_worker(handle); };
  lease->ended = [this] { go_on_settling(); };
  // The lease that begins is not compared with itself.
  lease->is_before_its_turn = [this, handle, order] {
    const bool is_held = std::any_of(leased_.begin(), leased_.end(), [&](const Leased& each) {
      return each.order != order && each.lease->handle() == handle &&
             (each.lease->is_held() || (each.order < order && each.lease->must_be_waiting()));
    });
    return is_held || std::any_of(calls_.begin(), calls_.end(), [&](const Started& each) {
             return each.order < order && each.lease == 0 && each.call->handle() == handle &&
                    each.call->must_be_waiting();
           });
  };
  if (destroyed_.count(handle) > 0) lease->may_end();
  world_.tell(name_ + " asks for " + lease->told());
  leased_.push_back({lease, 0, order});
  leased_.back().id = backend_.queues().lease(handle, WorkerLease::request(lease));
}

void WorkerClient::call_leased() {
  if (leased_.empty()) return;
  const Leased one = leased_[world_.choices().choose(static_cast<std::uint32_t>(leased_.size()))];
  const bool is_run = world_.choices().choose(2) == 0;
  const std::size_t tokens = is_run ? world_.choices().choose(SimBackend::kTokens) : 0;
  World::saw("a call of a lease was made");
  begin(is_run ? kRun : kPlain, one.lease->handle(), tokens, one.id);
}

void WorkerClient::end_lease() {
  if (leased_.empty()) return;
  end(leased_[world_.choices().choose(static_cast<std::uint32_t>(leased_.size()))]);
}

// Its calls are stopped with it.
void WorkerClient::end(const Leased& one) {
  one.lease->may_end();
  for (const Started& each : calls_) {
    if (each.lease == one.id) each.call->may_be_stopped();
  }
  world_.tell(name_ + " ends " + one.lease->told());
  backend_.queues().end_lease(one.id);
}

// The calls on it may end without having been made whole.
void WorkerClient::excuse(const std::string& handle) {
  for (const Started& each : calls_) {
    if (each.call->handle() != handle) continue;
    each.call->may_be_stopped();
    if (destroyed_.count(handle) > 0) each.call->may_find_no_model();
  }
  for (const Leased& each : leased_) {
    if (each.lease->handle() == handle && destroyed_.count(handle) > 0) each.lease->may_end();
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
  for (const Leased& each : leased_) end(each);
  go_on_settling();
}

bool WorkerClient::is_over() const {
  return std::all_of(calls_.begin(), calls_.end(), [](const auto& each) { return each.call->has_ended(); }) &&
         std::all_of(leased_.begin(), leased_.end(), [](const auto& each) { return each.lease->has_ended(); });
}

void WorkerClient::go_on_settling() {
  if (!settled_ || !is_over()) return;
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
  for (const Leased& each : leased_) {
    if (!each.lease->has_ended()) text += " " + each.lease->told();
  }
  return text;
}

}  // namespace rkllm_mcp::simulation
