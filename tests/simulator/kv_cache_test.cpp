// Section "KV cache, keep_history" of the runtime's contract.
#include "simulated.hpp"

#include <cstring>

using namespace simulated;

TEST_CASE("the cache holds the prompt and all generated tokens but the last") {
  Llm llm;
  CHECK(llm.kv_size() == 0);
  std::vector<int> seven = ids(7);
  REQUIRE(llm.run(tokens(seven), infer(5)) == 0);
  CHECK(llm.kv_size() == 7 + 5 - 1);
}

TEST_CASE("EOS counts as generated") {
  Llm llm;
  std::vector<int> seven = ids(7);
  REQUIRE(llm.run(tokens(seven)) == 0);
  CHECK(llm.kv_size() == 7 + static_cast<int>(llm.token_count()) - 1);
}

TEST_CASE("a single turn reuses the longest common prefix with the previous prompt") {
  Llm llm;
  std::vector<int> first = ids(10);
  REQUIRE(llm.run(tokens(first), infer(3)) == 0);
  CHECK(llm.computed() == 10);

  std::vector<int> same_start = first;
  same_start[6] = 999;
  REQUIRE(llm.run(tokens(same_start), infer(3)) == 0);
  CHECK(llm.computed() == 4);
  CHECK(llm.kv_size() == 12);

  // At least the last token of a prompt is computed.
  REQUIRE(llm.run(tokens(same_start), infer(3)) == 0);
  CHECK(llm.computed() == 1);
}

TEST_CASE("generated tokens are not matched against the next prompt") {
  Llm llm;
  std::vector<int> prompt_ids = ids(10);
  REQUIRE(llm.run(tokens(prompt_ids), infer(3)) == 0);
  std::vector<int> with_answer = prompt_ids;
  with_answer.push_back(llm.events[0].token);
  with_answer.push_back(llm.events[1].token);
  REQUIRE(llm.run(tokens(with_answer), infer(3)) == 0);
  CHECK(llm.computed() == 2);
}

TEST_CASE("a model that cannot reuse prefixes computes every prompt anew") {
  const Directory directory;
  Llm llm(directory.model({{"reuses_prefix", false}}));
  std::vector<int> prompt_ids = ids(10);
  REQUIRE(llm.run(tokens(prompt_ids), infer(3)) == 0);
  REQUIRE(llm.run(tokens(prompt_ids), infer(3)) == 0);
  CHECK(llm.computed() == 10);
}

TEST_CASE("keep_history appends, and any value but 0 is 1") {
  Llm llm;
  std::vector<int> five = ids(5);
  REQUIRE(llm.run(tokens(five), infer(3, 1)) == 0);
  CHECK(llm.kv_size() == 7);
  REQUIRE(llm.run(tokens(five), infer(3, 2)) == 0);
  CHECK(llm.computed() == 5);
  CHECK(llm.kv_size() == 14);
}

TEST_CASE("from history to a single turn only the new prompt remains") {
  Llm llm;
  std::vector<int> five = ids(5);
  REQUIRE(llm.run(tokens(five), infer(3, 1)) == 0);
  REQUIRE(llm.run(tokens(five), infer(3, 0)) == 0);
  CHECK(llm.kv_size() == 7);
}

TEST_CASE("from a single turn to history a fresh history starts") {
  Llm llm;
  std::vector<int> five = ids(5);
  REQUIRE(llm.run(tokens(five), infer(3, 0)) == 0);
  REQUIRE(llm.run(tokens(five), infer(3, 1)) == 0);
  CHECK(llm.computed() == 5);
  CHECK(llm.kv_size() == 7);
}

TEST_CASE("a single turn that is refused leaves an empty cache, a refused turn of a conversation leaves it as it was") {
  Llm llm;
  std::vector<int> five = ids(5);
  const int keep_history = GENERATE(0, 1);
  RKLLMInput refused = prompt("{}", "tool");
  SECTION("tool results that are no array") {}
  SECTION("an unknown input_type") {
    const int unknown = 9;
    std::memcpy(&refused.input_type, &unknown, sizeof unknown);
  }
  SECTION("no embeddings") {
    static float row[kEmbedding] = {};
    refused.input_type = RKLLM_INPUT_EMBED;
    refused.embed_input = {row, 0};
  }
  REQUIRE(llm.run(tokens(five), infer(3, keep_history)) == 0);
  REQUIRE(llm.kv_size() == 7);
  CHECK(llm.run(refused, infer(3, keep_history)) == -1);
  CHECK(llm.events.empty());
  CHECK(llm.kv_size() == (keep_history == 0 ? 0 : 7));
  REQUIRE(llm.run(tokens(five), infer(3, keep_history)) == 0);
  CHECK(llm.computed() == 5);
}

TEST_CASE("a run with an adapter that does not exist leaves an empty cache") {
  Llm llm;
  REQUIRE(llm.run("Hello", infer(3)) == 0);
  RKLLMLoraParam nobody{"nobody"};
  RKLLMInferParam params = infer(3);
  params.lora_params = &nobody;
  CHECK(llm.run("Hello", params) == -1);
  CHECK(llm.kv_size() == 0);
}

TEST_CASE("role tool is appended even without keep_history") {
  Llm llm;
  REQUIRE(llm.run("Hello", infer(3)) == 0);
  const int before = llm.kv_size();
  REQUIRE(llm.run(prompt(R"([{"ok":true}])", "tool"), infer(3)) == 0);
  CHECK(llm.kv_size() == before + llm.computed() + 2);
}

