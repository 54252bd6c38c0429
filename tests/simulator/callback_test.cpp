// Section "result callback" of the runtime's contract: what arrives, in which order, with which values.
#include "simulated.hpp"

using namespace simulated;

namespace {

bool is_zero(const RKLLMPerfStat& perf) {
  return perf.prefill_tokens == 0 && perf.generate_tokens == 0 && perf.prefill_time_ms == 0 &&
         perf.generate_time_ms == 0 && perf.memory_usage_mb == 0;
}

}  // namespace

TEST_CASE("a run gives one callback per token and then one FINISH") {
  Llm llm;
  REQUIRE(llm.run("Hello") == 0);
  REQUIRE(llm.finished());
  for (std::size_t i = 0; i + 1 < llm.events.size(); ++i) {
    const Event& event = llm.events[i];
    CHECK((event.state == RKLLM_RUN_NORMAL || event.state == RKLLM_RUN_WAITING));
    CHECK(event.has_result);
    CHECK(is_zero(event.perf));
  }
}

TEST_CASE("FINISH carries a result with NULL text, token id 0 and filled figures") {
  Llm llm;
  REQUIRE(llm.run("Hello") == 0);
  const Event& finish = llm.last();
  CHECK(finish.has_result);
  CHECK_FALSE(finish.text);
  CHECK(finish.token == 0);
  CHECK(finish.perf.prefill_tokens > 1);
  CHECK(finish.perf.generate_tokens == static_cast<int>(llm.token_count()) - 1);
}

TEST_CASE("memory_usage_mb is the most memory that the process has had") {
  Llm llm;
  REQUIRE(llm.run("Hello") == 0);
  std::ifstream status("/proc/self/status");
  float kilobytes = 0;
  for (std::string word; kilobytes == 0 && status >> word;) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  CHECK(llm.last().perf.memory_usage_mb > kilobytes / 1024 * 0.9F);
  CHECK(llm.last().perf.memory_usage_mb <= kilobytes / 1024);
}

TEST_CASE("the text of a callback is gone when the next one comes") {
  static const char* kept = nullptr;
  static std::string later;
  const std::string path = model("fast");
  RKLLMParam param = param_for(path);
  RKLLMCallback callback{};
  callback.result_callback = [](RKLLMResult* result, void*, LLMCallState) {
    if (kept == nullptr) {
      kept = result->text;
    } else if (later.empty()) {
      later = kept;
    }
    return 0;
  };
  LLMHandle handle = nullptr;
  REQUIRE(rkllm_init(&handle, &param, &callback) == 0);
  RKLLMInput input = prompt("@ids=81,82,83");
  RKLLMInferParam params{};
  CHECK(rkllm_run(handle, &input, &params, nullptr) == 0);
  rkllm_destroy(handle);
  CHECK(later == "B");  // the first was A
}

TEST_CASE("EOS is a NORMAL callback of its own with empty text") {
  Llm llm;
  REQUIRE(llm.run("Hello") == 0);
  const Event& eos = llm.events[llm.events.size() - 2];
  CHECK(eos.state == RKLLM_RUN_NORMAL);
  CHECK(eos.token == kEos);
  CHECK(eos.text == "");
}

TEST_CASE("a model has several EOS tokens, and the first that comes ends the run") {
  Llm llm;
  REQUIRE(llm.run("@ids=81,0,82") == 0);
  REQUIRE(llm.token_count() == 2);
  CHECK(llm.events[1].token == 0);
  CHECK(llm.events[1].state == RKLLM_RUN_NORMAL);
  CHECK(llm.events[1].text == "");
}

TEST_CASE("skip_special_token=false shows the text of EOS") {
  Llm llm(model("fast"), [](RKLLMParam& param) { param.skip_special_token = false; });
  REQUIRE(llm.run("Hello") == 0);
  CHECK(llm.events[llm.events.size() - 2].text == "<|im_end|>");
}

TEST_CASE("a special token in the middle of an answer has empty text and its id") {
  Llm llm;
  REQUIRE(llm.run("@ids=81,1,82") == 0);
  REQUIRE(llm.token_count() == 4);
  CHECK(llm.events[1].token == 1);
  CHECK(llm.events[1].text == "");
  CHECK(llm.text() == "AB");
}

