#include "exports/preconditions.hpp"

#include "exports/live_handles.hpp"

#include <string>

namespace rkllm_mcp::sim {

CheckedInstance& instance_of(void* handle, const char* function) {
  CheckedInstance* const instance = LiveHandles::instance().find(handle);
  if (instance != nullptr) return *instance;
  broken_contract(Death::kSegmentationFault, std::string(function) + ": the handle was destroyed, or never was one");
}

}  // namespace rkllm_mcp::sim
