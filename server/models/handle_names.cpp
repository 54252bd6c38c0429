#include "models/handle_names.hpp"

#include "backend/handle_resources.hpp"

#include <algorithm>

namespace rkllm_mcp {

std::string name_of_handle(const QueuedBackend::HandleStatus& handle,
                           const std::vector<QueuedBackend::HandleStatus>& all,
                           const std::function<bool(const std::string& name)>& is_taken) {
  if (!handle.model.empty()) return handle.model;
  std::string name = model_name_of(handle);
  // "llm-9" was made before "llm-10".
  const auto is_earlier = [&handle](const QueuedBackend::HandleStatus& other) {
    return other.id.size() != handle.id.size() ? other.id.size() < handle.id.size() : other.id < handle.id;
  };
  const bool is_used = std::ranges::any_of(all, [&](const auto& other) {
    return other.id == name || (other.model.empty() && is_earlier(other) && model_name_of(other) == name);
  });
  return name.empty() || is_used || is_taken(name) ? handle.id : name;
}

}  // namespace rkllm_mcp
