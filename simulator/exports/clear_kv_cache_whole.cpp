// rkllm_clear_kv_cache of 1.2.0 and 1.2.1b1, which knows no ranges.
#include "engine/checked_instance.hpp"
#include "exports/live_handles.hpp"

#include <rkllm.h>

using namespace rkllm_mcp::sim;

int rkllm_clear_kv_cache(LLMHandle handle, int keep_system_prompt) {
  if (handle == nullptr) return -1;
  return instance_of(handle, __func__).clear_kv_cache(keep_system_prompt != 0);
}
