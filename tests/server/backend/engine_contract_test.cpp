// What backend/engine.hpp promises (Engine, Model), held against every engine and its models, on the simulator:
// LibraryEngine and LibraryModel, WorkerEngine and WorkerModel, and in front of either GuardedEngine and GuardedModel.
#include "backend/engine.hpp"

#include "backend/guarded_engine.hpp"
#include "jsonrpc/envelope.hpp"
#include "library/library_engine.hpp"
#include "server/backend/simulated_engines.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "worker/worker_engine.hpp"

#include <rkllm_mcp/errors.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr std::chrono::seconds kEnginePatience{60};
constexpr std::int32_t kEndOfSequence = 2;
constexpr std::size_t kNever = std::numeric_limits<std::size_t>::max();

// What a listener does to its run.
struct Taking {
  std::size_t room = kNever;         // tokens that it takes
  std::size_t stops_after = kNever;  // tokens, after which it wants the run to stop
};

// Hears a run, and has no room for more than it is told to take, until the run is stopped.
class RunListener final : public CallObserver {
 public:
  explicit RunListener(const Taking& taking = {}) : taking_(taking) {}

  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t id) noexcept override {
    std::unique_lock lock(mutex_);
    if (has_room()) return take(id);
    waits_for_room_ = true;
    news_.notify_all();
    news_.wait_for(lock, kEnginePatience, [this] { return has_room(); });
    take(id);
  }
  bool offer_token(std::size_t, std::optional<std::string_view>, std::int32_t id,
                   const std::function<void()>& on_room) noexcept override {
    const std::lock_guard lock(mutex_);
    if (has_room()) {
      take(id);
      return true;
    }
    waits_for_room_ = true;
    on_room_ = on_room;
    news_.notify_all();
    return false;
  }
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override { was_told_of_end_ = true; }
  void stop() noexcept override {
    std::function<void()> on_room;
    {
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
      on_room = std::exchange(on_room_, nullptr);
      news_.notify_all();
    }
    if (on_room) on_room();
  }
  bool wants_to_stop() const noexcept override { return tokens().size() >= taking_.stops_after; }

  // Its call has returned: what it has heard.
  std::vector<std::int32_t> close() {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    return tokens_;
  }
  std::vector<std::int32_t> tokens() const {
    const std::lock_guard lock(mutex_);
    return tokens_;
  }
  bool has_token() {
    return wait([this] { return !tokens_.empty(); });
  }
  bool is_full() {
    return wait([this] { return waits_for_room_; });
  }
  bool is_stopped() const {
    const std::lock_guard lock(mutex_);
    return is_stopped_;
  }
  bool was_told_late() const {
    const std::lock_guard lock(mutex_);
    return was_told_late_;
  }
  bool was_told_of_end() const { return was_told_of_end_; }

 private:
  bool has_room() const { return is_stopped_ || tokens_.size() < taking_.room; }
  void take(std::int32_t id) {
    tokens_.push_back(id);
    was_told_late_ = was_told_late_ || is_closed_;
    news_.notify_all();
  }
  template <class Condition>
  bool wait(const Condition& condition) {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, kEnginePatience, condition);
  }

  const Taking taking_;
  std::atomic<bool> was_told_of_end_{false};
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::vector<std::int32_t> tokens_;
  std::function<void()> on_room_;
  bool waits_for_room_ = false;
  bool is_stopped_ = false;
  bool is_closed_ = false;
  bool was_told_late_ = false;
};

// Each kind of engine.

struct InThisProcess {
  static constexpr bool kHasWorkers = false;
  static std::unique_ptr<Engine> make() { return std::make_unique<LibraryEngine>(simulator()); }
};
struct InWorkers {
  static constexpr bool kHasWorkers = true;
  static std::unique_ptr<Engine> make() { return std::make_unique<WorkerEngine>(worker_options()); }
};
struct InOneWorker {
  static constexpr bool kHasWorkers = true;
  static std::unique_ptr<Engine> make() {
    WorkerEngine::Options options = worker_options();
    options.one_for_all = true;
    return std::make_unique<WorkerEngine>(std::move(options));
  }
};
template <class Kind>
struct Guarded : Kind {
  static std::unique_ptr<Engine> make() { return std::make_unique<GuardedEngine>(Kind::make()); }
};

