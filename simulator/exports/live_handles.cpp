#include "exports/live_handles.hpp"

#include <string>
#include <utility>

namespace rkllm_mcp::sim {

LiveHandles& LiveHandles::instance() {
  // Never destroyed: a program may end while a handle still runs, and the vendor's library does not mind either.
  static LiveHandles* const handles = new LiveHandles;
  return *handles;
}

void* LiveHandles::add(std::unique_ptr<CheckedInstance> instance) {
  const std::lock_guard lock(mutex_);
  void* const handle = instance.get();
  instances_.emplace(handle, std::move(instance));
  return handle;
}

CheckedInstance* LiveHandles::find(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = instances_.find(handle);
  return found == instances_.end() ? nullptr : found->second.get();
}

std::unique_ptr<CheckedInstance> LiveHandles::remove(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = instances_.find(handle);
  if (found == instances_.end()) return nullptr;
  std::unique_ptr<CheckedInstance> instance = std::move(found->second);
  instances_.erase(found);
  return instance;
}

CheckedInstance& instance_of(void* handle, const char* function) {
  CheckedInstance* const instance = LiveHandles::instance().find(handle);
  if (instance != nullptr) return *instance;
  broken_contract(Death::kSegmentationFault, std::string(function) + ": the handle was destroyed, or never was one");
}

}  // namespace rkllm_mcp::sim
