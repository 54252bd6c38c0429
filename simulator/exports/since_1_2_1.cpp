// What came with 1.2.1, and has not changed since.
#include "engine/checked_instance.hpp"
#include "exports/live_handles.hpp"

#include <rkllm.h>

using namespace rkllm_mcp::sim;

int rkllm_clear_kv_cache(LLMHandle handle, int keep_system_prompt, int* start_pos, int* end_pos) {
  if (handle == nullptr) return -1;
  CheckedInstance& instance = instance_of(handle, __func__);
  if (start_pos == nullptr || end_pos == nullptr) return instance.clear_kv_cache(keep_system_prompt != 0);
  return instance.clear_kv_range({start_pos, instance.n_batch()}, {end_pos, instance.n_batch()});
}

int rkllm_get_kv_cache_size(LLMHandle handle, int* cache_sizes) {
  if (handle == nullptr) return -1;
  require_pointer(cache_sizes, "rkllm_get_kv_cache_size: cache_sizes is NULL");
  CheckedInstance& instance = instance_of(handle, __func__);
  return instance.kv_cache_sizes({cache_sizes, instance.n_batch()});
}

int rkllm_set_function_tools(LLMHandle handle, const char* system_prompt, const char* tools,
                             const char* tool_response_str) {
  if (handle == nullptr) return -1;
  require(system_prompt != nullptr && tools != nullptr && tool_response_str != nullptr, Death::kException,
          "rkllm_set_function_tools: system_prompt, tools or tool_response_str is NULL");
  return instance_of(handle, __func__).set_function_tools(system_prompt, tools, tool_response_str);
}

int rkllm_set_cross_attn_params(LLMHandle handle, RKLLMCrossAttnParam* params) {
  if (handle == nullptr) return -1;
  const bool complete = params != nullptr && params->encoder_k_cache != nullptr && params->encoder_v_cache != nullptr &&
                        params->encoder_mask != nullptr && params->encoder_pos != nullptr;
  return instance_of(handle, __func__).set_cross_attention(complete, complete ? params->num_tokens : 0);
}