CallRequest request_of(std::string_view name, Json params) {
  const Method* const method = find_method(simulator().abi().methods, name);
  if (method == nullptr) throw std::logic_error("no such method");
  return {.method = method, .params = std::move(params)};
}

CallRequest request_of_run(const std::string& prompt) {
  return request_of("rkllm_run", Json{{"rkllm_input", {{"prompt_input", prompt}}}});
}

std::string error_in(const CallOutcome& outcome) { return outcome.error ? as_rpc_error(outcome.error).what() : ""; }

ErrorCode code_of(const CallOutcome& outcome) {
  REQUIRE(outcome.error);
  CHECK(outcome.result.is_null());
  return as_rpc_error(outcome.error).code();
}

// A model of an engine, and how often it was told to be lost.
class OneModel {
 public:
  explicit OneModel(Engine& engine, const std::string& id = "llm-1")
      : model_(engine.new_model(id, [this](const RpcError&) { ++losses_; })) {}

  CallOutcome load(const std::string& path = RKLLM_FAST_MODEL) {
    return call("rkllm_init", Json{{"param", {{"model_path", path}}}});
  }
  CallOutcome call(std::string_view name, Json params = Json::object()) {
    return model_->call(request_of(name, std::move(params)));
  }
  CallOutcome beside(std::string_view name, Json params = Json::object()) {
    return model_->call_beside(request_of(name, std::move(params)));
  }
  CallOutcome run(RunListener& listener, const CallRequest& request) {
    model_->begin_run(listener);
    CallOutcome outcome = model_->call(request);
    listener.close();
    return outcome;
  }
  CallOutcome run(RunListener& listener, const std::string& prompt) { return run(listener, request_of_run(prompt)); }
  std::future<CallOutcome> run_elsewhere(RunListener& listener, const std::string& prompt) {
    return std::async(std::launch::async, [this, &listener, prompt] { return run(listener, prompt); });
  }
  // Whether it does what it should do.
  bool serves() {
    const auto listener = std::make_shared<RunListener>();
    const CallOutcome outcome = run(*listener, "@n=4");
    return !outcome.error && !outcome.aborted && listener->tokens().size() == 4;
  }

  Model& operator*() { return *model_; }
  Model* operator->() { return model_.get(); }
  int losses() const { return losses_; }

 private:
  std::atomic<int> losses_{0};
  std::unique_ptr<Model> model_;
};

template <class Kind>
struct LoadedModel {
  explicit LoadedModel(const std::string& path = RKLLM_FAST_MODEL) { REQUIRE(error_in(model.load(path)) == ""); }

  std::unique_ptr<Engine> engine = Kind::make();
  OneModel model{*engine};
};

constexpr const char* kAtBoardSpeed = RKLLM_PACED_MODEL;  // long enough to be interrupted
constexpr const char* kLongRun = "@n=1000";
constexpr std::size_t kLongRunTokens = 1000;

// A model of the simulator, which does what it should not.
std::string faulty_model(const TemporaryDirectory& directory, const Json& fault) {
  const std::string path = directory / "faulty.json";
  write_file(path,
             Json{{"rkllm_simulated_model", 1}, {"name", "SIMULATED faulty"}, {"faults", Json::array({fault})}}.dump());
  return path;
}

}  // namespace

#define EVERY_ENGINE InThisProcess, InWorkers, InOneWorker, Guarded<InThisProcess>, Guarded<InWorkers>

