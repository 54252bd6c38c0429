// The 15 functions of runtime 1.3.0, over the engine.
//
// Here stands what is true of pointers: which may be NULL, which the vendor's library does not survive. Everything else
// is the engine's business.
#include "contract.hpp"
#include "cpus.hpp"
#include "exports/convert_1_3_0.hpp"
#include "exports/live_handles.hpp"
#include "log.hpp"
#include "session.hpp"

#include "generator/headers/rkllm_1.3.0.h"

#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace {

using namespace rkllm_mcp::sim;
using namespace rkllm_mcp::sim::v1_3_0;

// Programs find the version of a runtime library by this text in its file, before they load it.
[[gnu::used]] constexpr char kVersionText[] =
    "RKLLM SDK (version: 1.3.0 | SIMULATED: rkllm simulator, no NPU is used and no model is computed)";

// What enabled_cpus_mask holds where the vendor's library leaves it unwritten. A real one holds anything.
constexpr uint32_t kUnwrittenMask = 0xDEADBEEF;

void require(bool kept, Death death, const char* rule) {
  if (!kept) broken_contract(death, rule);
}

void require_pointer(const void* pointer, const char* rule) {
  require(pointer != nullptr, Death::kSegmentationFault, rule);
}

// The session of a handle that is not NULL. `function` is the one that was called.
Session& session_of(LLMHandle handle, const char* function) {
  Session* const session = LiveHandles::instance().find(handle);
  if (session != nullptr) return *session;
  broken_contract(Death::kSegmentationFault, std::string(function) + ": the handle was destroyed, or never was one");
}

}  // namespace

RKLLMParam rkllm_createDefaultParam() {
  RKLLMParam param{};
  param.max_context_len = 512;
  param.max_new_tokens = 512;
  param.top_k = 40;
  param.n_keep = -1;
  param.top_p = 0.9F;
  param.temperature = 0.8F;
  param.repeat_penalty = 1.1F;
  param.mirostat_tau = 5.0F;
  param.mirostat_eta = 0.1F;
  param.skip_special_token = true;
  param.extend_param.embed_flash = 1;
  param.extend_param.enabled_cpus_num = 4;
  const int cpus = cpus_online();
  param.extend_param.enabled_cpus_mask = cpus == 8 ? 0xF0 : cpus == 4 ? 0x0F : kUnwrittenMask;
  param.extend_param.n_batch = 1;
  return param;
}

int rkllm_init(LLMHandle* handle, RKLLMParam* param, RKLLMCallback* callback) {
  require_pointer(param, "rkllm_init: param is NULL");
  require_pointer(param->model_path, "rkllm_init: param->model_path is NULL");
  const Log log;
  log.info(kVersionText);
  void* made = nullptr;
  try {
    auto session = std::make_unique<Session>(options_from(*param), client_for(callback, param->extend_param.n_batch));
    require_pointer(handle, "rkllm_init: handle is NULL");
    made = LiveHandles::instance().add(std::move(session));
  } catch (const std::exception& refusal) {
    log.error(std::string("rkllm_init: ") + refusal.what());
    return -1;
  }
  *handle = made;
  return 0;
}

int rkllm_load_lora(LLMHandle handle, RKLLMLoraAdapter* adapter) {
  if (handle == nullptr) return -1;
  require_pointer(adapter, "rkllm_load_lora: lora_adapter is NULL");
  require_pointer(adapter->lora_adapter_path, "rkllm_load_lora: lora_adapter_path is NULL");
  require(adapter->lora_adapter_name != nullptr, Death::kException, "rkllm_load_lora: lora_adapter_name is NULL");
  return session_of(handle, __func__).load_lora(adapter->lora_adapter_name, adapter->lora_adapter_path);
}

int rkllm_load_prompt_cache(LLMHandle handle, const char* prompt_cache_path) {
  if (handle == nullptr) return -1;
  require(prompt_cache_path != nullptr, Death::kException, "rkllm_load_prompt_cache: prompt_cache_path is NULL");
  return session_of(handle, __func__).load_prompt_cache(prompt_cache_path);
}

