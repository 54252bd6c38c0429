// What a turn makes of its runs, step by step: counts, answers and their tries, the warm-up. Its place and its
// listener: turn_maker_test.cpp.
#include "chat/host/turn_maker.hpp"

#include "server/chat/host/maker_bench.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::chat::testing;

TEST_CASE("a template that cannot be switched off, or a handle of batches, ends a turn before its run") {
  MakerBench bench;
  std::string why;
  SECTION("template") {
    bench.begin();
    bench.lender.grant();
    bench.model.cleared("rkllm_set_chat_template returned -1");
    why = "rkllm_set_chat_template returned -1";
  }
  SECTION("batches") {
    bench.model.known.n_batch = 4;
    bench.begin();
    bench.lender.grant();
    why = "4";
    CHECK(bench.model.notes.empty());
  }
  REQUIRE(bench.error);
  CHECK_THAT(bench.error->what(), test::has_text(why));
  CHECK(bench.heard == Notes{"failed", "gone"});
  CHECK(bench.model.runs.empty());
  CHECK(bench.lender.leases == 0);
}

TEST_CASE("a count of a prompt that fails is an error with its own words, unless the prompt may have been too long") {
  MakerBench bench;
  bench.model.known.max_context_len = 96;
  auto kind = ErrorKind::kRuntimeFailed;
  std::string words = "rkllm_run returned -1";
  RunReport report = report_of(RunEnd::kFailed, 0);
  report.complaint = words;
  SECTION("the worker died") {
    bench.make(turn_to_make(std::string(200, 'x')));
    report.lost = true;
  }
  SECTION("a token had come") {
    bench.make(turn_to_make(std::string(200, 'x')));
    report.tokens = 1;
  }
  SECTION("it is shorter than the context") {}
  SECTION("it may be longer") {
    bench.make(turn_to_make(std::string(200, 'x')));
    kind = ErrorKind::kContext;
    words = "96";
  }
  SECTION("the runtime does not say why") {
    report.complaint.clear();
    words = "does not say why";
  }
  SECTION("the runtime does not tell how long it is") {
    report = report_of(RunEnd::kFinished, 1, std::nullopt);
    words = "does not tell how long the prompt is";
  }
  bench.begin_run();
  REQUIRE(bench.run().options.max_new_tokens == 1);
  bench.end(report);
  REQUIRE(bench.error);
  CHECK(bench.error->kind() == kind);
  CHECK_THAT(bench.error->what(), test::has_text(words));
  CHECK(bench.heard == Notes{"failed", "gone"});
}

TEST_CASE("a count whose limit is an abort, as older runtimes have it, is no call of somebody else's") {
  MakerBench bench;
  bench.model.known.max_context_len = 96;
  bench.model.known.has_run_options = false;
  bench.begin_run();
  bench.token("x");
  CHECK(bench.model.notes.back() == "abort");
  bench.end(report_of(RunEnd::kAborted, 1, 60));
  CHECK_FALSE(bench.error);
  REQUIRE(bench.model.runs.size() == 2);
  CHECK(bench.run().options.max_new_tokens == 96 - 60);
  CHECK(bench.beginning->usage.prompt == 60);
}

TEST_CASE("a run that ends with the last token that it may make is cut, whether by itself or by an abort") {
  for (const RunEnd end : {RunEnd::kFinished, RunEnd::kAborted}) {
    Turn turn = turn_to_make();
    turn.max_tokens = 2;
    MakerBench bench(turn);
    bench.begin_run();
    bench.token("a");
    bench.token("b");
    bench.end(report_of(end, 2));
    CHECK_FALSE(bench.error);
    CHECK(bench.finish == Finish::kLength);
  }
}

TEST_CASE("tokens behind a stop string are not told, and that its run was aborted is no fault") {
  Turn turn = turn_to_make();
  turn.stop = {"END"};
  MakerBench bench(turn);
  bench.begin_run();
  bench.token("aEND");
  CHECK(bench.model.notes.back() == "abort");
  const Notes before = bench.heard;
  bench.token("b");
  CHECK(bench.heard == before);
  bench.end(report_of(RunEnd::kAborted, 2));
  CHECK(bench.finish == Finish::kStopString);
  CHECK(bench.sum->generated == 2);  // the late one was made as well
}

TEST_CASE("the first token of a turn is told once, and each answer that has ended before its listener hears of it") {
  Turn turn = turn_to_make();
  turn.answers = 2;
  MakerBench bench(turn, {.warm_up_bytes = 0});
  bench.begin_run();
  bench.answer("a");
  bench.answer("b");
  CHECK(bench.heard == Notes{"begun", "token of handle-1", "progress 1 of 0", "event a", "progress 2 of 0",
                             "answered qwen3-0.6b", "ended 0", "progress 1 of 1", "event b", "progress 2 of 1",
                             "answered qwen3-0.6b", "ended 1", "finished", "gone"});
  CHECK(bench.model.runs.size() == 2);
}

TEST_CASE("options that cannot be honoured are named when an answer begins, but not what is so in any case") {
  Turn turn = turn_to_make();
  turn.context = 2048;
  turn.conversation_field = "conversation";
  MakerBench bench(turn);
  bench.begin_run();
  CHECK(bench.beginning->ignored == Notes{"options.num_ctx", "conversation"});

  turn.context = 4096;  // which the model has
  turn.conversation_field.clear();
  bench.make(turn);
  bench.begin();
  bench.lender.grant();
  CHECK(bench.beginning->ignored.empty());
}

