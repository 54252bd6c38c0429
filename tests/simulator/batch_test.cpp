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

TEST_CASE("the figures of a batch are sums, and its entries share the start that they have in common") {
  Llm llm(model("fast"), [](RKLLMParam& param) { param.extend_param.n_batch = 2; });
  std::vector<int> first = ids(7);
  std::vector<int> second = ids(5, 600);
  second[0] = first[0];
  second[1] = first[1];
  const auto run_both = [&] {
    llm.events.clear();
    RKLLMInput inputs[] = {tokens(first), tokens(second)};
    RKLLMInferParam params = infer(4);
    return rkllm_run(llm.handle, inputs, &params, nullptr);
  };
  const auto perf = [&] { return llm.events[llm.events.size() - 2].perf; };
  REQUIRE(run_both() == 0);
  CHECK(perf().prefill_tokens == 7 + 3);
  CHECK(perf().generate_tokens == 3 + 3);

  // The first entry finds all but its last token, which counts as generated; the second finds only what they share.
  REQUIRE(run_both() == 0);
  CHECK(perf().prefill_tokens == 3);
  CHECK(perf().generate_tokens == 1 + 3 + 3);
  int sizes[2] = {};
  REQUIRE(rkllm_get_kv_cache_size(llm.handle, sizes) == 0);
  CHECK(sizes[0] == 7 + 3);
  CHECK(sizes[1] == 5 + 3);
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

TEST_CASE("in a batch nothing runs any more after a run with keep_history") {
  Llm llm(model("fast"), kThree);
  CHECK(run(llm, {"a", "b", "c"}, infer(2, 0)) == 0);
  CHECK(run(llm, {"a", "b", "c"}, infer(2, 1)) == 0);
  CHECK(run(llm, {"a", "b", "c"}, infer(2, 1)) == -1);
  CHECK(llm.events.empty());
  CHECK(run(llm, {"a", "b", "c"}, infer(2, 0)) == -1);
  CHECK(rkllm_clear_kv_cache(llm.handle, 0, nullptr, nullptr) == 0);
  CHECK(run(llm, {"a", "b", "c"}, infer(2, 1)) == -1);
}

TEST_CASE("in a batch a prompt cache is not saved but warned about") {
  const Directory directory;
  const std::string path = directory.file("cache");
  Llm llm(model("fast"), kThree);
  RKLLMPromptCacheParam cache{1, path.c_str()};
  RKLLMInferParam params = infer(2);
  params.prompt_cache_params = &cache;
  int status = -1;
  const Written written = written_by([&] { status = run(llm, {"a", "b", "c"}, params); });
  CHECK(status == 0);
  CHECK(contains(written.out, "W rkllm: a prompt cache cannot be saved"));
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a range must be within the cache of every entry of a batch") {
  Llm llm(model("fast"), kThree);
  llm.answer = [](std::size_t call) { return call == 3 ? 1 : 0; };
  REQUIRE(run(llm, {"a", "b", "c d e f"}) == 0);
  int before[kBatch] = {};
  REQUIRE(rkllm_get_kv_cache_size(llm.handle, before) == 0);
  int starts[kBatch] = {0, 1, 2};
  int ends[kBatch] = {1, 3, before[2] + 1};
  CHECK(rkllm_clear_kv_cache(llm.handle, 0, starts, ends) == -1);
  ends[2] = 6;
  CHECK(rkllm_clear_kv_cache(llm.handle, 0, starts, ends) == 0);
  int after[kBatch] = {};
  REQUIRE(rkllm_get_kv_cache_size(llm.handle, after) == 0);
  CHECK(after[0] == before[0] - 1);
  CHECK(after[1] == before[1] - 2);
  CHECK(after[2] == before[2] - 4);
}

TEST_CASE("in a batch logits are left out and hidden states end at once, each with a warning") {
  Llm llm(model("fast"), kThree);
  Written written = written_by([&] { run(llm, {"a", "b", "c"}, infer(2, 0, RKLLM_INFER_GET_LOGITS)); });
  REQUIRE(llm.events.size() == 3 * kBatch);
  CHECK(llm.events[0].logits.empty());
  CHECK(contains(written.out, "W rkllm: RKLLM_INFER_GET_LOGITS"));
  written = written_by([&] { run(llm, {"a", "b", "c"}, infer(2, 0, RKLLM_INFER_GET_LAST_HIDDEN_LAYER)); });
  REQUIRE(llm.events.size() == kBatch);
  CHECK(llm.finished());
  CHECK(contains(written.out, "W rkllm: RKLLM_INFER_GET_LAST_HIDDEN_LAYER"));
}
