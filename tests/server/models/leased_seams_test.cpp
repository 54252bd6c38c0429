// What a chat turn asks of a leased model, as calls of the runtime, and what these come to as the host hears it. The
// calls themselves: leased_calls_test.cpp; embeddings: leased_embedding_test.cpp.
#include "models/leased_seams.hpp"

#include "seam_bench.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// A model leased for a turn, and what is told of its runs.
struct TurnSeamBench : SeamBench {
  explicit TurnSeamBench(std::span<const Method> methods = kNewApi) : SeamBench(methods) {
    load();
    take_lease();
    model =
        std::make_unique<LeasedTurnModel>(waiting.loop(), runtime, usual_limits<TokenStream::Options>(), lease, loaded);
  }

  void begin(const chat::RunOptions& options = {}) {
    report.reset();
    text.clear();
    model->run(
        "Hi", options, [this](std::string_view token) { text += token; },
        [this](const chat::RunReport& told) {
          ++reports;
          report = told;
          if (when_told) when_told();
        });
    CHECK_FALSE(report);  // nothing comes from inside
  }
  chat::RunReport run(const chat::RunOptions& options = {}) {
    begin(options);
    REQUIRE(waiting.until([this] { return report.has_value(); }));
    return *report;
  }
  chat::RunReport run_that_ends_so(const RpcError& error) {
    will("rkllm_run", seam_error(error));
    return run();
  }

  std::unique_ptr<LeasedTurnModel> model;
  std::string text;
  std::optional<chat::RunReport> report;
  int reports = 0;
  std::function<void()> when_told;
};

CallOutcome run_of_tokens(const CallRequest& request, const std::vector<std::string>& tokens, Json perf = nullptr) {
  for (const std::string& token : tokens) request.observer->on_token(0, token, 1);
  CallOutcome outcome;
  outcome.state = "RKLLM_RUN_FINISH";
  outcome.values = Json{{"perf", std::move(perf)}};
  return outcome;
}

CallOutcome sizes_of_cache(Json sizes) {
  CallOutcome outcome;
  outcome.result = Json{{"cache_sizes", std::move(sizes)}};
  return outcome;
}

}  // namespace

TEST_CASE("the facts of a loaded model are those of its name, of what it was loaded with, and of its runtime") {
  SeamBench bench;
  bench.file_identity = "inode 5 at 7";
  bench.load();
  bench.loaded.model.template_name = "qwen3";
  bench.loaded.param = Json{{"max_context_len", 1000},
                            {"top_k", 7},
                            {"top_p", 0.5},
                            {"temperature", "hot"},
                            {"mirostat", 2},
                            {"mirostat_eta", 3},
                            {"extend_param", {{"n_batch", 4}}}};
  const chat::ModelFacts facts = turn_facts(bench.loaded, bench.runtime);
  CHECK(facts.name == "a");
  CHECK(facts.handle == bench.loaded.handle);
  CHECK(facts.file_name == "qwen3.rkllm");
  CHECK(facts.template_name == "qwen3");
  CHECK(facts.runtime_version == "1.3.0");
  CHECK(facts.max_context_len == 1000);
  CHECK(facts.n_batch == 4);
  chat::Sampling sampling;  // what the parameters do not say, or not as a number, is the runtime's
  sampling.top_k = 7;
  sampling.top_p = 0.5;
  sampling.mirostat = 2;
  sampling.mirostat_eta = 3;
  CHECK(facts.preset == sampling);
  CHECK(facts.has_run_options);
  CHECK(facts.has_kv_size);
  CHECK(facts.cache_identity == "1.3.0\ninode 5 at 7\n" + to_text(bench.loaded.param));

  bench.loaded.model.pooling = chat::Pooling::kMean;
  bench.loaded.model.suffix = "</s>";
  const chat::EmbeddingFacts embedding = embedding_facts(bench.loaded);
  CHECK(embedding.max_context_len == 1000);
  CHECK(embedding.pooling == chat::Pooling::kMean);
  CHECK(embedding.suffix == "</s>");
  CHECK(embedding.n_batch == 4);
}

TEST_CASE("what a loaded model does not say is the runtime's default, and without a certain file there are no caches") {
  SeamBench bench(kOldApi);
  bench.load();
  bench.loaded.param = Json::object();
  const chat::ModelFacts facts = turn_facts(bench.loaded, bench.runtime);
  CHECK(facts.max_context_len == 512);
  CHECK(facts.n_batch == 1);
  CHECK(facts.preset == chat::Sampling{});
  CHECK(facts.cache_identity.empty());
  CHECK_FALSE(facts.has_run_options);  // it knows a limit, but no sampling
  CHECK_FALSE(facts.has_kv_size);
  bench.loaded.handle = "one that has gone";
  CHECK(turn_facts(bench.loaded, bench.runtime).cache_identity.empty());
}

