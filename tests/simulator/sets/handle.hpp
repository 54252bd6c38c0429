// A handle of whichever ABI set a program is compiled for, with what its callbacks said. Everything here is true of all
// sets; where they differ, templates ask the types of rkllm.h.
#pragma once

#include "simulator/surroundings.hpp"
#include "support/catch.hpp"

#include <rkllm.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

namespace simulated {

struct Event {
  int state = 0;
  std::string text;  // "" also for NULL
  int token = 0;
  int hidden_rows = 0;
  int logit_rows = 0;
  int generated_tokens = 0;
  int running = 0;  // what rkllm_is_running said inside the callback
  std::thread::id thread;
};

template <class Param>
void choose_cpus(Param& param) {
  // Not set by the default where there are not 4 or 8 CPUs.
  if constexpr (requires { param.extend_param.enabled_cpus_mask; }) param.extend_param.enabled_cpus_mask = 0x0F;
}

// Calls rkllm_init with a result callback, whichever way the set takes it.
template <class Callback>
int init_with(int (*init)(LLMHandle*, RKLLMParam*, Callback), LLMHandle* handle, RKLLMParam* param,
              LLMResultCallback function) {
  if constexpr (std::is_same_v<Callback, LLMResultCallback>) {
    return init(handle, param, function);
  } else {
    std::remove_pointer_t<Callback> callbacks{};
    callbacks.result_callback = function;
    return init(handle, param, &callbacks);
  }
}

template <class Result>
int logit_rows(const Result& result) {
  if constexpr (requires { result.logits; }) return result.logits.num_tokens;
  return 0;
}

template <class Result>
int generated_tokens(const Result& result) {
  if constexpr (requires { result.perf; }) return result.perf.generate_tokens;
  return 0;
}

inline RKLLMInput prompt(const char* text) {
  RKLLMInput input{};
  input.input_type = RKLLM_INPUT_PROMPT;
  input.prompt_input = text;
  return input;
}

// A handle and all that its callbacks said.
class Handle {
 public:
  explicit Handle(const std::string& path = model("fast"), const std::function<void(RKLLMParam&)>& change = {}) {
    RKLLMParam param = rkllm_createDefaultParam();
    param.model_path = path.c_str();
    choose_cpus(param);
    if (change) change(param);
    REQUIRE(init_with(rkllm_init, &handle_, &param, called) == 0);
  }
  ~Handle() {
    if (handle_ != nullptr) rkllm_destroy(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  LLMHandle get() const { return handle_; }
  int destroy() {
    const int status = rkllm_destroy(handle_);
    handle_ = nullptr;
    return status;
  }

  // Each forgets earlier events.
  int run(RKLLMInput input, RKLLMInferParam infer = {}) {
    events.clear();
    return rkllm_run(handle_, &input, &infer, this);
  }
  int run(const char* text, RKLLMInferParam infer = {}) { return run(prompt(text), infer); }
  // How many rows of the last hidden layer a prompt gets: as many as it has tokens that are not in the cache.
  int hidden_rows(const char* text) {
    RKLLMInferParam infer{};
    infer.mode = RKLLM_INFER_GET_LAST_HIDDEN_LAYER;
    REQUIRE(run(text, infer) == 0);
    REQUIRE_FALSE(events.empty());
    return events[0].hidden_rows;
  }

  std::string text() const {
    std::string all;
    for (const Event& event : events) all += event.text;
    return all;
  }
  // False after ten seconds without RKLLM_RUN_FINISH.
  bool wait_for_finish() {
    std::unique_lock lock(mutex_);
    return finished_.wait_for(lock, std::chrono::minutes(2), [this] { return has_finished_; });
  }

  std::vector<Event> events;
  // Called in each callback; what it returns is what the callback returns, where callbacks return something.
  std::function<int()> answer = [] { return 0; };

 private:
  template <class Return>
  static Return called(RKLLMResult* result, void* userdata, LLMCallState state) {
    const int wish = static_cast<Handle*>(userdata)->remember(*result, state);
    if constexpr (!std::is_void_v<Return>) return wish;
  }

  int remember(const RKLLMResult& result, LLMCallState state) {
    events.push_back({static_cast<int>(state), result.text == nullptr ? "" : result.text, result.token_id,
                      result.last_hidden_layer.num_tokens, logit_rows(result), generated_tokens(result),
                      rkllm_is_running(handle_), std::this_thread::get_id()});
    const int wish = answer();
    if (state == RKLLM_RUN_FINISH) {
      {
        const std::lock_guard lock(mutex_);
        has_finished_ = true;
      }
      finished_.notify_all();
    }
    return wish;
  }

  LLMHandle handle_ = nullptr;
  std::mutex mutex_;  // guards has_finished_
  std::condition_variable finished_;
  bool has_finished_ = false;
};

}  // namespace simulated
