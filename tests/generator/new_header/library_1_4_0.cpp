// A runtime library of the made-up version 1.4.0: compiled, as a vendor would, against the header alone. It has no
// model: a run answers with what it was told, so that a test can see what arrived in the C structs.
#include "rkllm_1.4.0.h"

#include <cstdio>
#include <string>

extern "C" {
extern const char rkllm_version_text[];
const char rkllm_version_text[] = "RKLLM SDK (version: 1.4.0 | a library of the tests)";
}

namespace {

constexpr int kEmbeddingSize = 2;
constexpr int kLogsAtMost = 2;

struct Model {
  RKLLMCallback callback;
  float min_p;
  int context_length;
  std::string steering = "none";
};

Model& model_of(LLMHandle handle) { return *static_cast<Model*>(handle); }

std::string two_digits(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", static_cast<double>(value));
  return text;
}

std::string received(const Model& model, const RKLLMInferParam& param) {
  const std::string draft = param.draft.model_path == nullptr ? "none" : param.draft.model_path;
  return "min_p " + two_digits(model.min_p) + ", mode " + std::to_string(param.mode) + ", draft " + draft + " by " +
         std::to_string(param.draft.length) + ", at most " + std::to_string(param.max_new_tokens) + ", steering " +
         model.steering + ", context " + std::to_string(model.context_length);
}

int run(Model& model, const RKLLMInferParam& param, void* userdata) {
  const float hidden[kEmbeddingSize] = {0.5F, -0.5F};
  const std::string text = received(model, param);
  RKLLMResult result{};
  if (param.mode == RKLLM_INFER_GET_LAST_HIDDEN_LAYER) {
    result.last_hidden_layer = {hidden, kEmbeddingSize, 1};
  } else {
    result.text = text.c_str();
  }
  model.callback.result_callback(&result, userdata, RKLLM_RUN_NORMAL);
  RKLLMResult end{};
  model.callback.result_callback(&end, userdata, RKLLM_RUN_FINISH);
  return 0;
}

}  // namespace

extern "C" {

RKLLMParam rkllm_createDefaultParam(void) {
  RKLLMParam param{};
  param.min_p = 0.05F;
  param.context_length = 512;
  param.is_async = true;
  param.extend_param.n_batch = 1;
  return param;
}

int rkllm_init(LLMHandle* handle, RKLLMParam* param, RKLLMCallback* callback) {
  *handle = new Model{*callback, param->min_p, param->context_length};
  return 0;
}
int rkllm_destroy(LLMHandle handle) {
  delete static_cast<Model*>(handle);
  return 0;
}

int rkllm_run(LLMHandle handle, RKLLMInput*, RKLLMInferParam* param, void* userdata) {
  return run(model_of(handle), *param, userdata);
}
int rkllm_run_async(LLMHandle handle, RKLLMInput*, RKLLMInferParam* param, void* userdata) {
  return run(model_of(handle), *param, userdata);
}

int rkllm_set_log_level(int level, bool with_time) { return level <= kLogsAtMost && with_time ? 0 : -1; }

int rkllm_get_prompt_lengths(LLMHandle, int32_t* lengths) {
  lengths[0] = 7;
  return 0;
}

int rkllm_set_steering(LLMHandle handle, RKLLMSteering* steering) {
  std::string text = std::string(steering->name) + " by " + two_digits(steering->strength) + " along";
  for (size_t i = 0; i < steering->n_vectors * kEmbeddingSize; ++i) text += " " + two_digits(steering->direction[i]);
  model_of(handle).steering = text;
  return 0;
}

// Each half of the text is a part with two frames of one channel.
int rkllm_speak(LLMHandle, const char* text, LLMSpeechCallback callback, void* userdata) {
  const std::string all = text;
  const float samples[] = {0.25F, -0.25F};
  for (int part = 0; part < 2; ++part) {
    const std::string half = part == 0 ? all.substr(0, all.size() / 2) : all.substr(all.size() / 2);
    RKLLMSpeech speech{};
    speech.text = half.c_str();
    speech.part = part;
    speech.sound = {samples, 2, 1};
    callback(&speech, userdata, RKLLM_SPEECH_PART);
  }
  RKLLMSpeech end{};
  callback(&end, userdata, RKLLM_SPEECH_DONE);
  return 0;
}

// What 1.3.0 has as well, and nobody here asks about.
int rkllm_load_lora(LLMHandle, RKLLMLoraAdapter*) { return 0; }
int rkllm_load_prompt_cache(LLMHandle, const char*) { return 0; }
int rkllm_drop_prompt_cache(LLMHandle) { return 0; }
int rkllm_abort(LLMHandle) { return 0; }
int rkllm_is_running(LLMHandle) { return 0; }
int rkllm_clear_kv_cache(LLMHandle, int, int*, int*) { return 0; }
int rkllm_get_kv_cache_size(LLMHandle, int*) { return 0; }
int rkllm_set_chat_template(LLMHandle, const char*, const char*, const char*) { return 0; }
int rkllm_set_function_tools(LLMHandle, const char*, const char*, const char*) { return 0; }
int rkllm_set_cross_attn_params(LLMHandle, RKLLMCrossAttnParam*) { return 0; }

}  // extern "C"