TEST_CASE("clear_kv_cache empties the cache, also if only one of the positions is NULL") {
  Llm llm;
  int position = 0;
  int* start = GENERATE(false, true) ? &position : nullptr;
  REQUIRE(llm.run("Hello", infer(3)) == 0);
  CHECK(rkllm_clear_kv_cache(llm.handle, 0, start, nullptr) == 0);
  CHECK(llm.kv_size() == 0);
  REQUIRE(llm.run("Hello", infer(3)) == 0);
  CHECK(llm.last().perf.prefill_tokens > 1);
}

TEST_CASE("keep_system_prompt keeps the system prompt of set_chat_template, and only that") {
  Llm llm;
  REQUIRE(llm.run("Hello", infer(3)) == 0);
  CHECK(rkllm_clear_kv_cache(llm.handle, 1, nullptr, nullptr) == 0);
  CHECK(llm.kv_size() == 0);

  REQUIRE(rkllm_set_chat_template(llm.handle, "<|im_start|><|im_start|><|im_start|>", "", "") == 0);
  REQUIRE(llm.run("Hello", infer(3, 1)) == 0);
  CHECK(rkllm_clear_kv_cache(llm.handle, 1, nullptr, nullptr) == 0);
  CHECK(llm.kv_size() == 3);

  // The system prompt is there already, so a conversation does not repeat it.
  REQUIRE(llm.run("<|im_end|>", infer(1, 1)) == 0);
  CHECK(llm.kv_size() == 4);
}

TEST_CASE("keep_system_prompt keeps the system prompt and tools of set_function_tools") {
  Llm llm;
  REQUIRE(rkllm_set_function_tools(llm.handle, "Be brief.", R"([{"type":"function"}])", "tag") == 0);
  REQUIRE(llm.run("Hello", infer(3)) == 0);
  CHECK(rkllm_clear_kv_cache(llm.handle, 1, nullptr, nullptr) == 0);
  const int system = llm.kv_size();
  CHECK(system > 10);
  REQUIRE(rkllm_set_function_tools(llm.handle, "Be brief, and be kind.", R"([{"type":"function"}])", "tag") == 0);
  REQUIRE(llm.run("Hello", infer(3)) == 0);
  CHECK(rkllm_clear_kv_cache(llm.handle, 1, nullptr, nullptr) == 0);
  CHECK(llm.kv_size() > system);
}

TEST_CASE("a system text in the model's own template is not kept") {
  const Directory directory;
  Llm llm(directory.model({{"default_system", "Be brief."}}));
  REQUIRE(llm.run("Hello", infer(3)) == 0);
  CHECK(rkllm_clear_kv_cache(llm.handle, 1, nullptr, nullptr) == 0);
  CHECK(llm.kv_size() == 0);
}

TEST_CASE("after a change of keep_history the log counts the dropped positions too, the function does not") {
  const Environment level("RKLLM_LOG_LEVEL", "2");
  Llm llm;
  std::vector<int> five = ids(5);
  REQUIRE(llm.run(tokens(five), infer(3, 1)) == 0);
  const Written written = written_by([&] { llm.run(tokens(five), infer(3, 0)); });
  CHECK(contains(written.out, "current kv cache size: 14\n"));
  CHECK(llm.kv_size() == 7);
}

TEST_CASE("a range is cleared only while a single turn is paused, and only within the cache") {
  Llm llm;
  std::vector<int> ten = ids(10);
  int start = 2;
  int end = 5;
  REQUIRE(llm.run(tokens(ten), infer(4)) == 0);
  CHECK(rkllm_clear_kv_cache(llm.handle, 0, &start, &end) == -1);

  llm.answer = [](std::size_t call) { return call == 3 ? 1 : 0; };
  REQUIRE(llm.run(tokens(ten)) == 0);
  REQUIRE(llm.kv_size() == 12);
  const auto clear = [&](int from, int to) { return rkllm_clear_kv_cache(llm.handle, 0, &from, &to); };
  CHECK(clear(-1, 2) == -1);
  CHECK(clear(3, 3) == -1);
  CHECK(clear(5, 2) == -1);
  CHECK(clear(0, 13) == -1);
  CHECK(clear(2, 5) == 0);
  CHECK(llm.kv_size() == 9);
  int from = 0;
  int to = 1;
  CHECK(rkllm_clear_kv_cache(llm.handle, 1, &from, &to) == 0);  // keep_system_prompt is ignored
  CHECK(llm.kv_size() == 8);
  CHECK(clear(0, 8) == 0);
  CHECK(llm.kv_size() == 0);
}

TEST_CASE("a range is not cleared while a run with history is paused") {
  Llm llm;
  llm.answer = [](std::size_t call) { return call == 3 ? 1 : 0; };
  REQUIRE(llm.run("Hello", infer(0, 1)) == 0);
  int start = 0;
  int end = 1;
  CHECK(rkllm_clear_kv_cache(llm.handle, 0, &start, &end) == -1);
}

TEST_CASE("handles have caches of their own, and may be destroyed in any order") {
  Llm first;
  Llm second;
  REQUIRE(first.run("Hello", infer(3)) == 0);
  CHECK(second.kv_size() == 0);
  REQUIRE(second.run("Hello", infer(3)) == 0);
  CHECK(rkllm_destroy(std::exchange(first.handle, nullptr)) == 0);
  CHECK(second.run("Hello", infer(3)) == 0);
  Llm third;
  CHECK(third.run("Hello", infer(3)) == 0);
}
