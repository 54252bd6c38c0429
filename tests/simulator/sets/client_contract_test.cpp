// What the engine wants of a Client, seen through C: the same runs in every ABI set. Until 1.2.3 the program is a
// ResultFunction (simulator/exports/until_1_2_3.cpp), from 1.3.0 on a CallbackStruct (since_1_3_0.cpp).
#include "handle.hpp"

#include <string_view>

using namespace simulated;

namespace {

// Where hidden states have a state of their own; RKLLM_RUN_NORMAL elsewhere.
template <class CallState>
constexpr int hidden_state() {
  if constexpr (requires { CallState::RKLLM_RUN_GET_LAST_HIDDEN_LAYER; }) return 4;
  return 0;
}

// rkllm_is_running during a run; idle it is the other of the two.
constexpr int kRunning = std::string_view(SIMULATED_VERSION) == "1.3.0" ? 1 : 0;

}  // namespace

TEST_CASE("a run gives its tokens and then FINISH, and the handle can be destroyed") {
  Handle handle;
  CHECK(handle.run("@n=20 Hello") == 0);
  REQUIRE(handle.events.size() == 21);
  CHECK(handle.events.back().state == RKLLM_RUN_FINISH);
  CHECK_THAT(handle.text(), rkllm_mcp::test::has_text("This is a simulated answer."));
  for (std::size_t i = 0; i < 20; ++i) {
    const int state = handle.events[i].state;
    CHECK((state == RKLLM_RUN_NORMAL || state == RKLLM_RUN_WAITING));
    CHECK(handle.events[i].token > 0);
    CHECK(handle.events[i].thread == std::this_thread::get_id());
  }
  CHECK(handle.destroy() == 0);
}

TEST_CASE("a run without a callback is silent") {
  RKLLMParam param = rkllm_createDefaultParam();
  const std::string path = model("fast");
  param.model_path = path.c_str();
  choose_cpus(param);
  LLMHandle handle = nullptr;
  REQUIRE(init_with(rkllm_init, &handle, &param, nullptr) == 0);
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam infer{};
  CHECK(rkllm_run(handle, &input, &infer, nullptr) == 0);
  CHECK(rkllm_destroy(handle) == 0);
}

TEST_CASE("an asynchronous run calls back from a thread of the library") {
  Handle handle(model("fast"), [](RKLLMParam& param) { param.is_async = true; });
  RKLLMInput input = prompt("@n=3");
  RKLLMInferParam infer{};
  REQUIRE(rkllm_run_async(handle.get(), &input, &infer, &handle) == 0);
  REQUIRE(handle.wait_for_finish());
  REQUIRE(handle.events.size() == 4);
  CHECK(handle.events[0].thread != std::this_thread::get_id());
}

TEST_CASE("hidden states come in the state that the set has for them") {
  Handle handle;
  CHECK(handle.hidden_rows("Hello") > 1);
  REQUIRE(handle.events.size() == 2);
  CHECK(handle.events[0].state == hidden_state<LLMCallState>());
  CHECK(handle.events[1].state == RKLLM_RUN_FINISH);
}

TEST_CASE("after an abort the next callback is FINISH, and the run returns 0") {
  Handle handle;
  handle.answer = [&handle] { return handle.events.size() == 3 ? rkllm_abort(handle.get()) : 0; };
  CHECK(handle.run("@n=1000") == 0);
  REQUIRE(handle.events.size() == 4);
  CHECK(handle.events.back().state == RKLLM_RUN_FINISH);
}

TEST_CASE("is_running is what the set's header says: 0 during a run before 1.3.0, 1 since, and the other when idle") {
  Handle handle;
  CHECK(rkllm_is_running(handle.get()) == 1 - kRunning);
  REQUIRE(handle.run("@n=5") == 0);
  REQUIRE(handle.events.size() == 6);
  for (const Event& event : handle.events) CHECK(event.running == kRunning);
  CHECK(rkllm_is_running(handle.get()) == 1 - kRunning);
  CHECK(rkllm_is_running(nullptr) == -1);
}

TEST_CASE("LoRA adapters and prompt caches that do not exist are refused") {
  Handle handle;
  const Directory directory;
  const std::string path = directory.file("missing");
  RKLLMLoraAdapter adapter{path.c_str(), "name", 1};
  CHECK(rkllm_load_lora(handle.get(), &adapter) == -1);
  CHECK(rkllm_load_prompt_cache(handle.get(), path.c_str()) == -1);
  CHECK(rkllm_release_prompt_cache(handle.get()) == 0);
}
