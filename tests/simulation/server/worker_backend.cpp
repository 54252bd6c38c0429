#include "worker_backend.hpp"

#include "faults.hpp"
#include "settings_defaults.h"
#include "worker/worker_engine.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr std::chrono::seconds kHang{120};
constexpr std::chrono::seconds kToShutDown{10};
constexpr int kStepsToNotice = 150;

std::unique_ptr<QueuedBackend> make_backend(World& world, Counts& counts) {
  WorkerEngine::Options options{.loop = world.loop(), .command = {}};
  options.one_for_all = world.choices().choose(3) == 2;
  options.hang = kHang;
  QueuedBackend::Limits limits;
  limits.handles = WorkerBackend::kMostModels;
  limits.counts = &counts;
  limits.queued_per_handle = defaults::kQueueMaxPerHandle;
  auto engine = std::make_unique<WorkerEngine>(std::move(options));
  return std::make_unique<QueuedBackend>(std::move(engine), worker_methods::kAll, limits);
}

}  // namespace

WorkerBackend::WorkerBackend(World& world) : world_(world), workers_(world), backend_(make_backend(world, counts_)) {
  backend_->when_lost([this](const std::string& handle) {
    World::saw("a model was lost");
    if (!has_failed_worker(handle)) world_.violates("the model " + handle + " is told to be lost, and is not");
    lost_(handle);
  });
}

bool WorkerBackend::has_failed_worker(const std::string& handle) const {
  return std::any_of(workers_.all().begin(), workers_.all().end(),
                     [&](const auto& worker) { return worker->has_failed() && worker->has_place_of(handle); });
}

const SimWorker* WorkerBackend::latest_worker(const std::string& handle) const {
  const auto& all = workers_.all();
  const auto worker =
      std::find_if(all.rbegin(), all.rend(), [&](const auto& each) { return each->has_place_of(handle); });
  return worker == all.rend() ? nullptr : worker->get();
}

bool WorkerBackend::has_failed_latest_worker(const std::string& handle) const {
  const SimWorker* const worker = latest_worker(handle);
  return worker != nullptr && worker->has_failed();
}

bool WorkerBackend::any_worker_has_ended() const {
  return std::any_of(workers_.all().begin(), workers_.all().end(),
                     [](const auto& worker) { return worker->has_failed() || worker->is_dying(); });
}

void WorkerBackend::check() {
  if (is_ending() || !any_worker_has_ended()) return;
  for (const auto& status : backend_->handles()) {
    const SimWorker* const worker = latest_worker(status.id);
    const bool has_ended = worker != nullptr && worker->has_ended();
    int& steps = steps_since_end_[status.id];
    steps = has_ended ? steps + 1 : 0;
    if (steps > kStepsToNotice) throw Violation{"calls on " + status.id + ", whose worker has ended, go on"};
  }
}

void WorkerBackend::end() {
  ending_ = Thread([this] {
    backend_->shut_down(Clock::now() + kToShutDown);
    backend_.reset();
    World::saw(counts_);
    for (const auto& worker : workers_.all()) {
      if (!worker->has_ended()) world_.violates("worker " + std::to_string(worker->id()) + " is left");
    }
    is_over_ = !has_fault("the end of models in workers is not told");
  });
}

void WorkerBackend::abandon() {
  if (is_over_) return;
  workers_.behave();
  for (const auto& worker : workers_.all()) worker->kill();
  if (!is_ending()) end();
  for (int i = 0; i < kStepsToEnd && !is_over_; ++i) {
    try {
      world_.step();
    } catch (...) {
      // What has failed the schedule has been told.
    }
  }
  if (!is_over_) [[maybe_unused]]
    auto* const left = backend_.release();  // threads that never go on are in it
}

}  // namespace rkllm_mcp::simulation
