// Section "rkllm_abort" of the runtime's contract.
#include "simulated.hpp"

#include <chrono>

using namespace simulated;
using Clock = std::chrono::steady_clock;

TEST_CASE("abort inside the callback makes FINISH the next callback, and the run returns 0") {
  Llm llm;
  llm.answer = [&](std::size_t call) {
    if (call == 5) CHECK(rkllm_abort(llm.handle) == 0);
    return 0;
  };
  CHECK(llm.run("@n=1000000") == 0);
  CHECK(llm.token_count() == 5);
  CHECK(llm.finished());
  CHECK(llm.last().perf.generate_tokens == 4);
}

TEST_CASE("only a line in the log tells an aborted run from one that has ended") {
  Llm llm;
  llm.answer = [&](std::size_t call) {
    if (call == 3) rkllm_abort(llm.handle);
    return 0;
  };
  int status = -1;
  const Written aborted = written_by([&] { status = llm.run("@n=50"); });
  CHECK(status == 0);
  CHECK(llm.last().state == RKLLM_RUN_FINISH);
  CHECK(contains(aborted.out, "the run was aborted"));
  llm.answer = [](std::size_t) { return 0; };
  const Written ended = written_by([&] { status = llm.run("@n=3"); });
  CHECK(status == 0);
  CHECK(llm.last().state == RKLLM_RUN_FINISH);
  CHECK_FALSE(contains(ended.out, "aborted"));
}

TEST_CASE("abort from another thread ends the run with FINISH and 0") {
  Llm llm;
  std::thread aborter;
  llm.answer = [&](std::size_t call) {
    if (call == 1) aborter = std::thread([&] { rkllm_abort(llm.handle); });
    return 0;
  };
  CHECK(llm.run("@n=2000000000") == 0);
  aborter.join();
  CHECK(llm.finished());
}

TEST_CASE("abort while idle returns 0 and does not poison the next run") {
  Llm llm;
  CHECK(rkllm_abort(llm.handle) == 0);
  CHECK(llm.run("Hello") == 0);
  CHECK(llm.events[llm.events.size() - 2].token == kEos);
}

TEST_CASE("an aborted run does not poison the next run") {
  Llm llm;
  llm.answer = [&](std::size_t call) {
    if (call == 2) rkllm_abort(llm.handle);
    return 0;
  };
  REQUIRE(llm.run("Hello") == 0);
  llm.answer = [](std::size_t) { return 0; };
  REQUIRE(llm.run("Hello") == 0);
  CHECK(llm.token_count() > 2);
}

TEST_CASE("prefill is not interruptible: abort takes effect after it, and after one NORMAL") {
  const Directory directory;
  Llm llm(directory.model({{"prefill_tokens_per_s", 1000}, {"tokenizer", true}}),
          [](RKLLMParam& param) { param.is_async = true; });
  std::vector<int> prompt_ids = ids(300);
  RKLLMInput input = tokens(prompt_ids);
  RKLLMInferParam params = infer(50);
  const auto begun = Clock::now();
  REQUIRE(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
  CHECK(rkllm_abort(llm.handle) == 0);
  REQUIRE(llm.wait_for_ends(1));
  CHECK(Clock::now() - begun >= std::chrono::milliseconds(290));
  CHECK(llm.token_count() == 1);
}

TEST_CASE("an abort cuts the wait for the next token short") {
  const Directory directory;
  Llm llm(directory.model({{"decode_tokens_per_s", 0.05}}), [](RKLLMParam& param) { param.is_async = true; });
  RKLLMInput input = prompt("Hello");
  RKLLMInferParam params = infer(50);
  REQUIRE(rkllm_run_async(llm.handle, &input, &params, nullptr) == 0);
  REQUIRE(llm.wait_for_event());
  const auto aborted = Clock::now();
  CHECK(rkllm_abort(llm.handle) == 0);
  REQUIRE(llm.wait_for_ends(1));
  CHECK(Clock::now() - aborted < std::chrono::seconds(5));
  CHECK(llm.token_count() <= 2);
}

TEST_CASE("the decode speed is kept") {
  const Directory directory;
  Llm llm(directory.model({{"decode_tokens_per_s", 100}}));
  REQUIRE(llm.run("Hello", infer(11)) == 0);
  CHECK(llm.last().perf.generate_time_ms >= 99.0F);
  CHECK(llm.last().perf.generate_time_ms < 1000.0F);
}

TEST_CASE("Qwen3-0.6B on an RK3588 takes 199 ms to the first token behind 128, then makes 32.91 a second") {
  Llm llm(model("rk3588-qwen3-0.6b"));
  std::vector<int> prompt_ids = ids(128);
  REQUIRE(llm.run(tokens(prompt_ids), infer(4)) == 0);
  const RKLLMPerfStat perf = llm.last().perf;
  REQUIRE(perf.prefill_tokens == 128);
  CHECK(perf.prefill_time_ms >= 198.9F);
  CHECK(perf.prefill_time_ms < 1000.0F);
  REQUIRE(perf.generate_tokens == 3);
  CHECK(perf.generate_time_ms >= 3 * 1000.0F / 32.92F);
  CHECK(perf.generate_time_ms < 1000.0F);
  RKLLMInput hello = prompt("Hello");
  hello.enable_thinking = true;
  REQUIRE(llm.run(hello, infer(3)) == 0);
  CHECK(llm.text().starts_with("<think>"));
}

TEST_CASE("abort and is_running may be called from any thread during a run") {
  Llm llm;
  std::vector<std::thread> threads;
  llm.answer = [&](std::size_t call) {
    if (call != 1) return 0;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 100; ++k) rkllm_is_running(llm.handle);
        rkllm_abort(llm.handle);
      });
    }
    return 0;
  };
  CHECK(llm.run("@n=2000000000") == 0);
  CHECK(llm.finished());
  for (std::thread& thread : threads) thread.join();
}
