// Loads the model that is named, and says so.
#include "rkllm.h"

#include <cstdio>

int main(int, char** arguments) {
  RKLLMParam param = rkllm_createDefaultParam();
  param.model_path = arguments[1];
  param.extend_param.enabled_cpus_mask = CPU0 | CPU1 | CPU2 | CPU3;
  RKLLMCallback callback{};
  callback.result_callback = [](RKLLMResult*, void*, LLMCallState) { return 0; };
  LLMHandle handle = nullptr;
  if (rkllm_init(&handle, &param, &callback) != 0) return 1;
  std::puts("loaded");
  return rkllm_destroy(handle);
}
