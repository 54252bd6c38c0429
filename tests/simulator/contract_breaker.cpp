// Breaks one rule of the runtime's contract, named by the first argument, for contract_test.cpp. Exits with 0 if it
// survives, and with 3 if the rule is unknown. The second argument is a model.
#include "generator/headers/rkllm_1.3.0.h"

#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>

namespace {

LLMHandle make(const char* model, bool is_async = false, RKLLMCallback* callback = nullptr) {
  RKLLMParam param = rkllm_createDefaultParam();
  param.model_path = model;
  param.is_async = is_async;
  param.extend_param.enabled_cpus_mask = 0x0F;
  LLMHandle handle = nullptr;
  if (rkllm_init(&handle, &param, callback) != 0) std::exit(4);
  return handle;
}

RKLLMInput prompt(const char* text) {
  RKLLMInput input{};
  input.input_type = RKLLM_INPUT_PROMPT;
  input.prompt_input = text;
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 3;
  // A sanitizer's handlers would turn the signal into an exit code.
  std::signal(SIGSEGV, SIG_DFL);
  std::signal(SIGABRT, SIG_DFL);
  const char* model = argv[2];
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam infer{};
  const std::map<std::string, std::function<void()>> rules{
      {"init without param", [&] { rkllm_init(nullptr, nullptr, nullptr); }},
      {"init without model_path",
       [&] {
         RKLLMParam param = rkllm_createDefaultParam();
         LLMHandle handle = nullptr;
         rkllm_init(&handle, &param, nullptr);
       }},
      {"init without handle",
       [&] {
         RKLLMParam param = rkllm_createDefaultParam();
         param.model_path = model;
         param.extend_param.enabled_cpus_mask = 0x0F;
         rkllm_init(nullptr, &param, nullptr);
       }},
      {"init only", [&] { make(model); }},
      {"run without input", [&] { rkllm_run(make(model), nullptr, &infer, nullptr); }},
      {"run without infer params", [&] { rkllm_run(make(model), &input, nullptr, nullptr); }},
      {"run", [&] { rkllm_run(make(model), &input, &infer, nullptr); }},
      {"run with a token above the vocabulary",
       [&] {
         int32_t id = 1 << 20;
         RKLLMInput tokens{};
         tokens.input_type = RKLLM_INPUT_TOKEN;
         tokens.token_input = {&id, 1};
         rkllm_run(make(model), &tokens, &infer, nullptr);
       }},
      {"run with a LoRA name that is NULL",
       [&] {
         RKLLMLoraParam lora{};
         infer.lora_params = &lora;
         rkllm_run(make(model), &input, &infer, nullptr);
       }},
      {"run with a LoRA adapter that could not be applied",
       [&] {
         auto* const handle = make(model);
         RKLLMLoraAdapter adapter{model, "bad", 1.0F};
         if (rkllm_load_lora(handle, &adapter) != 0) std::exit(4);
         RKLLMLoraParam lora{"bad"};
         infer.lora_params = &lora;
         rkllm_run(handle, &input, &infer, nullptr);
       }},
      {"load_lora without struct", [&] { rkllm_load_lora(make(model), nullptr); }},
      {"load_lora without path",
       [&] {
         RKLLMLoraAdapter adapter{nullptr, "name", 1.0F};
         rkllm_load_lora(make(model), &adapter);
       }},
      {"load_lora without name",
       [&] {
         RKLLMLoraAdapter adapter{model, nullptr, 1.0F};
         rkllm_load_lora(make(model), &adapter);
       }},
      {"load_prompt_cache without path", [&] { rkllm_load_prompt_cache(make(model), nullptr); }},
      {"get_kv_cache_size without array", [&] { rkllm_get_kv_cache_size(make(model), nullptr); }},
      {"set_chat_template without system", [&] { rkllm_set_chat_template(make(model), nullptr, "", ""); }},
      {"set_chat_template without prefix", [&] { rkllm_set_chat_template(make(model), "", nullptr, ""); }},
      {"set_chat_template without postfix", [&] { rkllm_set_chat_template(make(model), "", "", nullptr); }},
      {"set_function_tools without system", [&] { rkllm_set_function_tools(make(model), nullptr, "[]", "tag"); }},
      {"set_function_tools without tools", [&] { rkllm_set_function_tools(make(model), "", nullptr, "tag"); }},
      {"set_function_tools without tag", [&] { rkllm_set_function_tools(make(model), "", "[]", nullptr); }},
      {"run with a tokenizer_callback that returns another count than it asked for",
       [&] {
         RKLLMCallback callback{};
         callback.tokenizer_callback = [](void*, const char*, int32_t, int32_t*, int32_t room) {
           return room < 5000 ? -5000 : 4999;
         };
         rkllm_run(make(model, false, &callback), &input, &infer, nullptr);
       }},
      {"run with a function where init takes a RKLLMCallback",
       [&] {
         // The interface of 1.2: a function that returns nothing.
         void (*const function)() = [] {};
         rkllm_run(make(model, false, std::bit_cast<RKLLMCallback*>(function)), &input, &infer, nullptr);
       }},
      {"run in a child of fork() after a run",
       [&] {
         auto* const handle = make(model);
         rkllm_run(handle, &input, &infer, nullptr);
         const pid_t child = fork();
         if (child == 0) {
           rkllm_run(handle, &input, &infer, nullptr);
           _exit(0);
         }
         int status = 0;
         waitpid(child, &status, 0);
         if (WIFSIGNALED(status)) std::raise(WTERMSIG(status));
       }},
      {"init of a second model that the NPU's memory has no room for",
       [&] {
         make(model);
         make(model);
       }},
      {"destroy twice",
       [&] {
         auto* const handle = make(model);
         rkllm_destroy(handle);
         rkllm_destroy(handle);
       }},
      {"use after destroy",
       [&] {
         auto* const handle = make(model);
         rkllm_destroy(handle);
         rkllm_is_running(handle);
       }},
      {"destroy during an async run",
       [&] {
         auto* const handle = make(model, true);
         RKLLMInput endless = prompt("@n=2000000000");
         rkllm_run_async(handle, &endless, &infer, nullptr);
         rkllm_destroy(handle);
       }},
      {"run during an async run",
       [&] {
         auto* const handle = make(model, true);
         RKLLMInput endless = prompt("@n=2000000000");
         rkllm_run_async(handle, &endless, &infer, nullptr);
         rkllm_run(handle, &input, &infer, nullptr);
       }},
  };
  const auto rule = rules.find(argv[1]);
  if (rule == rules.end()) return 3;
  std::fprintf(stderr, "breaking: %s\n", argv[1]);
  rule->second();
  return 0;
}