TEMPLATE_TEST_CASE("a model is there from the end of the call that creates it to the call that destroys it", "",
                   EVERY_ENGINE) {
  const auto engine = TestType::make();
  OneModel model(*engine, "llm-7");
  CHECK_FALSE(model->loaded());
  const CallOutcome made = model.load();
  REQUIRE(error_in(made) == "");
  CHECK(made.result["handle"] == "llm-7");
  CHECK(model->loaded());
  CHECK(model->values().at("n_batch") == 1);
  CHECK(model->process().has_value() == TestType::kHasWorkers);
  CHECK_FALSE(model->loading_in());
  CHECK(error_in(model.call("rkllm_clear_kv_cache", Json{{"keep_system_prompt", 0}})) == "");
  CHECK(error_in(model.call("rkllm_destroy")) == "");
  CHECK_FALSE(model->loaded());
  CHECK(model.losses() == 0);
}

TEMPLATE_TEST_CASE("a model that cannot be loaded is none, and the engine loads the next one", "", EVERY_ENGINE) {
  const auto engine = TestType::make();
  {
    OneModel absent(*engine);
    CHECK(code_of(absent.load("/no/such/model")) == ErrorCode::kCallFailed);
    CHECK_FALSE(absent->loaded());
    CHECK_FALSE(absent->process());
    CHECK_FALSE(absent->loading_in());
    CHECK(absent.losses() == 0);
  }
  OneModel senseless(*engine);
  CHECK(code_of(senseless.call("rkllm_init", Json{{"param", "none"}})) == ErrorCode::kInvalidParams);
  CHECK_FALSE(senseless->loaded());
  OneModel next(*engine, "llm-2");
  REQUIRE(error_in(next.load()) == "");
  CHECK(next.serves());
  CHECK(senseless.losses() == 0);
}

TEMPLATE_TEST_CASE("a model that is not there refuses calls, before it is created as after it has been destroyed", "",
                   EVERY_ENGINE) {
  const auto engine = TestType::make();
  OneModel model(*engine);
  const auto refuses_all = [&] {
    CHECK(code_of(model.call("rkllm_clear_kv_cache", Json{{"keep_system_prompt", 0}})) == ErrorCode::kUnknownHandle);
    CHECK(code_of(model->call(request_of_run("@n=3"))) == ErrorCode::kUnknownHandle);
    CHECK(code_of(model.beside("rkllm_is_running")) == ErrorCode::kUnknownHandle);
    CHECK(code_of(model.call("rkllm_destroy")) == ErrorCode::kUnknownHandle);
    CHECK_FALSE(model->loaded());
  };
  refuses_all();
  REQUIRE(error_in(model.load()) == "");
  REQUIRE(error_in(model.call("rkllm_destroy")) == "");
  refuses_all();
  CHECK(model.losses() == 0);
}

TEMPLATE_TEST_CASE("a run gives its observer each token in order, and has given all when its call returns", "",
                   EVERY_ENGINE) {
  LoadedModel<TestType> one;
  const auto name = GENERATE(as<std::string>(), "rkllm_run", "rkllm_run_async");
  std::vector<std::int32_t> ids;
  std::string prompt;
  for (std::int32_t id = 300; id < 340; ++id) {
    ids.push_back(id);
    prompt += (prompt.empty() ? "@ids=" : ",") + std::to_string(id);
  }
  ids.push_back(kEndOfSequence);
  const auto listener = std::make_shared<RunListener>();
  const CallOutcome outcome =
      one.model.run(*listener, request_of(name, Json{{"rkllm_input", {{"prompt_input", prompt}}}}));
  CHECK(error_in(outcome) == "");
  CHECK(outcome.state == "RKLLM_RUN_FINISH");
  CHECK_FALSE(outcome.aborted);
  CHECK(outcome.values.contains("perf"));
  CHECK(listener->close() == ids);
  CHECK(one.model.serves());
  CHECK(listener->tokens().size() == ids.size());
  CHECK_FALSE(listener->was_told_late());
  CHECK_FALSE(listener->was_told_of_end());  // that is for who made the call
  CHECK_FALSE(listener->is_stopped());
}

