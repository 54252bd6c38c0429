// What the chat host asks of a leased model, as calls of the runtime, and what these come to as the host hears it. The
// calls themselves are in leased_calls_test.cpp.
#include "models/leased_seams.hpp"

#include "backend/queued_backend.hpp"
#include "jsonrpc/envelope.hpp"
#include "server/backend/queue_limits.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"
#include "support/waiting_loop.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/method.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr std::array<std::string_view, 1> kSeamInit{"param"};
constexpr std::array<std::string_view, 1> kSeamHandle{"handle"};

constexpr Method seam_method(std::string_view name, std::string_view input_schema = {}) {
  Method method;
  method.name = name;
  method.handle = HandleRole::kUses;
  method.handle_param = "handle";
  method.params = kSeamHandle;
  method.streams = name == "rkllm_run";
  method.input_schema = input_schema;
  return method;
}
constexpr Method seam_init() {
  Method method;
  method.name = "rkllm_init";
  method.handle = HandleRole::kCreates;
  method.params = kSeamInit;
  return method;
}
constexpr Method seam_destroy() {
  Method method = seam_method("rkllm_destroy");
  method.handle = HandleRole::kDestroys;
  return method;
}

constexpr std::string_view kNewRun =
    R"({"keep_history":{},"enable_thinking":{},"sampling_params":{},"max_new_tokens":{}})";
constexpr std::array<Method, 7> kNewApi{seam_init(),
                                        seam_destroy(),
                                        seam_method("rkllm_run", kNewRun),
                                        seam_method("rkllm_set_chat_template"),
                                        seam_method("rkllm_clear_kv_cache"),
                                        seam_method("rkllm_load_prompt_cache"),
                                        seam_method("rkllm_get_kv_cache_size")};
// Of a runtime that has no limit of a run, and tells no sizes.
constexpr std::array<Method, 4> kOldApi{seam_init(), seam_destroy(),
                                        seam_method("rkllm_run", R"({"max_new_tokens":{}})"),
                                        seam_method("rkllm_load_prompt_cache")};

CallOutcome seam_error(const RpcError& error) {
  CallOutcome outcome;
  outcome.error = std::make_exception_ptr(error);
  return outcome;
}

// An engine whose models do what the test has written, for each call of a name the first that has not been made.
class SeamEngine final : public Engine {
 public:
  struct Call {
    std::string name;
    Json params;
  };
  // On the queue's thread.
  using Act = std::function<CallOutcome(const CallRequest&)>;
  struct Script {
    std::mutex mutex;  // guards what follows
    std::map<std::string, std::vector<Act>, std::less<>> acts;
    std::vector<Call> calls;
    LostFunction lost;
    std::function<void()> when_stopped = [] {};
  };

  explicit SeamEngine(Script& script) : script_(script) {}
  std::unique_ptr<Model> new_model(const std::string& id, LostFunction lost) override {
    const std::lock_guard lock(script_.mutex);
    script_.lost = std::move(lost);
    return std::make_unique<SeamModel>(script_, id);
  }
  CallOutcome call(const CallRequest&) override { return {}; }
  bool kill() override { return false; }

 private:
  class SeamModel final : public Model {
   public:
    SeamModel(Script& script, std::string id) : script_(script), id_(std::move(id)) {}
    void begin_run(CallObserver& /*observer*/) override {}
    CallOutcome call(const CallRequest& request) override {
      CallOutcome outcome;
      if (request.method->handle == HandleRole::kDestroys) {
        is_loaded_ = false;
        return outcome;
      }
      if (request.method->handle == HandleRole::kCreates) {
        is_loaded_ = true;
        outcome.result = Json{{"handle", id_}};
        return outcome;
      }
      Act act;
      {
        const std::lock_guard lock(script_.mutex);
        script_.calls.push_back({std::string(request.method->name), request.params});
        auto& acts = script_.acts[std::string(request.method->name)];
        if (!acts.empty()) {
          act = std::move(acts.front());
          acts.erase(acts.begin());
        }
      }
      outcome.result = Json::object();
      if (act) return act(request);
      return outcome;
    }
    CallOutcome call_beside(const CallRequest&) override { return {}; }
    void stop_run() override {
      const std::lock_guard lock(script_.mutex);
      script_.when_stopped();
    }
    bool loaded() const override { return is_loaded_; }
    Values values() const override { return {}; }

