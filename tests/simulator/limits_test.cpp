// Sections "max_new_tokens" and "context limits" of the runtime's contract.
#include "simulated.hpp"

#include <algorithm>

using namespace simulated;

namespace {

Change context(int length) {
  return [length](RKLLMParam& param) { param.max_context_len = length; };
}

}  // namespace

TEST_CASE("max_new_tokens = N gives N callbacks with a token") {
  Llm llm;
  const int count = GENERATE(1, 2, 7, 30);
  REQUIRE(llm.run("Hello", infer(count)) == 0);
  CHECK(llm.token_count() == static_cast<std::size_t>(count));
  CHECK(llm.finished());
}

TEST_CASE("an init value of max_new_tokens of 0 and below means one token") {
  const int value = GENERATE(0, -1, -5);
  Llm llm(model("fast"), [value](RKLLMParam& param) { param.max_new_tokens = value; });
  REQUIRE(llm.run("Hello") == 0);
  CHECK(llm.token_count() == 1);
}

TEST_CASE("max_new_tokens of a run counts for that run only, and not if it is 0 or below") {
  Llm llm(model("fast"), [](RKLLMParam& param) { param.max_new_tokens = 6; });
  REQUIRE(llm.run("Hello", infer(3)) == 0);
  CHECK(llm.token_count() == 3);
  REQUIRE(llm.run("Hello", infer(0)) == 0);
  CHECK(llm.token_count() == 6);
  REQUIRE(llm.run("Hello", infer(-4)) == 0);
  CHECK(llm.token_count() == 6);
}

TEST_CASE("sampling values of a run count for that run only, whatever they are") {
  Llm llm;
  REQUIRE(llm.run("Hello") == 0);
  const std::string usual = llm.text();
  RKLLMSamplingParam wild{};
  wild.temperature = 3;  // with -1 it would be greedy, which is another test
  wild.top_p = 5;
  wild.top_k = -5;
  RKLLMInferParam params = infer(0);
  params.sampling_params = &wild;
  REQUIRE(llm.run("Hello", params) == 0);
  CHECK(llm.text() != usual);
  REQUIRE(llm.run("Hello") == 0);
  CHECK(llm.text() == usual);
}

TEST_CASE("sampling values out of range are accepted") {
  Llm llm;
  RKLLMSamplingParam zeros{};  // taken literally
  RKLLMInferParam params = infer(0);
  params.sampling_params = &zeros;
  REQUIRE(llm.run("Hello", params) == 0);
  const std::string greedy = llm.text();
  zeros.temperature = -1;
  zeros.top_k = -5;
  CHECK(llm.run("Hello", params) == 0);
  CHECK(llm.text() == greedy);
}

TEST_CASE("a prompt longer than the context fails without a callback and empties the cache") {
  Llm llm(model("fast"), context(64));
  REQUIRE(llm.run("Hi", infer(4)) == 0);
  std::vector<int> long_prompt = ids(65);
  CHECK(llm.run(tokens(long_prompt)) == -1);
  CHECK(llm.events.empty());
  CHECK(llm.kv_size() == 0);
}

TEST_CASE("a prompt as long as the context gives one NORMAL and then fails") {
  Llm llm(model("fast"), context(64));
  std::vector<int> full = ids(64);
  CHECK(llm.run(tokens(full)) == -1);
  REQUIRE(llm.events.size() == 1);
  CHECK(llm.events[0].state == RKLLM_RUN_NORMAL);
}

TEST_CASE("the context is rounded up to a multiple of 32") {
  Llm llm(model("fast"), context(10));
  std::vector<int> most = ids(31);
  CHECK(llm.run(tokens(most), infer(1)) == 0);
  std::vector<int> too_many = ids(33);
  CHECK(llm.run(tokens(too_many), infer(1)) == -1);
}

TEST_CASE("max_context_len 0 is accepted by init, and every run then ends with ERROR and -1") {
  Llm llm(model("fast"), context(0));
  CHECK(llm.run("Hello") == -1);
  REQUIRE(llm.events.size() == 1);
  CHECK(llm.last().state == RKLLM_RUN_ERROR);
}

TEST_CASE("a single turn that fills the context loses its oldest generated positions and goes on") {
  Llm llm(model("fast"), [](RKLLMParam& param) {
    param.max_context_len = 64;
    param.ignore_eos_token = true;
  });
  std::vector<int> seven = ids(7);
  REQUIRE(llm.run(tokens(seven), infer(500)) == 0);
  CHECK(llm.token_count() == 500);
  CHECK(llm.kv_size() == 64);

  // The prompt is still there.
  REQUIRE(llm.run(tokens(seven), infer(1)) == 0);
  CHECK(llm.last().perf.prefill_tokens == 0);
}

TEST_CASE("a conversation of one turn that fills the context loses its oldest positions and goes on") {
  Llm llm(model("fast"), [](RKLLMParam& param) {
    param.max_context_len = 64;
    param.n_keep = 4;
    param.ignore_eos_token = true;
  });
  std::vector<int> seven = ids(7);
  REQUIRE(llm.run(tokens(seven), infer(500, 1)) == 0);
  CHECK(llm.token_count() == 500);
  CHECK(llm.kv_size() == 64);
}

TEST_CASE("generating in a full conversation drops its oldest turn whole") {
  Llm llm(model("fast"), [](RKLLMParam& param) {
    param.max_context_len = 64;
    param.n_keep = 4;
    param.ignore_eos_token = true;
  });
  std::vector<int> turn = ids(11);
  REQUIRE(llm.run(tokens(turn), infer(1, 1)) == 0);
  int smallest = 64;
  std::vector<int> second = ids(40, 500);
  llm.answer = [&](std::size_t call) {
    if (call > 10) smallest = std::min(smallest, llm.kv_size());
    return 0;
  };
  REQUIRE(llm.run(tokens(second), infer(20, 1)) == 0);
  CHECK(llm.token_count() == 20);
  CHECK(smallest == 64 - 11 + 1);
}

TEST_CASE("a conversation that fills the context loses its oldest turn") {
  Llm llm(model("fast"), context(64));
  std::vector<int> turn = ids(20);
  REQUIRE(llm.run(tokens(turn), infer(1, 1)) == 0);
  REQUIRE(llm.run(tokens(turn), infer(1, 1)) == 0);
  REQUIRE(llm.run(tokens(turn), infer(1, 1)) == 0);
  CHECK(llm.kv_size() == 60);
  REQUIRE(llm.run(tokens(turn), infer(1, 1)) == 0);
  CHECK(llm.kv_size() == 60);
}
