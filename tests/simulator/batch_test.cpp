// Section "n_batch > 1" of the runtime's contract.
#include "simulated.hpp"

using namespace simulated;

namespace {

constexpr std::size_t kBatch = 3;
const Change kThree = [](RKLLMParam& param) { param.extend_param.n_batch = kBatch; };

int run(Llm& llm, const std::vector<const char*>& prompts, RKLLMInferParam infer_param = {}) {
  llm.events.clear();
  std::vector<RKLLMInput> inputs;
  for (const char* text : prompts) inputs.push_back(prompt(text));
  return rkllm_run(llm.handle, inputs.data(), &infer_param, nullptr);
}

}  // namespace

TEST_CASE("a batch has one callback per step for all, ended entries have NULL text and id -1, FINISH comes once") {
  Llm llm(model("fast"), kThree);
  REQUIRE(run(llm, {"@ids=81,82", "@ids=81,82,83,84", nullptr}) == 0);
  // Steps: A B EOS; A B C D EOS; none. Then FINISH.
  REQUIRE(llm.events.size() == (5 + 1) * kBatch);
  const auto at = [&](std::size_t step, std::size_t entry) { return llm.events[step * kBatch + entry]; };
  CHECK(at(0, 0).text == "A");
  CHECK(at(0, 1).text == "A");
  CHECK_FALSE(at(0, 2).text);
  CHECK(at(0, 2).token == -1);
  CHECK(at(2, 0).token == kEos);
  CHECK(at(3, 0).token == -1);
  CHECK_FALSE(at(3, 0).text);
  CHECK(at(3, 1).text == "D");
  CHECK(at(4, 1).token == kEos);
  CHECK(at(5, 0).state == RKLLM_RUN_FINISH);
  CHECK(at(5, 0).perf.prefill_tokens > 0);
  CHECK(at(5, 1).perf.prefill_tokens == 0);
}

TEST_CASE("cache sizes are those of each entry") {
  Llm llm(model("fast"), kThree);
  REQUIRE(run(llm, {"@ids=81,82", nullptr, "@ids=81,82,83,84"}) == 0);
  int sizes[kBatch] = {};
  REQUIRE(rkllm_get_kv_cache_size(llm.handle, sizes) == 0);
  CHECK(sizes[0] > 0);
  CHECK(sizes[1] == 0);
  CHECK(sizes[2] > sizes[0]);
}

TEST_CASE("a batch of nothing gives one dummy NORMAL and FINISH") {
  Llm llm(model("fast"), kThree);
  REQUIRE(run(llm, {nullptr, nullptr, nullptr}) == 0);
  REQUIRE(llm.events.size() == 2 * kBatch);
  CHECK(llm.events[0].token == -1);
  CHECK(llm.finished());
}

TEST_CASE("in a batch only the first run with keep_history works") {
  Llm llm(model("fast"), kThree);
  CHECK(run(llm, {"a", "b", "c"}, infer(2, 1)) == 0);
  CHECK(run(llm, {"a", "b", "c"}, infer(2, 1)) == -1);
  CHECK(run(llm, {"a", "b", "c"}, infer(2, 1)) == -1);
}

TEST_CASE("in a batch logits are left out and hidden states end at once") {
  Llm llm(model("fast"), kThree);
  REQUIRE(run(llm, {"a", "b", "c"}, infer(2, 0, RKLLM_INFER_GET_LOGITS)) == 0);
  CHECK(llm.events[0].logits.empty());
  CHECK(llm.events.size() == 3 * kBatch);
  REQUIRE(run(llm, {"a", "b", "c"}, infer(2, 0, RKLLM_INFER_GET_LAST_HIDDEN_LAYER)) == 0);
  REQUIRE(llm.events.size() == kBatch);
  CHECK(llm.finished());
}