TEST_CASE("each try of an answer has half the freedom of the one before, and the next answer's first has all of it") {
  Turn turn = turn_for_json();
  turn.answers = 2;
  turn.sampling.temperature = 0.8;
  MakerBench bench(turn, {.warm_up_bytes = 0, .structured_tries = 3});
  bench.begin_run();
  bench.answer("no");
  bench.answer("no");
  bench.answer("{}");
  bench.answer("{}");
  REQUIRE(bench.sum);
  std::vector<double> temperatures;
  for (const auto& run : bench.model.runs) temperatures.push_back(run.options.sampling.temperature);
  CHECK(temperatures == std::vector<double>{0.8, 0.4, 0.2, 0.8});
}

TEST_CASE("there is one try at least, and the complaint says how many there were") {
  const auto failed = [](unsigned tries) {
    MakerBench bench(turn_for_json(), {.structured_tries = tries});
    bench.begin_run();
    while (!bench.error) bench.answer("no");
    CHECK(bench.model.runs.size() == std::max(tries, 1U));
    CHECK(bench.error->kind() == ErrorKind::kInvalidAnswer);
    CHECK(std::ranges::count(bench.heard, "answered qwen3-0.6b") == 0);
    return std::string(bench.error->what());
  };
  CHECK_THAT(failed(0), test::has_text("after 1 tries"));
  CHECK_THAT(failed(2), test::has_text("after 2 tries"));
}

TEST_CASE(
    "nothing is warmed up behind a model that is unloaded, an answer that nothing goes on from, or without bytes") {
  Turn turn = turn_to_make();
  HostOptions options;
  std::optional<KeepAlive> keep_alive;
  bool is_full = false;
  SECTION("unloaded") { keep_alive = KeepAlive{.seconds = 0}; }
  SECTION("nothing goes on") { turn.goes_on = false; }
  SECTION("no bytes") { options.warm_up_bytes = 0; }
  SECTION("a raw prompt") {
    turn.messages.clear();
    turn.raw_prompt = "Hi";
  }
  SECTION("the context is full") { is_full = true; }
  MakerBench bench(turn, options);
  bench.begin_run(keep_alive);
  bench.token("a");
  bench.token("");
  if (is_full) bench.model.known.max_context_len = 50;
  bench.end(report_of(RunEnd::kFinished, 2, 1));
  CHECK(bench.sum);
  CHECK(bench.model.runs.size() == 1);
  CHECK(bench.heard.back() == "gone");
}

TEST_CASE(
    "a warm-up takes whole characters, goes on behind an abort, and gives way to whoever waits between two slices") {
  MakerBench bench(turn_to_make(), {.warm_up_bytes = 1});
  bench.begin_run();
  bench.answer("€€");  // of three bytes each
  REQUIRE(bench.model.runs.size() == 2);
  const std::string first = bench.run().prompt;
  CHECK(first.ends_with("€"));
  CHECK_FALSE(first.ends_with("€€"));
  // One that somebody's abort has cut is none that has failed: its prompt is there.
  bench.end(report_of(RunEnd::kAborted, 1));
  REQUIRE(bench.model.runs.size() == 3);
  CHECK(bench.run().prompt == first + "€");
  bench.lender.others_wait = true;
  bench.end(report_of(RunEnd::kFinished, 1));
  CHECK(bench.model.runs.size() == 3);
  CHECK(bench.heard.back() == "gone");
  CHECK(bench.lender.leases == 0);
}

TEST_CASE("the cache of a warm-up is kept if it was written, and no conversation was deleted meanwhile") {
  MakerFolder folder;
  MakerBench bench(turn_to_make(), {}, folder.path.string());
  bench.begin_run();
  const auto warm = [&bench] {
    bench.answer("a");
    const std::string path = bench.run().options.save_cache_to;
    REQUIRE_FALSE(path.empty());
    std::ofstream(path) << "cache";
    return path;
  };
  RunReport report = report_of(RunEnd::kFinished, 1);
  std::size_t kept = 0;
  std::string path;
  SECTION("kept") {
    path = warm();
    kept = 1;
  }
  SECTION("not written") {
    path = warm();
    report.cache_saved = false;
  }
  SECTION("failed") {
    path = warm();
    report.end = RunEnd::kFailed;
  }
  SECTION("deleted meanwhile") {
    path = warm();
    bench.caches.forget_all();
    std::ofstream(path) << "cache";
  }
  SECTION("deleted before") {
    bench.caches.forget_all();
    bench.answer("a");
    CHECK(bench.run().options.save_cache_to.empty());
  }
  SECTION("not known what it would be of") {
    bench.model.known.cache_identity.clear();
    bench.answer("a");
    CHECK(bench.run().options.save_cache_to.empty());
  }
  bench.end(report);
  CHECK(bench.caches.files() == kept);
  if (!path.empty()) CHECK(std::filesystem::exists(path) == (kept > 0));
  CHECK(bench.heard.back() == "gone");
  CHECK(bench.lender.leases == 0);
}