TEST_CASE("special tokens are shown where they are not skipped, and nowhere else") {
  SeamBench bench;
  const auto shows = [&bench](Json param) {
    bench.loaded.param = std::move(param);
    return turn_facts(bench.loaded, bench.runtime).shows_special_tokens;
  };
  CHECK(shows(Json{{"skip_special_token", false}}));
  CHECK_FALSE(shows(Json{{"skip_special_token", true}}));
  CHECK_FALSE(shows(Json::object()));
}

TEST_CASE("a turn's run has all that this runtime knows of, and nothing that it does not") {
  chat::RunOptions options;
  options.max_new_tokens = 9;
  options.enable_thinking = false;
  options.sampling.top_k = 3;
  options.save_cache_to = "/caches/1";
  Json params;
  {
    TurnSeamBench bench;
    bench.run(options);
    REQUIRE(bench.names() == SeamNames{"rkllm_run", "rkllm_get_kv_cache_size"});
    params = bench.calls()[0].params;
  }
  CHECK(params["rkllm_input"] ==
        Json{{"input_type", "RKLLM_INPUT_PROMPT"}, {"prompt_input", "Hi"}, {"enable_thinking", false}});
  const Json& infer = params["rkllm_infer_params"];
  CHECK(infer["mode"] == "RKLLM_INFER_GENERATE");
  CHECK(infer["keep_history"] == 0);
  CHECK(infer["max_new_tokens"] == 9);
  CHECK(infer["sampling_params"].size() == 9);
  CHECK(infer["sampling_params"]["top_k"] == 3);
  CHECK(infer["prompt_cache_params"] == Json{{"save_prompt_cache", 1}, {"prompt_cache_path", "/caches/1"}});

  options.save_cache_to.clear();
  TurnSeamBench old(kOldApi);
  old.run(options);
  REQUIRE(old.names() == SeamNames{"rkllm_run"});
  params = old.calls()[0].params;
  CHECK(params["rkllm_input"] == Json{{"input_type", "RKLLM_INPUT_PROMPT"}, {"prompt_input", "Hi"}});
  CHECK(params["rkllm_infer_params"] == Json{{"mode", "RKLLM_INFER_GENERATE"}});
}

TEST_CASE("a turn's run is told with its tokens, its figures, and the size of the cache behind it") {
  TurnSeamBench bench;
  bench.will("rkllm_run", [](const CallRequest& request) {
    return run_of_tokens(request, {"a", "", "b"},
                         Json{{"prefill_tokens", 5}, {"prefill_time_ms", 1.5}, {"generate_time_ms", 2}});
  });
  bench.will("rkllm_get_kv_cache_size", sizes_of_cache(Json::array({17, 3})));
  const auto report = bench.run();
  CHECK(bench.text == "ab");
  CHECK(report.end == chat::RunEnd::kFinished);
  CHECK(report.complaint.empty());
  CHECK(report.cache_saved);
  CHECK(report.tokens == 3);
  CHECK(report.prefill_tokens == 5);
  CHECK(report.prefill_ms == 1.5);
  CHECK(report.generate_ms == 2.0);
  CHECK(report.kv_size == 17);
}

TEST_CASE("figures that the runtime does not tell, or not as such, are not there, and the run went well all the same") {
  TurnSeamBench bench;
  const Json perf = GENERATE(Json(nullptr), Json("fast"),
                             Json{{"prefill_tokens", 1.5}, {"prefill_time_ms", "1"}, {"generate_time_ms", nullptr}});
  const Json sizes = GENERATE(Json::array(), Json(3), Json::array({"3"}), Json(nullptr));
  bench.will("rkllm_run", [perf](const CallRequest& request) { return run_of_tokens(request, {"a"}, perf); });
  bench.will("rkllm_get_kv_cache_size", sizes_of_cache(sizes));
  const auto report = bench.run();
  CHECK(report.end == chat::RunEnd::kFinished);
  CHECK(report.tokens == 1);
  CHECK_FALSE(report.prefill_tokens);
  CHECK_FALSE(report.prefill_ms);
  CHECK_FALSE(report.generate_ms);
  CHECK_FALSE(report.kv_size);

  bench.will("rkllm_get_kv_cache_size", seam_error(CallFailed("rkllm_get_kv_cache_size", -1)));
  CHECK(bench.run().end == chat::RunEnd::kFinished);
  CHECK_FALSE(bench.report->kv_size);
}

