// What came with 1.2.0, and has not changed since.
#include "engine/checked_instance.hpp"
#include "exports/live_handles.hpp"

#include <rkllm.h>

using namespace rkllm_mcp::sim;

int rkllm_set_chat_template(LLMHandle handle, const char* system_prompt, const char* prompt_prefix,
                            const char* prompt_postfix) {
  if (handle == nullptr) return -1;
  require_pointer(system_prompt, "rkllm_set_chat_template: system_prompt is NULL");
  require_pointer(prompt_prefix, "rkllm_set_chat_template: prompt_prefix is NULL");
  require_pointer(prompt_postfix, "rkllm_set_chat_template: prompt_postfix is NULL");
  return instance_of(handle, __func__).set_chat_template(system_prompt, prompt_prefix, prompt_postfix);
}
