// A turn's place, its listener, and its hold of the model. Its runs: turn_maker_runs_test.cpp; what comes of whole
// turns: turn_test.cpp.
#include "chat/host/turn_maker.hpp"

#include "server/chat/host/maker_bench.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <fstream>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;
using namespace rkllm_mcp::chat::testing;

TEST_CASE("what is heard of a turn's place is handed on, but of those before it only whom a client waits for") {
  MakerBench bench;
  bench.begin(KeepAlive{.seconds = 9});
  CHECK(bench.lender.wish.model == "qwen3-0.6b");
  CHECK(bench.lender.wish.keep_alive == KeepAlive{.seconds = 9});
  CHECK(bench.lender.wish.peer == "peer");
  bench.held_for_nobody = 1;
  bench.lender.events.queued(3);
  bench.lender.events.queued(1);
  bench.held_for_nobody = 2;
  bench.lender.events.queued(1);  // and not less than none
  bench.lender.events.loading({.bytes = 5});
  CHECK(bench.heard == Notes{"queued 2", "queued 0", "queued 0", "loading 5"});
  CHECK(bench.lender.places == 1);
  bench.lender.grant();
  CHECK(bench.lender.places == 0);
  CHECK(bench.lender.leases == 1);
  CHECK(bench.record_of == "qwen3-0.6b 7");
}

TEST_CASE("a place that comes to nothing is told once as the failure it was, and the turn is gone") {
  MakerBench bench;
  bench.begin();
  bench.lender.events.failed(TurnError::try_later(ErrorKind::kQueueFull, "too many wait", 3));
  CHECK(bench.heard == Notes{"failed", "gone"});
  CHECK(bench.error->kind() == ErrorKind::kQueueFull);
  CHECK(bench.error->retry_after_s() == 3);
  CHECK(bench.lender.places == 0);
}

TEST_CASE(
    "a turn whose listener goes while it waits gives its place up at once, and tells nothing but that it is gone") {
  MakerBench bench;
  bench.begin();
  bench.maker->listener_gone();
  CHECK(bench.heard == Notes{"gone"});
  CHECK(bench.lender.places == 0);
  CHECK_FALSE(bench.maker);
}

TEST_CASE("a turn whose listener goes keeps its model until the step that it is at has ended, and begins no other") {
  MakerFolder folder;
  MakerBench bench(turn_to_make(), {}, folder.path.string());
  std::string asked;
  const auto keep_cache = [&bench] {
    const std::string path = bench.caches.path_for(bench.model.known.cache_identity, "<|im_start|>");
    std::ofstream(path) << "x";
    bench.caches.written(path, bench.model.known.cache_identity, "<|im_start|>");
  };
  SECTION("the template") {
    keep_cache();
    bench.begin();
    bench.lender.grant();
    asked = "template";
    bench.maker->listener_gone();
    CHECK(bench.lender.leases == 1);
    bench.model.cleared("");
  }
  SECTION("the template, which fails") {
    bench.begin();
    bench.lender.grant();
    asked = "template";
    bench.maker->listener_gone();
    bench.model.cleared("rkllm_set_chat_template returned -1");
  }
  SECTION("a cache") {
    keep_cache();
    bench.begin();
    bench.lender.grant();
    bench.model.cleared("");
    asked = "cache";
    bench.maker->listener_gone();
    CHECK(bench.lender.leases == 1);
    bench.model.loaded(true);
  }
  SECTION("a count") {
    bench.model.known.max_context_len = 96;
    bench.begin_run();
    REQUIRE(bench.run().options.max_new_tokens == 1);
    asked = "run";
    bench.maker->listener_gone();
    CHECK(bench.model.notes.back() == "abort");
    bench.model.notes.pop_back();
    CHECK(bench.lender.leases == 1);
    bench.end(report_of(RunEnd::kAborted, 1));
  }
  SECTION("its run, also where that fails") {
    bench.begin_run();
    asked = "run";
    bench.maker->listener_gone();
    CHECK(bench.model.notes.back() == "abort");
    bench.model.notes.pop_back();
    bench.token("late");
    CHECK(bench.lender.leases == 1);
    bench.heard.clear();  // it had begun
    bench.end(report_of(RunEnd::kFailed, 0));
  }
  CHECK(bench.heard == Notes{"gone"});
  CHECK(bench.model.notes.back() == asked);
  CHECK(bench.lender.leases == 0);
}