TEST_CASE("how a turn's run has failed is told, and nothing is asked behind it") {
  TurnSeamBench bench;
  auto report = bench.run_that_ends_so(CallFailed("rkllm_run", -1));
  CHECK(report.end == chat::RunEnd::kFailed);
  CHECK(report.complaint == "rkllm_run returned -1");
  CHECK_FALSE(report.lost);
  CHECK_FALSE(report.broke_off);
  report = bench.run_that_ends_so(RpcError(ErrorCode::kCallFailed, "broke off", Json{{"state", "RKLLM_RUN_ERROR"}}));
  CHECK(report.end == chat::RunEnd::kFailed);
  CHECK(report.broke_off);
  for (const ErrorCode code : {ErrorCode::kRuntimeUnavailable, ErrorCode::kUnknownHandle}) {
    report = bench.run_that_ends_so(RpcError(code, "the worker died"));
    CHECK(report.end == chat::RunEnd::kFailed);
    CHECK(report.lost);
  }
  report = bench.run_that_ends_so(RpcError(ErrorCode::kCancelled, "cancelled"));
  CHECK(report.end == chat::RunEnd::kAborted);
  report = bench.run_that_ends_so(InvalidParams("params", "wrong"));
  CHECK(report.end == chat::RunEnd::kFailed);  // no cache was to be saved: it is not run again
  CHECK(bench.names() == SeamNames(6, "rkllm_run"));
}

TEST_CASE("a run that somebody has aborted is told so, with its size") {
  TurnSeamBench bench;
  CallOutcome outcome;
  outcome.aborted = true;
  bench.will("rkllm_run", std::move(outcome));
  bench.will("rkllm_get_kv_cache_size", sizes_of_cache(Json::array({4})));
  const auto report = bench.run();
  CHECK(report.end == chat::RunEnd::kAborted);
  CHECK(report.kv_size == 4);
}

TEST_CASE("a run whose cache alone was not saved went well, and says that it was not") {
  TurnSeamBench bench;
  auto outcome = seam_error(RpcError(ErrorCode::kCallFailed, "not saved", Json{{"prompt_cache", "/caches/1"}}));
  outcome.values = Json{{"perf", {{"prefill_tokens", 5}}}};
  bench.will("rkllm_run", std::move(outcome));
  bench.will("rkllm_get_kv_cache_size", sizes_of_cache(Json::array({4})));
  chat::RunOptions options;
  options.save_cache_to = "/caches/1";
  const auto report = bench.run(options);
  CHECK(report.end == chat::RunEnd::kFinished);
  CHECK_FALSE(report.cache_saved);
  CHECK(report.complaint.empty());
  CHECK(report.prefill_tokens == 5);
  CHECK(report.kv_size == 4);
}

TEST_CASE("a run that is refused for its cache is made without it, but not one that was aborted meanwhile") {
  TurnSeamBench bench;
  chat::RunOptions options;
  options.save_cache_to = "/caches/1";
  SECTION("made") {
    bench.will("rkllm_run", seam_error(InvalidParams("params.prompt_cache_path", "no room")));
    bench.will("rkllm_run", [](const CallRequest& request) { return run_of_tokens(request, {"a", "b"}); });
    const auto report = bench.run(options);
    CHECK(report.end == chat::RunEnd::kFinished);
    CHECK_FALSE(report.cache_saved);
    CHECK(report.tokens == 2);
    CHECK(bench.text == "ab");
    REQUIRE(bench.names() == SeamNames{"rkllm_run", "rkllm_run", "rkllm_get_kv_cache_size"});
    Json first = bench.calls()[0].params;
    CHECK(first["rkllm_infer_params"].erase("prompt_cache_params") == 1);
    CHECK(bench.calls()[1].params == first);
  }
  SECTION("failed again") {
    for (int i = 0; i < 2; ++i) bench.will("rkllm_run", seam_error(InvalidParams("params", "wrong")));
    const auto report = bench.run(options);
    CHECK(report.end == chat::RunEnd::kFailed);
    CHECK_FALSE(report.cache_saved);
    CHECK(bench.reports == 1);
  }
  SECTION("aborted") {
    std::promise<void> aborted;
    bench.will("rkllm_run", [&aborted](const CallRequest&) {
      aborted.get_future().wait();
      return seam_error(InvalidParams("params.prompt_cache_path", "no room"));
    });
    bench.begin(options);
    REQUIRE(bench.waiting.until([&] { return !bench.calls().empty(); }));
    bench.model->abort();
    aborted.set_value();
    REQUIRE(bench.waiting.until([&] { return bench.report.has_value(); }));
    CHECK(bench.report->end == chat::RunEnd::kFailed);
    CHECK(bench.names() == SeamNames{"rkllm_run"});
    // The abort was that run's.
    bench.will("rkllm_run", seam_error(InvalidParams("params.prompt_cache_path", "no room")));
    CHECK(bench.run(options).end == chat::RunEnd::kFinished);
  }
  SECTION("refused for something else") {
    bench.will("rkllm_run", seam_error(CallFailed("rkllm_run", -1)));
    CHECK(bench.run(options).end == chat::RunEnd::kFailed);
    CHECK(bench.names() == SeamNames{"rkllm_run"});
  }
}