TEST_CASE("special tokens that a model's file names are hidden, too, unless skip_special_token is false") {
  const Directory directory;
  const std::string path = directory.model({{"special_tokens", {"<|plugin|>", "<|done|>"}}});
  const char* const question = "@say=\"A<|plugin|>B<|done|>C\"";
  Llm hiding(path);
  REQUIRE(hiding.run(question) == 0);
  CHECK(hiding.text() == "ABC");
  CHECK(hiding.token_count() == 6);
  CHECK(hiding.events[1].text == "");
  CHECK(hiding.events[3].token == hiding.events[1].token + 1);

  Llm showing(path, [](RKLLMParam& param) { param.skip_special_token = false; });
  REQUIRE(showing.run(question) == 0);
  CHECK(showing.text() == "A<|plugin|>B<|done|>C<|im_end|>");
}

TEST_CASE("ignore_eos_token makes the run go on to max_new_tokens") {
  Llm llm(model("fast"), [](RKLLMParam& param) { param.ignore_eos_token = true; });
  REQUIRE(llm.run("Hello", infer(400)) == 0);
  CHECK(llm.token_count() == 400);
  for (const Event& event : llm.events) CHECK(event.token != kEos);

  // Where the model would have ended, the next best token comes instead.
  REQUIRE(llm.run("@ids=81,2,82", infer(2)) == 0);
  CHECK(llm.text() == "AB");
}

TEST_CASE(
    "a token that leaves a character unfinished is WAITING with NULL text, the completing one has the whole of it") {
  // Ids 16 to 271 are single bytes: F0 9F 98 80 is one emoji.
  Llm llm;
  REQUIRE(llm.run("@ids=256,175,168,144") == 0);
  REQUIRE(llm.token_count() == 5);
  for (int i = 0; i < 3; ++i) {
    CHECK(llm.events[static_cast<std::size_t>(i)].state == RKLLM_RUN_WAITING);
    CHECK(llm.events[static_cast<std::size_t>(i)].has_result);
    CHECK_FALSE(llm.events[static_cast<std::size_t>(i)].text);
  }
  CHECK(llm.events[0].token == 256);
  CHECK(llm.events[3].state == RKLLM_RUN_NORMAL);
  CHECK(llm.events[3].token == 144);
  CHECK(llm.events[3].text == "\xF0\x9F\x98\x80");
}

TEST_CASE("bytes that the next token does not continue are dropped silently") {
  Llm llm;
  REQUIRE(llm.run("@ids=256,175,81,256,175") == 0);
  CHECK(llm.text() == "A");
  CHECK(llm.events[2].state == RKLLM_RUN_NORMAL);
  CHECK(llm.events[2].text == "A");
}

TEST_CASE("a character that the end of the run leaves unfinished is dropped silently") {
  Llm llm;
  REQUIRE(llm.run("@ids=81,256,175,168,144", infer(3)) == 0);
  CHECK(llm.finished());
  CHECK(llm.text() == "A");
}

TEST_CASE("ordinary answers contain characters that several tokens make up") {
  Llm llm;
  REQUIRE(llm.run("@n=2000") == 0);
  std::size_t waiting = 0;
  for (const Event& event : llm.events) waiting += event.state == RKLLM_RUN_WAITING;
  CHECK(waiting > 100);
  CHECK(waiting < 1000);
}

TEST_CASE("a NULL prompt gives one NORMAL with NULL text and id -1, then FINISH") {
  Llm llm;
  REQUIRE(llm.run(prompt(nullptr)) == 0);
  REQUIRE(llm.events.size() == 2);
  CHECK(llm.events[0].state == RKLLM_RUN_NORMAL);
  CHECK(llm.events[0].has_result);
  CHECK_FALSE(llm.events[0].text);
  CHECK(llm.events[0].token == -1);
  CHECK(llm.finished());
}

TEST_CASE("ERROR comes with a NULL result, without FINISH, and the run returns -1") {
  const Directory directory;
  Llm llm(directory.model({{"faults", {{{"when", 3}, {"what", "error"}}}}}));
  CHECK(llm.run("Hello") == -1);
  REQUIRE(llm.events.size() == 3);
  CHECK(llm.last().state == RKLLM_RUN_ERROR);
  CHECK_FALSE(llm.last().has_result);
}

