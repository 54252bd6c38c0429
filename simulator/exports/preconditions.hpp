// What the functions of the C API demand of a pointer, and what the vendor's library does without it.
#pragma once

#include "engine/checked_instance.hpp"
#include "engine/contract.hpp"

namespace rkllm_mcp::sim {

inline void require(bool kept, Death death, const char* rule) {
  if (!kept) broken_contract(death, rule);
}

inline void require_pointer(const void* pointer, const char* rule) {
  require(pointer != nullptr, Death::kSegmentationFault, rule);
}

// The instance of a handle that is not NULL. `function` is the one that was called.
CheckedInstance& instance_of(void* handle, const char* function);

}  // namespace rkllm_mcp::sim
