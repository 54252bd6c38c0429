// What the tests of the simulator share: a handle with its callbacks remembered.
#pragma once

#include "generator/headers/rkllm_1.3.0.h"
#include "inputs.hpp"
#include "support/catch.hpp"
#include "surroundings.hpp"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace simulated {

inline constexpr int kEos = 2;

// One entry of one callback.
struct Event {
  LLMCallState state{};
  bool has_result = false;
  std::optional<std::string> text;
  int token = 0;
  RKLLMPerfStat perf{};
  std::vector<float> hidden;
  int hidden_rows = 0;
  std::vector<float> logits;
  int logit_rows = 0;
  int running = 0;  // what rkllm_is_running said inside the callback
  std::thread::id thread;
  void* userdata = nullptr;
};

// The result points into `path`.
RKLLMParam param_for(std::string&& path) = delete;
inline RKLLMParam param_for(const std::string& path) {
  RKLLMParam param = rkllm_createDefaultParam();
  param.model_path = path.c_str();
  param.extend_param.enabled_cpus_mask = 0x0F;  // not set by the default where there are not 4 or 8 CPUs
  return param;
}

using Change = std::function<void(RKLLMParam&)>;

// A handle and all that its callbacks said.
class Llm {
 public:
  explicit Llm(const std::string& path = model("fast"), const Change& change = {}) {
    RKLLMParam param = param_for(path);
    if (change) change(param);
    n_batch_ = param.extend_param.n_batch;
    RKLLMCallback callback{};
    callback.result_callback = [](RKLLMResult* result, void* userdata, LLMCallState state) {
      return static_cast<Llm*>(userdata)->called(result, state);
    };
    callback.result_userdata = this;
    REQUIRE(rkllm_init(&handle, &param, &callback) == 0);
  }
  ~Llm() {
    if (handle != nullptr) rkllm_destroy(handle);
  }
  Llm(const Llm&) = delete;
  Llm& operator=(const Llm&) = delete;

  // Each forgets earlier events.
  int run(RKLLMInput input, RKLLMInferParam infer = {}) {
    events.clear();
    return rkllm_run(handle, &input, &infer, nullptr);
  }
  int run(const char* text, RKLLMInferParam infer = {}) { return run(prompt(text), infer); }

  int kv_size() {
    std::vector<int> sizes(n_batch_, -7);
    REQUIRE(rkllm_get_kv_cache_size(handle, sizes.data()) == 0);
    return sizes[0];
  }

  // Callbacks with a token, that is, all but the last of a run that finished.
  std::size_t token_count() const {
    std::size_t count = 0;
    for (const Event& event : events) count += event.state == RKLLM_RUN_NORMAL || event.state == RKLLM_RUN_WAITING;
    return count;
  }
  std::string text() const {
    std::string all;
    for (const Event& event : events) all += event.text.value_or("");
    return all;
  }
  const Event& last() const {
    REQUIRE(!events.empty());
    return events.back();
  }
  bool finished() const { return !events.empty() && events.back().state == RKLLM_RUN_FINISH; }
  // The prompt tokens of the last run that were computed: with more than one, what perf says.
  int computed() const { return last().perf.prefill_tokens == 0 ? 1 : last().perf.prefill_tokens; }

  // Waits for the n-th FINISH or ERROR; false after ten seconds.
  bool wait_for_ends(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(2), [&] { return ends_ >= count; });
  }
  bool wait_for_event() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::minutes(2), [&] { return calls_ > 0; });
  }

  LLMHandle handle = nullptr;
  std::vector<Event> events;
  // What the callback returns; gets the number of the call, from 1.
  std::function<int(std::size_t call)> answer = [](std::size_t) { return 0; };

 private:
  int called(RKLLMResult* result, LLMCallState state) {
    const std::size_t entries = result == nullptr ? 1 : n_batch_;
    for (std::size_t i = 0; i < entries; ++i)
      events.push_back(event_of(result == nullptr ? nullptr : result + i, state));
    const int wish = answer(events.size() / entries);
    {
      const std::lock_guard lock(mutex_);
      ++calls_;
      ends_ += state == RKLLM_RUN_FINISH || state == RKLLM_RUN_ERROR;
    }
    changed_.notify_all();
    return wish;
  }

  Event event_of(const RKLLMResult* result, LLMCallState state) const {
    Event event;
    event.state = state;
    event.running = rkllm_is_running(handle);
    event.thread = std::this_thread::get_id();
    if (result == nullptr) return event;
    event.has_result = true;
    if (result->text != nullptr) event.text = result->text;
    event.token = result->token_id;
    event.perf = result->perf;
    const RKLLMResultLastHiddenLayer& hidden = result->last_hidden_layer;
    event.hidden_rows = hidden.num_tokens;
    if (hidden.hidden_states != nullptr) {
      event.hidden.assign(hidden.hidden_states, hidden.hidden_states + hidden.num_tokens * hidden.embd_size);
    }
    const RKLLMResultLogits& logits = result->logits;
    event.logit_rows = logits.num_tokens;
    if (logits.logits != nullptr)
      event.logits.assign(logits.logits, logits.logits + logits.num_tokens * logits.vocab_size);
    return event;
  }

  std::size_t n_batch_ = 1;
  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::size_t calls_ = 0;
  std::size_t ends_ = 0;
};

}  // namespace simulated