TEST_CASE("a listener may go in whatever it hears of an answer, and hears nothing more") {
  MakerBench bench;
  Notes told{"begun"};
  SECTION("that it begins") {
    bench.leave_at("begun");
    bench.begin_run();
    CHECK(bench.model.runs.empty());
  }
  SECTION("that a token has come") {
    told.insert(told.end(), {"token of handle-1", "progress 1 of 0"});
    bench.leave_at("progress 1 of 0");
    bench.begin_run();
    bench.token("a");
    CHECK(bench.model.notes.back() == "abort");
    bench.token("b");
    CHECK(bench.lender.leases == 1);
    bench.end(report_of(RunEnd::kAborted, 2));
  }
  SECTION("what came") {
    told.insert(told.end(), {"token of handle-1", "progress 1 of 0", "event a"});
    bench.leave_at("event a");
    bench.begin_run();
    bench.token("a");
    bench.token("b");
    bench.end(report_of(RunEnd::kFinished, 2));
  }
  SECTION("that an answer has ended") {
    told.insert(told.end(), {"token of handle-1", "progress 1 of 0", "event a", "progress 2 of 0",
                             "answered qwen3-0.6b", "ended 0"});
    bench.leave_at("ended 0");
    bench.begin_run();
    bench.answer("a");
  }
  told.emplace_back("gone");
  CHECK(bench.heard == told);
  CHECK(bench.model.runs.size() <= 1);  // no warm-up
  CHECK(bench.lender.leases == 0);
  CHECK_FALSE(bench.maker);
}

TEST_CASE("a listener that goes in the last that it hears neither ends the warm-up nor is told of its own going") {
  MakerBench bench;
  SECTION("the end") {
    bench.leave_at("finished");
    bench.begin_run();
    bench.answer("a");
    REQUIRE(bench.model.runs.size() == 2);
    CHECK(bench.model.notes.back() == "run");
    CHECK(bench.heard.back() == "finished");
    bench.end(report_of(RunEnd::kFinished, 1));
  }
  SECTION("the failure") {
    bench.leave_at("failed");
    bench.begin_run();
    bench.end(report_of(RunEnd::kFailed, 0));
  }
  CHECK(bench.heard.back() == "gone");
  CHECK(std::ranges::count(bench.heard, "gone") == 1);
  CHECK_FALSE(bench.maker);
}

TEST_CASE("a turn holds a model for nobody behind its answer and when its listener has gone, and not before") {
  MakerBench bench;
  bench.begin();
  CHECK_FALSE(bench.maker->holds_for_nobody("qwen3-0.6b"));
  bench.lender.grant();
  bench.model.cleared("");
  CHECK_FALSE(bench.maker->holds_for_nobody("qwen3-0.6b"));
  SECTION("answered") {
    bench.answer("a");
    REQUIRE(bench.sum);
  }
  SECTION("gone") { bench.maker->listener_gone(); }
  REQUIRE(bench.maker);
  CHECK(bench.maker->holds_for_nobody("qwen3-0.6b"));
  CHECK_FALSE(bench.maker->holds_for_nobody("another"));
}

TEST_CASE("a turn that was held before its run, or between two, begins each held, and the warm-up is held by nobody") {
  Turn turn = turn_to_make();
  turn.answers = 2;
  MakerBench bench(turn);
  bench.begin();
  bench.maker->hold();
  bench.lender.grant();
  bench.model.cleared("");
  CHECK(bench.model.notes == Notes{"template", "run", "hold"});
  bench.maker->go_on();
  CHECK(bench.model.notes.back() == "go on");
  bench.token("a");
  bench.maker->hold();
  bench.token("");
  bench.end(report_of(RunEnd::kFinished, 2));
  CHECK(bench.model.notes == Notes{"template", "run", "hold", "go on", "hold", "run", "hold"});
  bench.answer("b");
  REQUIRE(bench.sum);
  CHECK(bench.model.notes.back() == "run");
  bench.maker->go_on();
  bench.maker->hold();
  CHECK(bench.model.notes.back() == "run");
}
