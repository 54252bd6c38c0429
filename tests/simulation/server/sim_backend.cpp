#include "sim_backend.hpp"

#include "faults.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <utility>

namespace rkllm_mcp::simulation {

std::string SimBackend::prompt(std::string_view name, std::size_t tokens) {
  return std::string(name) + ":" + std::to_string(tokens);
}

std::string SimBackend::token(std::string_view name, std::size_t index) {
  return std::string(name) + "#" + std::to_string(index) + "\xc3\xa9 ";
}

std::string SimBackend::text(std::string_view name, std::size_t tokens) {
  std::string whole;
  for (std::size_t i = 0; i < tokens; ++i) whole += token(name, i);
  return whole;
}

Backend::CallId SimBackend::start(CallRequest request) {
  const auto job = std::make_shared<Job>();
  job->id = request.id;
  job->observer = std::exchange(request.observer, nullptr);
  const std::string handle = request.params.value("handle", "");
  const std::string prompt = request.params.value("prompt", ":0");
  const std::size_t colon = prompt.find(':');
  job->name = prompt.substr(0, colon);
  job->tokens = request.method->streams ? std::stoul(prompt.substr(colon + 1)) : 0;
  job->request = std::move(request);
  Queue& queue = queues_[handle];
  if (!queue.empty()) {
    World::saw("a call had to wait");
    asio::post(world_.loop(), [job, before = queue.size()] {
      if (job->observer && !job->begun) job->observer->on_queued(before);
    });
  }
  queue.push_back(job);
  go_on(handle);
  return job->id;
}

void SimBackend::go_on(const std::string& handle) {
  Queue& queue = queues_[handle];
  if (queue.empty() || offered_[handle]) return;
  const auto job = queue.front();
  if (job->waits && !job->stopping) return;
  offered_[handle] = true;
  world_.may_happen("model " + handle + " goes on with " + job->name, [this, handle, job] {
    offered_[handle] = false;
    work(handle, job);
  });
}

void SimBackend::work(const std::string& handle, const std::shared_ptr<Job>& job) {
  if (!job->observer) return go_on(handle);
  if (!job->begun) {
    if (job->stopping) return go_on(handle);  // it is being taken out
    job->begun = true;
    job->observer->on_begun(std::nullopt);
    return go_on(handle);
  }
  if (job->observer->wants_to_stop()) job->stopping = true;
  if (job->stopping && has_fault("a run that is to stop does not")) return;
  if (!job->stopping && job->given < job->tokens) {
    const auto on_room = [this, handle, weak = std::weak_ptr(job)] {
      asio::post(world_.loop(), [this, handle, weak] {
        if (const auto waiting = weak.lock()) waiting->waits = false;
        go_on(handle);
      });
    };
    if (job->observer->offer_token(0, token(job->name, job->given), static_cast<std::int32_t>(job->given), on_room)) {
      ++job->given;
    } else {
      World::saw("a token had to wait for room");
      job->waits = true;
    }
    return go_on(handle);
  }
  CallOutcome outcome;
  outcome.result = Json{{"status", 0}};
  outcome.handle = handle;
  outcome.aborted = job->stopping;
  if (job->request.method->streams) outcome.state = "FINISH";
  end(handle, job, std::move(outcome));
}

void SimBackend::end(const std::string& handle, const std::shared_ptr<Job>& job, CallOutcome outcome) {
  Queue& queue = queues_[handle];
  queue.erase(std::find(queue.begin(), queue.end(), job));
  job->request = {};
  std::exchange(job->observer, nullptr)->on_done(std::move(outcome));
  go_on(handle);
}

bool SimBackend::take_out(CallId id, const RpcError& why) {
  for (auto& [handle, queue] : queues_) {
    for (const auto& job : queue) {
      if (job->id != id || job->begun) continue;
      CallOutcome outcome{.error = std::make_exception_ptr(why)};
      world_.may_happen(job->name + " leaves the queue",
                        [this, handle = handle, job, outcome = std::make_shared<CallOutcome>(std::move(outcome))] {
                          if (job->observer) end(handle, job, std::move(*outcome));
                        });
      job->stopping = true;
      return true;
    }
  }
  return false;
}

void SimBackend::cancel(CallId id) {
  World::saw("a call was cancelled");
  if (take_out(id, RpcError(ErrorCode::kCancelled, "cancelled"))) return;
  for (auto& [handle, queue] : queues_) {
    for (const auto& job : queue) {
      if (job->id != id) continue;
      job->stopping = true;
      job->observer->stop();
      return go_on(handle);
    }
  }
}

void SimBackend::give_up(CallId id, const RpcError& why) {
  World::saw("a call waited too long");
  take_out(id, why);
}

void SimBackend::end_all() {
  for (auto& [handle, queue] : std::exchange(queues_, {})) {
    for (const auto& job : queue) {
      if (job->observer)
        std::exchange(job->observer, nullptr)
            ->on_done(
                {.error = std::make_exception_ptr(RpcError(ErrorCode::kRuntimeUnavailable, "the simulation ends"))});
    }
  }
}

}  // namespace rkllm_mcp::simulation