TEMPLATE_TEST_CASE("an engine makes of a long run what the library has made of it", "", EVERY_ENGINE) {
  constexpr const char* kAsFastAsCanBe = "@n=5000";
  LoadedModel<InThisProcess> reference;
  const auto expected = std::make_shared<RunListener>();
  REQUIRE(error_in(reference.model.run(*expected, kAsFastAsCanBe)) == "");
  REQUIRE(expected->tokens().size() == 5000);
  LoadedModel<TestType> one;
  const auto listener = std::make_shared<RunListener>();
  CHECK(error_in(one.model.run(*listener, kAsFastAsCanBe)) == "");
  CHECK(listener->tokens() == expected->tokens());
  CHECK(one.model->values() == reference.model->values());
}

TEMPLATE_TEST_CASE("a call that fails says why in its outcome, and the model serves the next one", "", EVERY_ENGINE) {
  LoadedModel<TestType> one;
  CHECK(code_of(one.model.call("rkllm_clear_kv_cache", Json{{"keep_system_prompt", "perhaps"}})) ==
        ErrorCode::kInvalidParams);
  CHECK(code_of(one.model.call("rkllm_load_prompt_cache", Json{{"prompt_cache_path", "/no/such/cache"}})) ==
        ErrorCode::kCallFailed);
  CHECK(code_of(one.model.beside("rkllm_is_running", Json{{"loudly", true}})) == ErrorCode::kInvalidParams);
  const auto listener = std::make_shared<RunListener>();
  CHECK(code_of(one.model.run(*listener, request_of("rkllm_run", Json{{"rkllm_input", 5}}))) ==
        ErrorCode::kInvalidParams);
  CHECK(listener->tokens().empty());
  CHECK(one.model.serves());
  CHECK_FALSE(listener->was_told_late());
  CHECK(one.model.losses() == 0);
}

TEMPLATE_TEST_CASE("a run that the library fails gives what came before, and then the error", "", EVERY_ENGINE) {
  const TemporaryDirectory directory;
  const auto what = GENERATE(as<std::string>(), "fail", "error");
  LoadedModel<TestType> one(faulty_model(directory, Json{{"when", 3}, {"what", what}}));
  const auto listener = std::make_shared<RunListener>();
  const CallOutcome outcome = one.model.run(*listener, "@n=20");
  CHECK(code_of(outcome) == ErrorCode::kCallFailed);
  CHECK_FALSE(outcome.aborted);
  CHECK(listener->tokens().size() == 2);
  const auto shorter = std::make_shared<RunListener>();
  CHECK(error_in(one.model.run(*shorter, "@n=2")) == "");
  CHECK(shorter->tokens().size() == 2);
  CHECK(one.model->loaded());
  CHECK(one.model.losses() == 0);
}

TEMPLATE_TEST_CASE("a run that another thread stops ends as aborted, and the next one does not", "", EVERY_ENGINE) {
  LoadedModel<TestType> one(kAtBoardSpeed);
  const auto listener = std::make_shared<RunListener>();
  auto running = one.model.run_elsewhere(*listener, kLongRun);
  REQUIRE(listener->has_token());
  one.model->stop_run();
  one.model->stop_run();
  const CallOutcome outcome = running.get();
  CHECK(error_in(outcome) == "");
  CHECK(outcome.aborted);
  CHECK(listener->is_stopped());
  CHECK(listener->tokens().size() < kLongRunTokens);
  CHECK(one.model.serves());
  const auto again = std::make_shared<RunListener>();
  auto running_again = one.model.run_elsewhere(*again, kLongRun);
  REQUIRE(again->has_token());
  one.model->stop_run();
  CHECK(running_again.get().aborted);
  CHECK_FALSE(listener->was_told_late());
}

TEMPLATE_TEST_CASE("a run that is stopped before its call begins ends as aborted", "", EVERY_ENGINE) {
  LoadedModel<TestType> one(kAtBoardSpeed);
  const auto listener = std::make_shared<RunListener>();
  one.model->begin_run(*listener);
  one.model->stop_run();
  const CallOutcome outcome = one.model->call(request_of_run(kLongRun));
  CHECK(error_in(outcome) == "");
  CHECK(outcome.aborted);
  CHECK(listener->close().size() < kLongRunTokens);  // in a worker the call and the stop come by lines of their own
  CHECK(one.model.serves());
}