int rkllm_release_prompt_cache(LLMHandle handle) {
  if (handle == nullptr) return -1;
  return session_of(handle, __func__).release_prompt_cache();
}

int rkllm_destroy(LLMHandle handle) {
  if (handle == nullptr) return -1;
  const std::unique_ptr<Session> session = LiveHandles::instance().remove(handle);
  require_pointer(session.get(), "rkllm_destroy: the handle was destroyed before, or never was one");
  return 0;
}

int rkllm_run(LLMHandle handle, RKLLMInput* rkllm_input, RKLLMInferParam* rkllm_infer_params, void* userdata) {
  if (handle == nullptr) return -1;
  require_pointer(rkllm_input, "rkllm_run: rkllm_input is NULL");
  require_pointer(rkllm_infer_params, "rkllm_run: rkllm_infer_params is NULL");
  Session& session = session_of(handle, __func__);
  return session.run(request_from(rkllm_input, *rkllm_infer_params, userdata, session));
}

int rkllm_run_async(LLMHandle handle, RKLLMInput* rkllm_input, RKLLMInferParam* rkllm_infer_params, void* userdata) {
  if (handle == nullptr || rkllm_input == nullptr || rkllm_infer_params == nullptr) return -1;
  Session& session = session_of(handle, __func__);
  return session.run_async(request_from(rkllm_input, *rkllm_infer_params, userdata, session));
}

int rkllm_abort(LLMHandle handle) { return handle == nullptr ? -1 : session_of(handle, __func__).abort(); }

int rkllm_is_running(LLMHandle handle) { return handle == nullptr ? -1 : session_of(handle, __func__).is_running(); }

int rkllm_clear_kv_cache(LLMHandle handle, int keep_system_prompt, int* start_pos, int* end_pos) {
  if (handle == nullptr) return -1;
  Session& session = session_of(handle, __func__);
  if (start_pos == nullptr || end_pos == nullptr) return session.clear_kv_cache(keep_system_prompt != 0);
  return session.clear_kv_range({start_pos, session.n_batch()}, {end_pos, session.n_batch()});
}

int rkllm_get_kv_cache_size(LLMHandle handle, int* cache_sizes) {
  if (handle == nullptr) return -1;
  require_pointer(cache_sizes, "rkllm_get_kv_cache_size: cache_sizes is NULL");
  Session& session = session_of(handle, __func__);
  return session.kv_cache_sizes({cache_sizes, session.n_batch()});
}

int rkllm_set_chat_template(LLMHandle handle, const char* system_prompt, const char* prompt_prefix,
                            const char* prompt_postfix) {
  if (handle == nullptr) return -1;
  require_pointer(system_prompt, "rkllm_set_chat_template: system_prompt is NULL");
  require_pointer(prompt_prefix, "rkllm_set_chat_template: prompt_prefix is NULL");
  require_pointer(prompt_postfix, "rkllm_set_chat_template: prompt_postfix is NULL");
  return session_of(handle, __func__).set_chat_template(system_prompt, prompt_prefix, prompt_postfix);
}

int rkllm_set_function_tools(LLMHandle handle, const char* system_prompt, const char* tools,
                             const char* tool_response_str) {
  if (handle == nullptr) return -1;
  require(system_prompt != nullptr && tools != nullptr && tool_response_str != nullptr, Death::kException,
          "rkllm_set_function_tools: system_prompt, tools or tool_response_str is NULL");
  return session_of(handle, __func__).set_function_tools(system_prompt, tools, tool_response_str);
}

int rkllm_set_cross_attn_params(LLMHandle handle, RKLLMCrossAttnParam* params) {
  if (handle == nullptr) return -1;
  const bool complete = params != nullptr && params->encoder_k_cache != nullptr && params->encoder_v_cache != nullptr &&
                        params->encoder_mask != nullptr && params->encoder_pos != nullptr;
  return session_of(handle, __func__).set_cross_attention(complete, complete ? params->num_tokens : 0);
}
