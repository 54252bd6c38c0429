// Section "threads, sync vs async" of the runtime's contract.
#include "simulated.hpp"

#include <atomic>
#include <cstring>

using namespace simulated;

namespace {

const Change kAsync = [](RKLLMParam& param) { param.is_async = true; };

}  // namespace

TEST_CASE("run_async with is_async=false returns 0 and nothing happens") {
  Llm llm;
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params = infer(5);
  CHECK(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
  CHECK(rkllm_is_running(llm.handle) == 0);
  CHECK(llm.run("Hello", infer(2)) == 0);  // a run in between would have left its events
  CHECK(llm.token_count() == 2);
  CHECK(llm.kv_size() == llm.computed() + 1);
}

TEST_CASE("run_async calls back from one thread of the runtime") {
  Llm llm(model("fast"), kAsync);
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params = infer(5);
  REQUIRE(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
  REQUIRE(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
  REQUIRE(llm.wait_for_ends(2));
  REQUIRE(llm.events.size() == 12);
  for (const Event& event : llm.events) {
    CHECK(event.thread != std::this_thread::get_id());
    CHECK(event.thread == llm.events[0].thread);
    CHECK(event.running == 1);
  }
}

TEST_CASE("rkllm_run is synchronous on the caller's thread even if is_async is set") {
  Llm llm(model("fast"), kAsync);
  REQUIRE(llm.run("Hello", infer(5)) == 0);
  CHECK(llm.events.size() == 6);
  CHECK(llm.events[0].thread == std::this_thread::get_id());
}

TEST_CASE("async runs queue in order, each with its own userdata, and is_running stays 1 between them") {
  struct Seen {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<int> finished;
    std::atomic<bool> idle_seen{false};
    LLMHandle handle = nullptr;
  };
  static Seen* seen = nullptr;
  Seen here;
  seen = &here;
  const std::string path = model("fast");
  RKLLMParam param = param_for(path);
  param.is_async = true;
  RKLLMCallback callback{};
  callback.result_callback = [](RKLLMResult*, void* userdata, LLMCallState state) {
    if (rkllm_is_running(seen->handle) != 1) seen->idle_seen = true;
    if (state != RKLLM_RUN_FINISH) return 0;
    const std::lock_guard lock(seen->mutex);
    seen->finished.push_back(*static_cast<int*>(userdata));
    seen->changed.notify_all();
    return 0;
  };
  REQUIRE(rkllm_init(&here.handle, &param, &callback) == 0);
  int numbers[] = {1, 2, 3, 4};
  for (int& number : numbers) {
    RKLLMInput input = prompt("@n=2000");
    RKLLMInferParam params{};
    REQUIRE(rkllm_run_async(here.handle, &input, &params, &number) == 0);
    if (number < 4) CHECK(rkllm_is_running(here.handle) >= 0);
  }
  {
    std::unique_lock lock(here.mutex);
    REQUIRE(here.changed.wait_for(lock, std::chrono::seconds(10), [&] { return here.finished.size() == 4; }));
    CHECK(here.finished == std::vector<int>{1, 2, 3, 4});
  }
  CHECK_FALSE(here.idle_seen);
  CHECK(rkllm_destroy(here.handle) == 0);
}

TEST_CASE("the input of run_async is copied before it returns") {
  Llm llm(model("fast"), kAsync);
  REQUIRE(llm.run("What was said first?") == 0);
  const std::string expected = llm.text();
  REQUIRE(rkllm_clear_kv_cache(llm.handle, 0, nullptr, nullptr) == 0);

  llm.events.clear();
  char text[] = "What was said first?";
  char role[] = "user";
  RKLLMInput input = prompt(text, role);
  RKLLMInferParam params{};
  REQUIRE(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
  std::memset(text, 'x', sizeof text - 1);
  std::memset(role, 'x', sizeof role - 1);
  std::memset(&input, 0x55, sizeof input);
  std::memset(&params, 0x55, sizeof params);
  REQUIRE(llm.wait_for_ends(2));
  CHECK(llm.text() == expected);
}

TEST_CASE("token and embedding arrays of run_async are copied too") {
  Llm llm(model("fast"), kAsync);
  std::vector<int> list = ids(5);
  RKLLMInput input = tokens(list);
  RKLLMInferParam params = infer(1);
  REQUIRE(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
  list.assign(list.size(), 1 << 30);  // would break the contract
  std::vector<float> values = rows(5, kEmbedding);
  const std::vector<float> original = values;
  input = embeds(values);
  REQUIRE(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
  values.assign(values.size(), -1);
  REQUIRE(llm.wait_for_ends(2));
  values = original;
  REQUIRE(llm.run(embeds(values), infer(1)) == 0);
  CHECK(llm.last().perf.prefill_tokens == 0);  // found in the cache
}

TEST_CASE("an abort of the current async run leaves those behind it alone") {
  Llm llm(model("fast"), kAsync);
  RKLLMInput endless = prompt("@n=2000000000");
  RKLLMInput next = prompt("Hello");
  RKLLMInferParam params{};
  llm.answer = [&](std::size_t call) {
    if (call == 3) rkllm_abort(llm.handle);
    return 0;
  };
  REQUIRE(rkllm_run_async(llm.handle, &endless, &params, nullptr) == 0);
  REQUIRE(rkllm_run_async(llm.handle, &next, &params, nullptr) == 0);
  REQUIRE(llm.wait_for_ends(2));
  CHECK(llm.events[3].state == RKLLM_RUN_FINISH);
  CHECK(llm.events[llm.events.size() - 2].token == kEos);
}

TEST_CASE("whoever has seen FINISH may use and destroy the handle at once") {
  for (int i = 0; i < 50; ++i) {
    Llm llm(model("fast"), kAsync);
    RKLLMInput input = prompt("Hello");
    RKLLMInferParam params = infer(3);
    REQUIRE(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
    REQUIRE(llm.wait_for_ends(1));
    CHECK(llm.kv_size() > 0);
    CHECK(rkllm_destroy(std::exchange(llm.handle, nullptr)) == 0);
  }
}

TEST_CASE("a pause works for async runs too") {
  Llm llm(model("fast"), kAsync);
  llm.answer = [](std::size_t call) { return call == 2 ? 1 : 0; };
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params{};
  REQUIRE(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
  while (rkllm_is_running(llm.handle) == 1) std::this_thread::yield();
  CHECK(llm.token_count() == 2);
  CHECK_FALSE(llm.finished());
  CHECK(llm.kv_size() > 2);
}
