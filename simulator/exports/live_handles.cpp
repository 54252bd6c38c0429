#include "exports/live_handles.hpp"

#include <utility>

namespace rkllm_mcp::sim {

LiveHandles& LiveHandles::instance() {
  // Never destroyed: a program may end while a handle still runs, and the vendor's library does not mind either.
  static LiveHandles* const handles = new LiveHandles;
  return *handles;
}

void* LiveHandles::add(std::unique_ptr<Session> session) {
  const std::lock_guard lock(mutex_);
  void* const handle = session.get();
  sessions_.emplace(handle, std::move(session));
  return handle;
}

Session* LiveHandles::find(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(handle);
  return found == sessions_.end() ? nullptr : found->second.get();
}

std::unique_ptr<Session> LiveHandles::remove(void* handle) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(handle);
  if (found == sessions_.end()) return nullptr;
  std::unique_ptr<Session> session = std::move(found->second);
  sessions_.erase(found);
  return session;
}

}  // namespace rkllm_mcp::sim
