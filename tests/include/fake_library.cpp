#include "fake_library.hpp"

#include <map>
#include <stdexcept>

namespace rkllm_mcp::test {

FakeLibrary* FakeLibrary::current = nullptr;

namespace {

using namespace v1_3_0;

int note(const char* name) {
  FakeLibrary::current->calls.emplace_back(name);
  return FakeLibrary::current->status;
}

RKLLMParam create_default_param() {
  note("rkllm_createDefaultParam");
  RKLLMParam param = default_of(TypeTag<RKLLMParam>{});
  param.extend_param.enabled_cpus_mask = 0xdeadbeef;  // as the runtime leaves it on most machines
  return param;
}

int init(LLMHandle* handle, RKLLMParam* param, RKLLMCallback* callback) {
  FakeLibrary& library = *FakeLibrary::current;
  library.param = *param;
  library.callback = *callback;
  library.model_path = param->model_path;
  if (library.status == 0) *handle = library.made;
  return note("rkllm_init");
}

int load_lora(LLMHandle, RKLLMLoraAdapter* adapter) {
  if (FakeLibrary::current->on_lora) FakeLibrary::current->on_lora(adapter);
  return note("rkllm_load_lora");
}

int load_prompt_cache(LLMHandle, const char* path) {
  FakeLibrary::current->texts = {path};
  return note("rkllm_load_prompt_cache");
}

int release_prompt_cache(LLMHandle) { return note("rkllm_release_prompt_cache"); }
int destroy(LLMHandle) { return note("rkllm_destroy"); }

int run(LLMHandle, RKLLMInput* input, RKLLMInferParam* infer, void* userdata) {
  if (FakeLibrary::current->on_run) FakeLibrary::current->on_run(input, infer, userdata);
  return note("rkllm_run");
}

int run_async(LLMHandle, RKLLMInput* input, RKLLMInferParam* infer, void* userdata) {
  if (FakeLibrary::current->on_run) FakeLibrary::current->on_run(input, infer, userdata);
  return note("rkllm_run_async");
}

int abort_run(LLMHandle) { return note("rkllm_abort"); }

int is_running(LLMHandle) {
  note("rkllm_is_running");
  return FakeLibrary::current->running;
}

int clear_kv_cache(LLMHandle, int keep_system_prompt, int* start_pos, int* end_pos) {
  if (FakeLibrary::current->on_clear) FakeLibrary::current->on_clear(keep_system_prompt, start_pos, end_pos);
  return note("rkllm_clear_kv_cache");
}

int get_kv_cache_size(LLMHandle, int* sizes) {
  sizes[0] = 12;
  return note("rkllm_get_kv_cache_size");
}

int set_chat_template(LLMHandle, const char* system, const char* prefix, const char* postfix) {
  FakeLibrary::current->texts = {system, prefix, postfix};
  return note("rkllm_set_chat_template");
}

int set_function_tools(LLMHandle, const char* system, const char* tools, const char* tag) {
  FakeLibrary::current->texts = {system, tools, tag};
  return note("rkllm_set_function_tools");
}

int set_cross_attn_params(LLMHandle, RKLLMCrossAttnParam* params) {
  if (FakeLibrary::current->on_cross_attention) FakeLibrary::current->on_cross_attention(params);
  return note("rkllm_set_cross_attn_params");
}

}  // namespace

void* FakeLibrary::find(const std::string& name) const {
  static const std::map<std::string, void*> kFunctions = {
      {"rkllm_createDefaultParam", reinterpret_cast<void*>(&create_default_param)},
      {"rkllm_init", reinterpret_cast<void*>(&init)},
      {"rkllm_load_lora", reinterpret_cast<void*>(&load_lora)},
      {"rkllm_load_prompt_cache", reinterpret_cast<void*>(&load_prompt_cache)},
      {"rkllm_release_prompt_cache", reinterpret_cast<void*>(&release_prompt_cache)},
      {"rkllm_destroy", reinterpret_cast<void*>(&destroy)},
      {"rkllm_run", reinterpret_cast<void*>(&run)},
      {"rkllm_run_async", reinterpret_cast<void*>(&run_async)},
      {"rkllm_abort", reinterpret_cast<void*>(&abort_run)},
      {"rkllm_is_running", reinterpret_cast<void*>(&is_running)},
      {"rkllm_clear_kv_cache", reinterpret_cast<void*>(&clear_kv_cache)},
      {"rkllm_get_kv_cache_size", reinterpret_cast<void*>(&get_kv_cache_size)},
      {"rkllm_set_chat_template", reinterpret_cast<void*>(&set_chat_template)},
      {"rkllm_set_function_tools", reinterpret_cast<void*>(&set_function_tools)},
      {"rkllm_set_cross_attn_params", reinterpret_cast<void*>(&set_cross_attn_params)},
  };
  const auto found = kFunctions.find(name);
  return found == kFunctions.end() || name == missing ? nullptr : found->second;
}

const Method& method_named(const std::string& name) {
  for (const Method& method : kAbiSet.methods) {
    if (method.name == name) return method;
  }
  throw std::logic_error("no method " + name);
}

Caller::Caller(FakeLibrary& fake)
    : library(fake), binding_(kAbiSet.bind([&fake](const char* name) { return fake.find(name); })) {
  handle.id = "llm-1";
  handle.native = &fake;
  handle.values = {{"n_batch", 1}, {"is_async", 1}, {"use_cross_attn", 1}, {"embd_size", 4}, {"vocab_size", 100}};
}

Json Caller::call(const std::string& method, const Json& params) {
  CallContext context{params, &handle, &sink, encoding, {}};
  return binding_->call(method_named(method), context);
}

std::string Caller::complaint(const std::string& method, const Json& params) {
  try {
    call(method, params);
  } catch (const RpcError& error) {
    return error.what();
  }
  return "no complaint";
}

}  // namespace rkllm_mcp::test
