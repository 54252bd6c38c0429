// What came with 1.2.0: logits, history, clearing the KV cache, a template of one's own.
#include "handle.hpp"

#include <string_view>

using namespace simulated;

namespace {

// With the parameters that the set has.
template <class LlmHandle>
int clear_kv_cache(LlmHandle handle) {
  if constexpr (requires { rkllm_clear_kv_cache(handle, 0); }) {
    return rkllm_clear_kv_cache(handle, 0);
  } else {
    return rkllm_clear_kv_cache(handle, 0, nullptr, nullptr);
  }
}

// How many parameters a function has.
template <class... Parameters>
constexpr std::size_t count_parameters(int (*)(Parameters...)) {
  return sizeof...(Parameters);
}

}  // namespace

TEST_CASE("clear_kv_cache empties the cache, with 2 parameters before 1.2.1 and 4 since") {
  constexpr std::string_view version = SIMULATED_VERSION;
  constexpr bool before_1_2_1 = version < "1.2.1" || version == "1.2.1b1";
  CHECK(count_parameters(rkllm_clear_kv_cache) == (before_1_2_1 ? 2 : 4));
  Handle handle;
  const int all = handle.hidden_rows("Hello");
  CHECK(all > 1);
  CHECK(handle.hidden_rows("Hello") == 1);
  CHECK(clear_kv_cache(handle.get()) == 0);
  CHECK(handle.hidden_rows("Hello") == all);
  CHECK(clear_kv_cache(LLMHandle{}) == -1);
}

TEST_CASE("keep_history continues the conversation") {
  Handle handle;
  RKLLMInferParam infer{};
  infer.keep_history = 1;
  REQUIRE(handle.run("My name is Ada.", infer) == 0);
  REQUIRE(handle.run("What is my name?", infer) == 0);
  CHECK_THAT(handle.text(), rkllm_mcp::test::has_text("My name is Ada."));
}

TEST_CASE("set_chat_template puts its texts around every prompt") {
  const Environment log("RKLLM_LOG_LEVEL", "2");
  int status = -7;
  const Written written = written_by([&] {
    Handle handle;
    rkllm_set_chat_template(handle.get(), "SYSTEM|", "BEFORE|", "|AFTER");
    status = handle.run("Hello");
  });
  CHECK(status == 0);
  CHECK_THAT(written.out, rkllm_mcp::test::has_text("SYSTEM|BEFORE|Hello|AFTER"));
}

TEST_CASE("logits come with every token in the mode that asks for them") {
  Handle handle;
  RKLLMInferParam infer{};
  infer.mode = RKLLM_INFER_GET_LOGITS;
  REQUIRE(handle.run("@n=3", infer) == 0);
  REQUIRE(handle.events.size() == 4);
  CHECK(handle.events[0].logit_rows > 1);
  CHECK(handle.events[1].logit_rows == 1);
  CHECK(handle.events[2].logit_rows == 1);
  CHECK(handle.events[3].logit_rows == 0);
}
