// The functions that are the same in every ABI set. Files beside this one hold those that only some sets have, or have
// with other parameters or another meaning; simulator/CMakeLists.txt says which set is made of which.
//
// Here stands what is true of pointers: which may be NULL, which the vendor's library does not survive; and what the
// default parameters are. Everything else is the engine's business.
#include "board/processors.hpp"
#include "engine/checked_instance.hpp"
#include "exports/convert.hpp"
#include "exports/live_handles.hpp"

#include <rkllm.h>

#include <cstdint>
#include <memory>

using namespace rkllm_mcp::sim;

namespace {

// What enabled_cpus_mask holds where the vendor's library leaves it unwritten. A real one holds anything.
constexpr std::uint32_t kUnwrittenMask = 0xDEADBEEF;

// A template, so that it may ask for fields that a set lacks.
template <class Param>
Param defaults() {
  Param param{};
  param.max_context_len = 512;
  param.max_new_tokens = 512;
  param.top_k = 40;
  if constexpr (requires { param.n_keep; }) param.n_keep = -1;
  param.top_p = 0.9F;
  param.temperature = 0.8F;
  param.repeat_penalty = 1.1F;
  param.mirostat_tau = 5.0F;
  param.mirostat_eta = 0.1F;
  param.skip_special_token = true;
  if constexpr (requires { param.extend_param.enabled_cpus_mask; }) {
    param.extend_param.embed_flash = 1;
    param.extend_param.enabled_cpus_num = 4;
    const int cpus = cpus_online();
    param.extend_param.enabled_cpus_mask = cpus == 8 ? 0xF0 : cpus == 4 ? 0x0F : kUnwrittenMask;
  }
  if constexpr (requires { param.extend_param.n_batch; }) param.extend_param.n_batch = 1;
  return param;
}

}  // namespace

// The values are those that were measured with 1.3.0; what older versions have is not known.
RKLLMParam rkllm_createDefaultParam() { return defaults<RKLLMParam>(); }

int rkllm_load_lora(LLMHandle handle, RKLLMLoraAdapter* adapter) {
  if (handle == nullptr) return -1;
  require_pointer(adapter, "rkllm_load_lora: lora_adapter is NULL");
  require_pointer(adapter->lora_adapter_path, "rkllm_load_lora: lora_adapter_path is NULL");
  require(adapter->lora_adapter_name != nullptr, Death::kException, "rkllm_load_lora: lora_adapter_name is NULL");
  return instance_of(handle, __func__).load_lora(adapter->lora_adapter_name, adapter->lora_adapter_path);
}

int rkllm_load_prompt_cache(LLMHandle handle, const char* prompt_cache_path) {
  if (handle == nullptr) return -1;
  require(prompt_cache_path != nullptr, Death::kException, "rkllm_load_prompt_cache: prompt_cache_path is NULL");
  return instance_of(handle, __func__).load_prompt_cache(prompt_cache_path);
}

int rkllm_release_prompt_cache(LLMHandle handle) {
  if (handle == nullptr) return -1;
  return instance_of(handle, __func__).release_prompt_cache();
}

int rkllm_destroy(LLMHandle handle) {
  if (handle == nullptr) return -1;
  const std::unique_ptr<CheckedInstance> instance = LiveHandles::instance().remove(handle);
  require_pointer(instance.get(), "rkllm_destroy: the handle was destroyed before, or never was one");
  return 0;
}

int rkllm_run(LLMHandle handle, RKLLMInput* rkllm_input, RKLLMInferParam* rkllm_infer_params, void* userdata) {
  if (handle == nullptr) return -1;
  require_pointer(rkllm_input, "rkllm_run: rkllm_input is NULL");
  require_pointer(rkllm_infer_params, "rkllm_run: rkllm_infer_params is NULL");
  CheckedInstance& instance = instance_of(handle, __func__);
  return instance.run(request_from(rkllm_input, *rkllm_infer_params, userdata, instance));
}

int rkllm_run_async(LLMHandle handle, RKLLMInput* rkllm_input, RKLLMInferParam* rkllm_infer_params, void* userdata) {
  if (handle == nullptr || rkllm_input == nullptr || rkllm_infer_params == nullptr) return -1;
  CheckedInstance& instance = instance_of(handle, __func__);
  return instance.run_async(request_from(rkllm_input, *rkllm_infer_params, userdata, instance));
}

int rkllm_abort(LLMHandle handle) { return handle == nullptr ? -1 : instance_of(handle, __func__).abort(); }
