#include "exports/preconditions.hpp"

#include "exports/live_handles.hpp"

#include <string>

namespace rkllm_mcp::sim {

Session& session_of(void* handle, const char* function) {
  Session* const session = LiveHandles::instance().find(handle);
  if (session != nullptr) return *session;
  broken_contract(Death::kSegmentationFault, std::string(function) + ": the handle was destroyed, or never was one");
}

}  // namespace rkllm_mcp::sim
