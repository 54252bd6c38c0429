// What QueuedBackend tells of its handles and calls: for status pages, and for code that chooses among models.
#include "backend/queued_backend.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace rkllm_mcp {

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

}  // namespace rkllm_mcp