TEST_CASE("nothing is told of a run after the end of the model that is leased, whichever call it is at") {
  TurnSeamBench bench;
  std::promise<void> gone;
  const auto wait = [&gone](const CallRequest&) {
    gone.get_future().wait();
    return CallOutcome{};
  };
  std::string at;
  SECTION("the run") { at = "rkllm_run"; }
  SECTION("the size") { at = "rkllm_get_kv_cache_size"; }
  bench.will(at, wait);
  bench.begin();
  REQUIRE(bench.waiting.until([&] { return !bench.calls().empty() && bench.names().back() == at; }));
  bench.model.reset();
  gone.set_value();
  bench.queue->end_lease(bench.lease);
  REQUIRE(bench.waiting.until([&] { return !bench.queue->use_of(bench.loaded.handle)->in_use; }));
  bench.waiting.settle();
  CHECK(bench.reports == 0);
}

TEST_CASE("a leased model may be let go of in what it tells of its run, also where that was made without its cache") {
  TurnSeamBench bench;
  bench.when_told = [&bench] { bench.model.reset(); };
  chat::RunOptions options;
  SECTION("well") {}
  SECTION("failed") { bench.will("rkllm_run", seam_error(CallFailed("rkllm_run", -1))); }
  SECTION("without its cache") {
    options.save_cache_to = "/caches/1";
    bench.will("rkllm_run", seam_error(InvalidParams("params.prompt_cache_path", "no room")));
  }
  bench.run(options);
  CHECK(bench.reports == 1);
  CHECK_FALSE(bench.model);
}

TEST_CASE("switching a template off and loading a cache say what has come of it, later and once") {
  TurnSeamBench bench;
  std::vector<std::string> complaints;
  std::vector<bool> loads;
  const auto clear = [&] {
    const std::size_t before = complaints.size();
    bench.model->clear_template([&](const std::string& complaint) { complaints.push_back(complaint); });
    CHECK(complaints.size() == before);
    REQUIRE(bench.waiting.until([&] { return complaints.size() > before; }));
  };
  const auto load = [&] {
    const std::size_t before = loads.size();
    bench.model->load_cache("/caches/1", [&](bool loaded) { loads.push_back(loaded); });
    CHECK(loads.size() == before);
    REQUIRE(bench.waiting.until([&] { return loads.size() > before; }));
  };
  clear();
  bench.will("rkllm_set_chat_template", seam_error(CallFailed("rkllm_set_chat_template", -1)));
  clear();
  load();
  bench.will("rkllm_load_prompt_cache", seam_error(CallFailed("rkllm_load_prompt_cache", -1)));
  load();
  bench.waiting.settle();
  CHECK(complaints == SeamNames{"", "rkllm_set_chat_template returned -1"});
  CHECK(loads == std::vector<bool>{true, false});
  const auto calls = bench.calls();
  CHECK(calls[0].params["system_prompt"] == "");
  CHECK(calls[0].params["prompt_prefix"] == "");
  CHECK(calls[0].params["prompt_postfix"] == "");
  CHECK(calls[2].params["prompt_cache_path"] == "/caches/1");
}

TEST_CASE("what others have changed of a leased model is counted, and all has changed where it is gone") {
  TurnSeamBench bench;
  const std::uint64_t before = bench.model->foreign_changes();
  bench.run();
  CHECK(bench.model->foreign_changes() == before);
  bench.queue->end_lease(bench.lease);
  bench.call_outside("rkllm_clear_kv_cache", Json{{"handle", bench.loaded.handle}});
  CHECK(bench.model->foreign_changes() == before + 1);
  bench.script.lost(RpcError(ErrorCode::kRuntimeUnavailable, "the worker died"));
  REQUIRE(bench.waiting.until([&] { return !bench.queue->use_of(bench.loaded.handle); }));
  CHECK(bench.model->foreign_changes() == ~std::uint64_t{0});
}

}  // namespace rkllm_mcp::test