   private:
    Script& script_;
    const std::string id_;
    std::atomic<bool> is_loaded_{false};
  };

  Script& script_;
};

class SeamWatch final : public CallObserver {
 public:
  void on_begun(std::optional<std::uint64_t>) noexcept override { is_there = true; }
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override { is_there = true; }

  std::atomic<bool> is_there{false};  // the lease, or the outcome
};

// A handle of a runtime with those methods, and a lease of it.
class SeamBench {
 public:
  explicit SeamBench(std::span<const Method> methods = kNewApi) {
    queue = std::make_shared<QueuedBackend>(std::make_unique<SeamEngine>(script), methods,
                                            usual_limits<QueuedBackend::Limits>());
    queue->identify_files_by([this](const std::string&) { return file_identity; });
    runtime.owner = queue;
    runtime.queue = queue.get();
    runtime.methods = methods;
    runtime.version = "1.3.0";
    runtime.watched = [](CallRequest request) { return request; };
    loaded.model.name = "a";
    loaded.model.path = "/models/sub/qwen3.rkllm";
    loaded.param = Json{{"max_context_len", 4096}};
  }
  SeamBench(const SeamBench&) = delete;
  SeamBench& operator=(const SeamBench&) = delete;
  ~SeamBench() {
    queue->end_lease(lease);
    queue->shut_down(Clock::now() + std::chrono::seconds(30));
  }

  void load() {
    call_outside("rkllm_init", Json{{"param", {{"model_path", loaded.model.path}}}});
    loaded.handle = queue->handles().at(0).id;
  }
  void take_lease() {
    const auto watch = std::make_shared<SeamWatch>();
    lease = queue->lease(loaded.handle, {.params = Json::object(), .observer = watch});
    REQUIRE(waiting.until([&] { return watch->is_there.load(); }));
  }
  // Of somebody who has no lease.
  void call_outside(std::string_view name, Json params) {
    const auto watch = std::make_shared<SeamWatch>();
    queue->start({.method = runtime.method(name), .params = std::move(params), .observer = watch});
    REQUIRE(waiting.until([&] { return watch->is_there.load(); }));
  }
  void will(const std::string& name, SeamEngine::Act act) {
    const std::lock_guard lock(script.mutex);
    script.acts[name].push_back(std::move(act));
  }
  void will(const std::string& name, CallOutcome outcome) {
    const auto kept = std::make_shared<CallOutcome>(std::move(outcome));
    will(name, [kept](const CallRequest&) { return std::move(*kept); });
  }
  std::vector<SeamEngine::Call> calls() {
    const std::lock_guard lock(script.mutex);
    return script.calls;
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& call : calls()) all.push_back(call.name);
    return all;
  }

  SeamEngine::Script script;
  std::string file_identity;
  WaitingLoop waiting;
  std::shared_ptr<QueuedBackend> queue;
  ModelRuntime runtime;
  LoadedFacts loaded;
  Backend::CallId lease = 0;
};

using SeamNames = std::vector<std::string>;

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

// A model leased for embeddings, and what comes of its texts.
struct RowsBench : SeamBench {
  explicit RowsBench(std::span<const Method> methods = kNewApi) : SeamBench(methods) {
    load();
    take_lease();
    model = std::make_unique<LeasedEmbeddingModel>(waiting.loop(), runtime, usual_limits<TokenStream::Options>(), lease,
                                                   loaded);
  }

  void begin() {
    rows.reset();
    model->hidden_rows("Hi", [this](chat::HiddenRows told) { rows = std::move(told); });
    CHECK_FALSE(rows);
  }
  chat::HiddenRows ask() {
    begin();
    REQUIRE(waiting.until([this] { return rows.has_value(); }));
    return *rows;
  }
  chat::HiddenRows ask_of_run(CallOutcome outcome) {
    will("rkllm_run", std::move(outcome));
    return ask();
  }

  std::unique_ptr<LeasedEmbeddingModel> model;
  std::optional<chat::HiddenRows> rows;
};