TEMPLATE_TEST_CASE("a run that waits for a slow reader ends when it is stopped", "", EVERY_ENGINE) {
  LoadedModel<TestType> one;
  const auto listener = std::make_shared<RunListener>(Taking{.room = 1});
  auto running = one.model.run_elsewhere(*listener, "@n=100000");
  REQUIRE(listener->is_full());
  CHECK(listener->tokens().size() == 1);
  one.model->stop_run();
  const CallOutcome outcome = running.get();
  CHECK(error_in(outcome) == "");
  CHECK(outcome.aborted);
  CHECK(listener->tokens().size() < 100'000);
  CHECK(one.model.serves());
}

TEMPLATE_TEST_CASE("a run ends as aborted when its observer wants it to stop", "", EVERY_ENGINE) {
  LoadedModel<TestType> one(kAtBoardSpeed);
  const auto listener = std::make_shared<RunListener>(Taking{.stops_after = 2});
  const CallOutcome outcome = one.model.run(*listener, kLongRun);
  CHECK(error_in(outcome) == "");
  CHECK(outcome.aborted);
  CHECK(listener->tokens().size() >= 2);
  CHECK(listener->tokens().size() < kLongRunTokens);
  CHECK(one.model.serves());
}

TEMPLATE_TEST_CASE("calls beside a run are answered while it goes on, and do not end it", "", EVERY_ENGINE) {
  LoadedModel<TestType> one(kAtBoardSpeed);
  const auto listener = std::make_shared<RunListener>();
  auto running = one.model.run_elsewhere(*listener, kLongRun);
  REQUIRE(listener->has_token());
  CHECK(one.model.beside("rkllm_is_running").result["running"] == true);
  CHECK(code_of(one.model.beside("rkllm_abort", Json{{"loudly", true}})) == ErrorCode::kInvalidParams);
  CHECK(one.model.beside("rkllm_is_running").result["running"] == true);
  CHECK(one.model.beside("rkllm_abort").result["status"] == 0);
  const CallOutcome outcome = running.get();
  CHECK(error_in(outcome) == "");
  CHECK(listener->tokens().size() < kLongRunTokens);
  CHECK(one.model.beside("rkllm_is_running").result["running"] == false);
  CHECK(one.model.serves());
}

TEMPLATE_TEST_CASE("the runs of two models of an engine go on beside each other, each to its own observer", "",
                   EVERY_ENGINE) {
  LoadedModel<TestType> one(kAtBoardSpeed);
  OneModel other(*one.engine, "llm-2");
  REQUIRE(error_in(other.load(kAtBoardSpeed)) == "");
  const auto first = std::make_shared<RunListener>();
  const auto second = std::make_shared<RunListener>();
  auto running = one.model.run_elsewhere(*first, kLongRun);
  REQUIRE(first->has_token());
  CHECK(error_in(other.run(*second, "@ids=300,301")) == "");
  CHECK(second->tokens() == std::vector<std::int32_t>{300, 301, kEndOfSequence});
  CHECK(error_in(other.call("rkllm_destroy")) == "");
  CHECK(one.model.beside("rkllm_is_running").result["running"] == true);
  one.model->stop_run();
  CHECK(running.get().aborted);
  CHECK(one.model->loaded());
  CHECK(one.model.losses() + other.losses() == 0);
}

TEMPLATE_TEST_CASE("an engine makes calls that need no handle, also while a model runs", "", EVERY_ENGINE) {
  LoadedModel<TestType> one(kAtBoardSpeed);
  const auto listener = std::make_shared<RunListener>();
  auto running = one.model.run_elsewhere(*listener, kLongRun);
  REQUIRE(listener->has_token());
  const CallRequest asks = request_of("rkllm_createDefaultParam", Json::object());
  const CallOutcome outcome = one.engine->call(asks);
  CHECK(error_in(outcome) == "");
  CHECK(outcome.result.is_object());
  CHECK(code_of(one.engine->call(request_of("rkllm_createDefaultParam", Json{{"loudly", true}}))) ==
        ErrorCode::kInvalidParams);
  CHECK(error_in(one.engine->call(asks)) == "");
  one.model->stop_run();
  CHECK(running.get().aborted);
}

TEMPLATE_TEST_CASE("an engine that is killed ends what runs, tells of each lost model once, and begins nothing more",
                   "", EVERY_ENGINE) {
  LoadedModel<TestType> one(kAtBoardSpeed);
  OneModel idle(*one.engine, "llm-2");
  REQUIRE(error_in(idle.load()) == "");
  const auto listener = std::make_shared<RunListener>();
  auto running = std::async(std::launch::async, [&] {
    CallOutcome outcome = one.model.run(*listener, kLongRun);
    return std::pair(std::move(outcome), one.model.losses());
  });
  REQUIRE(listener->has_token());
  REQUIRE(one.engine->kill() == TestType::kHasWorkers);
  if (!TestType::kHasWorkers) one.model->stop_run();
  const auto [outcome, losses_at_its_end] = running.get();
  if (!TestType::kHasWorkers) {
    CHECK(outcome.aborted);
    CHECK(one.model.serves());
    CHECK(one.model.losses() + idle.losses() == 0);
    return;
  }
  CHECK(code_of(outcome) == ErrorCode::kRuntimeUnavailable);
  CHECK(losses_at_its_end == 1);
  CHECK(eventually([&] { return idle.losses() == 1; }));
  for (OneModel* const lost : {&one.model, &idle}) {
    CHECK(eventually([&] { return !(*lost)->loaded(); }));
    CHECK(code_of(lost->call("rkllm_clear_kv_cache", Json{{"keep_system_prompt", 0}})) ==
          ErrorCode::kRuntimeUnavailable);
    CHECK(code_of(lost->beside("rkllm_is_running")) == ErrorCode::kRuntimeUnavailable);
    CHECK(lost->losses() == 1);
  }
  OneModel next(*one.engine, "llm-3");
  CHECK(code_of(next.load()) == ErrorCode::kRuntimeUnavailable);
  CHECK_FALSE(next->loaded());
  CHECK(next.losses() == 0);
  CHECK(code_of(one.engine->call(request_of("rkllm_createDefaultParam", Json::object()))) ==
        ErrorCode::kRuntimeUnavailable);
  CHECK(one.engine->kill());
}

TEMPLATE_TEST_CASE("the loading of a model that nobody waits for ends, where the model has a worker for itself", "",
                   InWorkers, Guarded<InWorkers>) {
  const TemporaryDirectory directory;
  const auto engine = TestType::make();
  OneModel model(*engine);
  const std::string hanging = faulty_model(directory, Json{{"when", "init"}, {"what", "hang"}});
  auto loading = std::async(std::launch::async, [&] { return model.load(hanging); });
  REQUIRE(eventually([&] { return model->loading_in().has_value(); }));
  model->stop_loading();
  CHECK(code_of(loading.get()) == ErrorCode::kRuntimeUnavailable);
  CHECK_FALSE(model->loaded());
  CHECK_FALSE(model->loading_in());
  CHECK(model.losses() == 0);
  OneModel next(*engine, "llm-2");
  REQUIRE(error_in(next.load()) == "");
  CHECK(next.serves());
}

TEMPLATE_TEST_CASE("a model that nobody waits for is loaded, where ending that would harm others", "", InThisProcess,
                   InOneWorker, Guarded<InThisProcess>) {
  const auto engine = TestType::make();
  OneModel model(*engine);
  model->stop_loading();
  REQUIRE(error_in(model.load()) == "");
  model->stop_loading();
  CHECK(model.serves());
}

}  // namespace rkllm_mcp::test