TEST_CASE("a run can fail after tokens without any further callback") {
  const Directory directory;
  Llm llm(directory.model({{"faults", {{{"when", 3}, {"what", "fail"}}}}}));
  CHECK(llm.run("Hello") == -1);
  REQUIRE(llm.events.size() == 2);
  CHECK(llm.last().state == RKLLM_RUN_NORMAL);
}

TEST_CASE("what a failed run has computed shows up in the figures of the next") {
  Llm llm(model("fast"), [](RKLLMParam& param) { param.max_context_len = 64; });
  std::vector<int> full = ids(64);
  CHECK(llm.run(tokens(full)) == -1);
  std::vector<int> two = ids(2, 700);
  REQUIRE(llm.run(tokens(two), infer(1)) == 0);
  CHECK(llm.last().perf.prefill_tokens == 66);
}

TEST_CASE("a prefill of one token counts as generated") {
  Llm llm;
  REQUIRE(llm.run("Hello", infer(5)) == 0);
  REQUIRE(llm.run("Hello", infer(5)) == 0);  // all of it is in the cache, and one token is computed all the same
  CHECK(llm.last().perf.prefill_tokens == 0);
  CHECK(llm.last().perf.prefill_time_ms == 0);
  CHECK(llm.last().perf.generate_tokens == 5);
}

TEST_CASE("generate_tokens is at least one") {
  Llm llm;
  REQUIRE(llm.run("Hello", infer(1)) == 0);
  CHECK(llm.last().perf.generate_tokens == 1);
}

TEST_CASE("is_running is 1 in every callback, FINISH included, and 0 afterwards") {
  Llm llm;
  CHECK(rkllm_is_running(llm.handle) == 0);
  REQUIRE(llm.run("Hello") == 0);
  for (const Event& event : llm.events) CHECK(event.running == 1);
  CHECK(rkllm_is_running(llm.handle) == 0);
}

TEST_CASE("rkllm_run calls back on the caller's thread") {
  Llm llm;
  REQUIRE(llm.run("Hello") == 0);
  for (const Event& event : llm.events) CHECK(event.thread == std::this_thread::get_id());
}

TEST_CASE("the userdata of a run wins over that of the callback struct, which serves when it is NULL") {
  static std::vector<void*> seen;
  seen.clear();
  int fallback = 0;
  int own = 0;
  const std::string path = model("fast");
  RKLLMParam param = param_for(path);
  RKLLMCallback callback{};
  callback.result_callback = [](RKLLMResult*, void* userdata, LLMCallState) {
    seen.push_back(userdata);
    return 0;
  };
  callback.result_userdata = &fallback;
  LLMHandle handle = nullptr;
  REQUIRE(rkllm_init(&handle, &param, &callback) == 0);
  callback = {};  // the struct was copied
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params = infer(1);
  CHECK(rkllm_run(handle, &input, &params, &own) == 0);
  CHECK(rkllm_run(handle, &input, &params, nullptr) == 0);
  CHECK(seen == std::vector<void*>{&own, &own, &fallback, &fallback});
  rkllm_destroy(handle);
}

TEST_CASE("return 1 pauses: no FINISH, status 0, not running, the cache stays") {
  Llm llm;
  llm.answer = [](std::size_t call) { return call == 4 ? 1 : 0; };
  std::vector<int> seven = ids(7);
  REQUIRE(llm.run(tokens(seven)) == 0);
  CHECK(llm.token_count() == 4);
  CHECK_FALSE(llm.finished());
  CHECK(rkllm_is_running(llm.handle) == 0);
  CHECK(llm.kv_size() == 7 + 4 - 1);

  SECTION("the next run goes on behind it") {
    llm.answer = [](std::size_t) { return 0; };
    std::vector<int> three = ids(3, 600);
    REQUIRE(llm.run(tokens(three), infer(5)) == 0);
    CHECK(llm.finished());
    CHECK(llm.kv_size() == 10 + 3 + 5 - 1);
  }
}

