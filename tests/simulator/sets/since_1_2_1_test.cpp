// What came with 1.2.1: callbacks that answer, figures, batches, the size and ranges of the KV cache, thinking by
// choice, tools, cross attention.
#include "handle.hpp"

#include <array>

using namespace simulated;

namespace {

int kv_size(const Handle& handle) {
  int size = -7;
  REQUIRE(rkllm_get_kv_cache_size(handle.get(), &size) == 0);
  return size;
}

}  // namespace

TEST_CASE("a callback that returns 1 pauses the run, and a range of its cache can be taken out") {
  Handle handle;
  handle.answer = [&handle] { return handle.events.size() == 3 ? 1 : 0; };
  REQUIRE(handle.run("@n=10 Hello") == 0);
  CHECK(handle.events.size() == 3);
  const int before = kv_size(handle);
  int start = 1;
  int end = 3;
  CHECK(rkllm_clear_kv_cache(handle.get(), 0, &start, &end) == 0);
  CHECK(kv_size(handle) == before - 2);
}

TEST_CASE("enable_thinking tells a model whether to think") {
  const Directory directory;
  Handle handle(directory.model({{"thinking", true}}));
  RKLLMInput input = prompt("Why is the sky blue?");
  REQUIRE(handle.run(input) == 0);
  CHECK(handle.text().rfind("This is a simulated answer.", 0) == 0);
  input.enable_thinking = true;
  REQUIRE(handle.run(input) == 0);
  CHECK(handle.text().rfind("<think>", 0) == 0);
}

TEST_CASE("a prompt that names a tool is answered by a call of it") {
  Handle handle;
  const char* tools = R"([{"type":"function","function":{"name":"get_weather","parameters":{}}}])";
  REQUIRE(rkllm_set_function_tools(handle.get(), "", tools, "tool_response") == 0);
  REQUIRE(handle.run("Call get_weather") == 0);
  CHECK_THAT(handle.text(), rkllm_mcp::test::has_text("<tool_call>"));
}

TEST_CASE("cross attention needs use_cross_attn") {
  Handle handle;
  float number = 0;
  int32_t position = 0;
  RKLLMCrossAttnParam params{&number, &number, &number, &position, 1};
  CHECK(rkllm_set_cross_attn_params(handle.get(), &params) == -1);
  const Directory directory;
  const Handle attending(directory.model({{"cross_attention", true}}),
                         [](RKLLMParam& param) { param.extend_param.use_cross_attn = 1; });
  CHECK(rkllm_set_cross_attn_params(attending.get(), &params) == 0);
}

TEST_CASE("FINISH brings the figures of the run") {
  Handle handle;
  REQUIRE(handle.run("@n=5") == 0);
  REQUIRE(handle.events.size() == 6);
  CHECK(handle.events.back().generated_tokens == 4);
}

TEST_CASE("a batch has a cache for each of its inputs") {
  Handle handle(model("fast"), [](RKLLMParam& param) { param.extend_param.n_batch = 2; });
  std::array inputs{prompt("@n=5 One"), prompt("@n=5 Another that is longer")};
  RKLLMInferParam infer{};
  REQUIRE(rkllm_run(handle.get(), inputs.data(), &infer, &handle) == 0);
  CHECK(handle.events.size() == 6);
  std::array<int, 2> sizes{};
  REQUIRE(rkllm_get_kv_cache_size(handle.get(), sizes.data()) == 0);
  CHECK(sizes[0] > 5);
  CHECK(sizes[1] > sizes[0]);
}