void give_rows(const CallRequest& request, std::string_view field, const std::vector<float>& values, std::size_t rows) {
  request.observer->on_rows(
      {field, "values", "num_tokens", "embd_size", values.data(), rows, rows == 0 ? 0 : values.size() / rows});
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
  CHECK(embedding.name == "a");
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

TEST_CASE("the template is switched off for embeddings once in each lease, and the cache is cleared for every text") {
  RowsBench bench;
  bench.will("rkllm_set_chat_template", seam_error(CallFailed("rkllm_set_chat_template", -1)));
  CHECK(bench.ask().complaint == "rkllm_set_chat_template returned -1");  // and is tried again
  bench.ask();
  bench.ask();
  CHECK(bench.names() == SeamNames{"rkllm_set_chat_template", "rkllm_set_chat_template", "rkllm_clear_kv_cache",
                                   "rkllm_run", "rkllm_clear_kv_cache", "rkllm_run"});
  const auto calls = bench.calls();
  CHECK(calls[2].params["keep_system_prompt"] == 0);
  CHECK(calls[3].params["rkllm_input"] == Json{{"input_type", "RKLLM_INPUT_PROMPT"}, {"prompt_input", "Hi"}});
  CHECK(calls[3].params["rkllm_infer_params"] ==
        Json{{"mode", "RKLLM_INFER_GET_LAST_HIDDEN_LAYER"}, {"keep_history", 0}});
}

TEST_CASE("rows are those of the last hidden layer, whatever else comes with them") {
  RowsBench bench;
  bench.will("rkllm_run", [](const CallRequest& request) {
    give_rows(request, "logits", {9, 9}, 1);
    give_rows(request, "last_hidden_layer", {1, 2, 3, 4, 5, 6}, 2);
    return CallOutcome{};
  });
  auto rows = bench.ask();
  CHECK(rows.complaint.empty());
  CHECK(rows.values == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(rows.rows == 2);
  CHECK(rows.columns == 3);

  bench.will("rkllm_run", [](const CallRequest& request) {
    give_rows(request, "logits", {9, 9}, 1);
    return CallOutcome{};
  });
  rows = bench.ask();
  CHECK(rows.complaint.empty());
  CHECK(rows.rows == 0);
  CHECK(rows.values.empty());
}

TEST_CASE("why there are no rows is told: not possible with this runtime, refused, broken off or aborted") {
  {
    RowsBench old(kOldApi);
    const auto rows = old.ask();
    CHECK(rows.is_unsupported);
    CHECK_FALSE(rows.is_refused);
    CHECK_THAT(rows.complaint, has_text("rkllm_set_chat_template does not exist in runtime 1.3.0"));
  }
  RowsBench bench;
  bench.will("rkllm_clear_kv_cache", seam_error(CallFailed("rkllm_clear_kv_cache", -1)));
  auto rows = bench.ask();
  CHECK(rows.complaint == "rkllm_clear_kv_cache returned -1");
  CHECK_FALSE(rows.is_refused);  // that is no text's fault
  CHECK_FALSE(rows.is_unsupported);
  CHECK(bench.names().back() == "rkllm_clear_kv_cache");

  rows = bench.ask_of_run(seam_error(CallFailed("rkllm_run", -1)));
  CHECK(rows.is_refused);
  CHECK(rows.complaint == "rkllm_run returned -1");
  rows =
      bench.ask_of_run(seam_error(RpcError(ErrorCode::kCallFailed, "broke off", Json{{"state", "RKLLM_RUN_ERROR"}})));
  CHECK_FALSE(rows.is_refused);
  CHECK(rows.complaint == "broke off");
  rows = bench.ask_of_run(seam_error(RpcError(ErrorCode::kRuntimeUnavailable, "the worker died")));
  CHECK_FALSE(rows.is_refused);
  CallOutcome aborted;
  aborted.aborted = true;
  rows = bench.ask_of_run(std::move(aborted));
  CHECK(rows.complaint == "the run was aborted");
}

TEST_CASE("the run for a text's rows ends when it is aborted, and is told") {
  RowsBench bench;
  std::promise<void> stopped;
  bench.script.when_stopped = [&stopped] { stopped.set_value(); };
  bench.will("rkllm_run", [&stopped](const CallRequest&) {
    stopped.get_future().wait();
    CallOutcome outcome;
    outcome.aborted = true;
    return outcome;
  });
  bench.begin();
  REQUIRE(bench.waiting.until([&] { return !bench.calls().empty() && bench.names().back() == "rkllm_run"; }));
  bench.model->abort();
  REQUIRE(bench.waiting.until([&] { return bench.rows.has_value(); }));
  CHECK(bench.rows->complaint == "the run was aborted");
}

}  // namespace rkllm_mcp::test