TEST_CASE("after a pause the figures start anew: those of the next run are its own") {
  Llm llm;
  llm.answer = [](std::size_t call) { return call == 4 ? 1 : 0; };
  std::vector<int> seven = ids(7);
  REQUIRE(llm.run(tokens(seven)) == 0);
  REQUIRE_FALSE(llm.finished());
  llm.answer = [](std::size_t) { return 0; };
  std::vector<int> three = ids(3, 600);
  REQUIRE(llm.run(tokens(three), infer(5)) == 0);
  CHECK(llm.last().perf.prefill_tokens == 3);
  CHECK(llm.last().perf.generate_tokens == 4);
}

TEST_CASE("a turn behind a pause has a BOS token of its own where there is no template") {
  const Directory directory;
  Llm llm(directory.model({{"chat_template", "none"}}));
  llm.answer = [](std::size_t call) { return call == 4 ? 1 : 0; };
  REQUIRE(llm.run("<|im_end|><|im_end|>") == 0);
  REQUIRE(llm.kv_size() == 3 + 4 - 1);
  llm.answer = [](std::size_t) { return 0; };
  REQUIRE(llm.run("<|im_end|>", infer(5)) == 0);
  CHECK(llm.kv_size() == 6 + 2 + 5 - 1);
  CHECK(llm.last().perf.prefill_tokens == 2);
}

TEST_CASE("return 1 also stops a run with keep_history") {
  Llm llm;
  llm.answer = [](std::size_t call) { return call == 2 ? 1 : 0; };
  REQUIRE(llm.run("Hello", infer(0, 1)) == 0);
  CHECK(llm.token_count() == 2);
  CHECK_FALSE(llm.finished());
  const int before = llm.kv_size();
  llm.answer = [](std::size_t) { return 0; };
  std::vector<int> five = ids(5);
  REQUIRE(llm.run(tokens(five), infer(3, 1)) == 0);
  CHECK(llm.kv_size() == before + 5 + 2);
}

TEST_CASE("a run after a pause puts its prompt, with its template, behind what is there") {
  const Environment level("RKLLM_LOG_LEVEL", "2");
  Llm llm;
  llm.answer = [](std::size_t call) { return call == 4 ? 1 : 0; };
  REQUIRE(llm.run("Hello") == 0);
  const int before = llm.kv_size();
  llm.answer = [](std::size_t) { return 0; };
  const Written written = written_by([&] { llm.run("Go on", infer(3)); });
  CHECK(contains(written.out, "prompt: <|im_start|>user\nGo on<|im_end|>\n<|im_start|>assistant\n"));
  Llm alone;
  REQUIRE(alone.run("Go on", infer(3)) == 0);
  CHECK(llm.kv_size() == before + alone.kv_size());
}

TEST_CASE("return 2, 5 and -1 change nothing about a run") {
  Llm llm;
  REQUIRE(llm.run("Hello") == 0);
  const std::string text = llm.text();
  const int value = GENERATE(2, 5, -1);
  llm.answer = [value](std::size_t) { return value; };
  REQUIRE(llm.run("Hello") == 0);
  CHECK(llm.finished());
  CHECK(llm.text() == text);
}

TEST_CASE("rkllm_run inside a callback runs, and the outer run goes on") {
  Llm llm;
  std::size_t inner = 0;
  llm.answer = [&](std::size_t) {
    if (inner++ == 0) {
      RKLLMInput input = prompt("inner");
      RKLLMInferParam params = infer(2);
      CHECK(rkllm_run(llm.handle, &input, &params, nullptr) == 0);
    }
    return 0;
  };
  CHECK(llm.run("outer", infer(5)) == 0);
  CHECK(llm.finished());
  CHECK(llm.token_count() == 7);
  CHECK(rkllm_is_running(llm.handle) == 0);
  Llm alone;
  REQUIRE(alone.run("inner", infer(2)) == 0);
  CHECK(llm.kv_size() == alone.kv_size() + 4);  // the outer run's tokens came behind the inner run
}

TEST_CASE("rkllm_clear_kv_cache inside a callback wipes the cache under the run") {
  Llm llm;
  llm.answer = [&](std::size_t call) {
    if (call == 3) CHECK(rkllm_clear_kv_cache(llm.handle, 0, nullptr, nullptr) == 0);
    return 0;
  };
  CHECK(llm.run("Hello", infer(5)) == 0);
  CHECK(llm.token_count() == 5);
  CHECK(llm.kv_size() == 2);
}
