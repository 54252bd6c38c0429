// The backend on the simulator, without any transport: every test runs with the library in this process and with
// worker processes.
#include "backend/queued_backend.hpp"

#include "backend/handle_resources.hpp"
#include "jsonrpc/envelope.hpp"
#include "library/library_engine.hpp"
#include "server/backend/queue_limits.hpp"
#include "server/backend/simulated_engines.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "worker/worker_engine.hpp"

#include <rkllm_mcp/errors.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using test::has_text;
using test::simulator;
using test::worker_options;

namespace {

constexpr std::chrono::seconds kPatience{60};

QueuedBackend::Limits usual_queues() { return test::usual_limits<QueuedBackend::Limits>(); }

QueuedBackend::Limits queues_of(std::size_t handles) {
  auto limits = usual_queues();
  limits.handles = handles;
  return limits;
}

std::unique_ptr<Engine> either_engine() {
  const bool in_worker = GENERATE(false, true);
  UNSCOPED_INFO((in_worker ? "in worker processes" : "in this process"));
  if (in_worker) return std::make_unique<WorkerEngine>(worker_options());
  return std::make_unique<LibraryEngine>(simulator());
}

class Recorder : public CallObserver {
 public:
  void on_queued(std::size_t calls_before) noexcept override {
    const std::lock_guard lock(mutex_);
    positions_.push_back(calls_before);
    news_.notify_all();
  }
  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override {
    const std::lock_guard lock(mutex_);
    token_limit_ = token_limit;
    begun_ = true;
    news_.notify_all();
  }
  void on_token(std::size_t, std::optional<std::string_view> text, std::int32_t) noexcept override {
    const std::lock_guard lock(mutex_);
    text_ += text.value_or("");
    ++tokens_;
    news_.notify_all();
  }
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    news_.notify_all();
  }

  bool wait_until_begun() {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, kPatience, [this] { return begun_ || outcome_.has_value(); }) && begun_;
  }
  bool begun() const {
    const std::lock_guard lock(mutex_);
    return begun_;
  }
  bool wait() { return wait_until_done(kPatience); }
  bool wait_until_done(std::chrono::milliseconds patience) {
    std::unique_lock lock(mutex_);
    return news_.wait_for(lock, patience, [this] { return outcome_.has_value(); });
  }
  const CallOutcome& outcome() {
    if (!wait()) throw std::runtime_error("the call did not end");
    const std::lock_guard lock(mutex_);
    return *outcome_;
  }
  ErrorCode error_code() {
    const auto error = outcome().error;
    REQUIRE(error);
    return as_rpc_error(error).code();
  }
  void wait_for_tokens(std::size_t count) {
    std::unique_lock lock(mutex_);
    REQUIRE(news_.wait_for(lock, kPatience, [&] { return tokens_ >= count; }));
  }
  std::optional<std::uint64_t> token_limit() const {
    const std::lock_guard lock(mutex_);
    return token_limit_;
  }
  // Each place in the queue that it was told, the first `count` of them.
  std::vector<std::size_t> positions(std::size_t count) {
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, kPatience, [&] { return positions_.size() >= count; });
    return positions_;
  }
  std::size_t tokens() const {
    const std::lock_guard lock(mutex_);
    return tokens_;
  }
  bool done() const {
    const std::lock_guard lock(mutex_);
    return outcome_.has_value();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable news_;
  std::string text_;
  std::size_t tokens_ = 0;
  std::vector<std::size_t> positions_;
  bool begun_ = false;
  std::optional<std::uint64_t> token_limit_;
  std::optional<CallOutcome> outcome_;
};

struct Calls {
  explicit Calls(QueuedBackend::Limits limits = usual_queues())
      : backend(either_engine(), simulator().abi().methods, limits) {}

  std::shared_ptr<Recorder> start(std::string_view method, Json params, Backend::CallId* id = nullptr) {
    auto recorder = std::make_shared<Recorder>();
    for (const Method& each : simulator().abi().methods) {
      if (each.name != method) continue;
      const auto call = backend.start({.method = &each, .params = std::move(params), .observer = recorder});
      if (id != nullptr) *id = call;
      break;
    }
    return recorder;
  }
  std::string init(const std::string& model = RKLLM_FAST_MODEL) {
    const auto made = start("rkllm_init", Json{{"param", {{"model_path", model}}}});
    const CallOutcome& outcome = made->outcome();
    REQUIRE_FALSE(outcome.error);
    return outcome.result["handle"];
  }
  std::shared_ptr<Recorder> lease(const std::string& handle, Backend::CallId& id, const std::string& holder = {}) {
    auto recorder = std::make_shared<Recorder>();
    CallRequest request;
    request.source.holder = holder;
    request.observer = recorder;
    id = backend.lease(handle, std::move(request));
    return recorder;
  }
  std::shared_ptr<Recorder> leased_run(Backend::CallId lease, const std::string& prompt,
                                       Backend::CallId* id = nullptr) {
    auto recorder = std::make_shared<Recorder>();
    for (const Method& each : simulator().abi().methods) {
      if (each.name != "rkllm_run") continue;
      const auto call = backend.start_leased(
          lease, {.method = &each, .params = Json{{"rkllm_input", {{"prompt_input", prompt}}}}, .observer = recorder});
      if (id != nullptr) *id = call;
      break;
    }
    return recorder;
  }
  std::shared_ptr<Recorder> run(const std::string& handle, const std::string& prompt, Backend::CallId* id = nullptr) {
    return start("rkllm_run_async", Json{{"handle", handle}, {"rkllm_input", {{"prompt_input", prompt}}}}, id);
  }

  QueuedBackend backend;
};

constexpr const char* kPaced = RKLLM_PACED_MODEL;  // a real board's speed: long enough to be interrupted

// An engine whose calls hang until they are let go, whatever is done to it.
class HangingEngine final : public Engine {
 public:
  explicit HangingEngine(std::shared_future<void> let_go) : let_go_(std::move(let_go)) {}

  std::unique_ptr<Model> new_model(const std::string&, LostFunction) override { throw std::logic_error("unused"); }
  CallOutcome call(const CallRequest&) override {
    let_go_.wait();
    return {};
  }
  bool kill() override { return false; }

 private:
  const std::shared_future<void> let_go_;
};

// An engine whose model is loaded at once, and ends when it is let go.
class SlowEndingEngine final : public Engine {
 public:
  struct Watch {
    std::promise<void> ending;
    std::promise<void> let_go;
  };
  explicit SlowEndingEngine(Watch& watch) : watch_(watch) {}

  std::unique_ptr<Model> new_model(const std::string&, LostFunction) override {
    return std::make_unique<EndingModel>(watch_);
  }
  CallOutcome call(const CallRequest&) override { return {}; }
  bool kill() override { return true; }

 private:
  class EndingModel final : public Model {
   public:
    explicit EndingModel(Watch& watch) : watch_(watch) {}
    ~EndingModel() override {
      watch_.ending.set_value();
      watch_.let_go.get_future().wait();
    }

    void begin_run(CallObserver& /*observer*/) override {}
    CallOutcome call(const CallRequest& request) override {
      loaded_ = request.method->handle == HandleRole::kCreates;
      return {};
    }
    CallOutcome call_beside(const CallRequest&) override { return {}; }
    void stop_run() override {}
    bool loaded() const override { return loaded_; }
    Values values() const override { return {}; }

   private:
    Watch& watch_;
    std::atomic<bool> loaded_{false};
  };

  Watch& watch_;
};

// An engine whose models are loaded when they are let go, whatever is done to them; counts those that there are.
class SlowLoadingEngine final : public Engine {
 public:
  struct Watch {
    std::promise<void> loading;
    std::promise<void> let_go;
    std::atomic<int> loaded{0};
  };
  explicit SlowLoadingEngine(Watch& watch) : watch_(watch) {}

  std::unique_ptr<Model> new_model(const std::string&, LostFunction) override {
    return std::make_unique<SlowModel>(watch_);
  }
  CallOutcome call(const CallRequest&) override { return {}; }
  bool kill() override { return false; }

 private:
  class SlowModel final : public Model {
   public:
    explicit SlowModel(Watch& watch) : watch_(watch) {}

    void begin_run(CallObserver& /*observer*/) override {}
    CallOutcome call(const CallRequest& request) override {
      if (request.method->handle == HandleRole::kCreates) {
        watch_.loading.set_value();
        watch_.let_go.get_future().wait();
        ++watch_.loaded;
        loaded_ = true;
      }
      if (request.method->handle == HandleRole::kDestroys) --watch_.loaded;
      return {};
    }
    CallOutcome call_beside(const CallRequest&) override { return {}; }
    void stop_run() override {}
    bool loaded() const override { return loaded_; }
    Values values() const override { return {}; }

   private:
    Watch& watch_;
    std::atomic<bool> loaded_{false};
  };

  Watch& watch_;
};

// An engine whose run ends while it is being aborted; the abort is then refused.
class LateRefusalEngine final : public Engine {
 public:
  explicit LateRefusalEngine(std::shared_ptr<Recorder> run) : run_(std::move(run)) {}

  std::unique_ptr<Model> new_model(const std::string&, LostFunction) override {
    return std::make_unique<LateModel>(run_);
  }
  CallOutcome call(const CallRequest&) override { return {}; }
  bool kill() override { return false; }

 private:
  class LateModel final : public Model {
   public:
    explicit LateModel(std::shared_ptr<Recorder> run) : run_(std::move(run)) {}

    void begin_run(CallObserver& /*observer*/) override {}
    CallOutcome call(const CallRequest& request) override {
      if (!request.method->streams) return {};
      run_->on_token(0, "token", 1);
      is_being_aborted_.get_future().wait();
      return {};
    }
    CallOutcome call_beside(const CallRequest&) override {
      is_being_aborted_.set_value();
      run_->wait_until_done(std::chrono::milliseconds(200));  // which it must not be yet
      return {.error = std::make_exception_ptr(InvalidParams("params", "no"))};
    }
    void stop_run() override {}
    bool loaded() const override { return true; }
    Values values() const override { return {}; }

   private:
    const std::shared_ptr<Recorder> run_;
    std::promise<void> is_being_aborted_;
  };

  const std::shared_ptr<Recorder> run_;
};

// An engine that loads a model when the test lets it.
class HeldLoads final : public Engine {
 public:
  struct Watch {
    std::binary_semaphore began{0};
    std::binary_semaphore may_end{0};
  };
  explicit HeldLoads(Watch& watch) : watch_(watch) {}

  std::unique_ptr<Model> new_model(const std::string&, LostFunction) override {
    return std::make_unique<HeldModel>(watch_);
  }
  CallOutcome call(const CallRequest&) override { return {}; }
  bool kill() override { return false; }

 private:
  class HeldModel final : public Model {
   public:
    explicit HeldModel(Watch& watch) : watch_(watch) {}

    void begin_run(CallObserver& /*observer*/) override {}
    CallOutcome call(const CallRequest& request) override {
      if (request.method->handle != HandleRole::kCreates) return {};
      watch_.began.release();
      watch_.may_end.acquire();
      return {};
    }
    CallOutcome call_beside(const CallRequest&) override { return {}; }
    std::optional<pid_t> loading_in() const override { return 7; }
    void stop_run() override {}
    bool loaded() const override { return true; }
    Values values() const override { return {}; }

   private:
    Watch& watch_;
  };

  Watch& watch_;
};

const Method& method_named(std::string_view name) {
  for (const Method& each : simulator().abi().methods) {
    if (each.name == name) return each;
  }
  throw std::logic_error("no such method");
}

}  // namespace

TEST_CASE("calls on one handle run one after the other, in order") {
  Calls calls;
  const auto handle = calls.init();
  std::vector<std::shared_ptr<Recorder>> runs;
  for (int at = 0; at < 10; ++at) runs.push_back(calls.run(handle, "@n=50"));
  for (const auto& run : runs) {
    CHECK_FALSE(run->outcome().error);
    CHECK(run->tokens() == 50);
  }
}

TEST_CASE("a cancelled run ends at its next token as aborted, and the next one runs unharmed") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  Backend::CallId id = 0;
  const auto run = calls.run(handle, "@n=1000", &id);
  run->wait_for_tokens(1);
  const auto next = calls.run(handle, "@n=3");
  calls.backend.cancel(id);
  const CallOutcome& outcome = run->outcome();
  CHECK_FALSE(outcome.error);
  CHECK(outcome.aborted);
  CHECK(run->tokens() < 1000);
  CHECK_FALSE(next->outcome().aborted);
  CHECK(next->tokens() == 3);
}

TEST_CASE("a call that is cancelled while it waits leaves the queue at once with error 4009") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  Backend::CallId first = 0;
  const auto running = calls.run(handle, "@n=1000", &first);
  running->wait_for_tokens(1);
  Backend::CallId second = 0;
  const auto waiting = calls.run(handle, "@n=5", &second);
  calls.backend.cancel(second);
  CHECK(waiting->error_code() == ErrorCode::kCancelled);
  CHECK(waiting->tokens() == 0);
  CHECK_FALSE(running->done());
  calls.backend.cancel(first);
  CHECK(running->outcome().aborted);
}

TEST_CASE("the queue of a handle is bounded") {
  Calls calls({.handles = 2, .queued_per_handle = 2});
  const auto handle = calls.init(kPaced);
  Backend::CallId id = 0;
  const auto running = calls.run(handle, "@n=1000", &id);
  running->wait_for_tokens(1);
  calls.run(handle, "@n=1");
  calls.run(handle, "@n=1");
  CHECK(calls.run(handle, "@n=1")->error_code() == ErrorCode::kQueueFull);
  calls.backend.cancel(id);
}

TEST_CASE("rkllm_is_running answers during a run") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  Backend::CallId id = 0;
  const auto run = calls.run(handle, "@n=1000", &id);
  run->wait_for_tokens(1);
  CHECK(calls.start("rkllm_is_running", Json{{"handle", handle}})->outcome().result["running"] == true);
  calls.backend.cancel(id);
  run->outcome();
  CHECK(calls.start("rkllm_is_running", Json{{"handle", handle}})->outcome().result["running"] == false);
}

TEST_CASE("rkllm_abort stops what runs, whoever started it") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  const auto run = calls.run(handle, "@n=1000");
  run->wait_for_tokens(1);
  CHECK(calls.start("rkllm_abort", Json{{"handle", handle}})->outcome().result["status"] == 0);
  CHECK(run->outcome().aborted);
}

TEST_CASE("rkllm_abort stops a run that was sent before it and is about to begin") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  for (int i = 0; i < 20; ++i) {
    calls.start("rkllm_is_running", Json{{"handle", handle}});  // makes what runs beside faster than the run
    const auto run = calls.run(handle, "@n=5000");
    CHECK_FALSE(calls.start("rkllm_abort", Json{{"handle", handle}})->outcome().error);
    const auto& outcome = run->outcome();
    if (outcome.error) {
      CHECK(as_rpc_error(outcome.error).code() == ErrorCode::kCancelled);
    } else {
      CHECK(outcome.aborted);
    }
  }
}

TEST_CASE("an rkllm_abort that is refused aborts nothing") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  const auto run = calls.run(handle, "@n=6");
  run->wait_for_tokens(1);
  CHECK(calls.start("rkllm_abort", Json{{"handle", handle}, {"loudly", true}})->error_code() ==
        ErrorCode::kInvalidParams);
  CHECK_FALSE(run->outcome().aborted);
  CHECK(run->tokens() >= 6);
}

TEST_CASE("destroying a handle aborts its run, cancels what waits, and then frees it") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  const auto running = calls.run(handle, "@n=1000");
  running->wait_for_tokens(1);
  const auto waiting = calls.run(handle, "@n=5");
  const auto destroyed = calls.start("rkllm_destroy", Json{{"handle", handle}});
  CHECK(calls.run(handle, "@n=5")->error_code() == ErrorCode::kUnknownHandle);
  CHECK(running->outcome().aborted);
  CHECK(waiting->error_code() == ErrorCode::kCancelled);
  CHECK_FALSE(destroyed->outcome().error);
  CHECK(calls.start("rkllm_is_running", Json{{"handle", handle}})->error_code() == ErrorCode::kUnknownHandle);
  CHECK(calls.backend.handles().empty());
}

TEST_CASE("a handle may be left out while exactly one exists") {
  Calls calls;
  CHECK(calls.start("rkllm_is_running", Json::object())->error_code() == ErrorCode::kUnknownHandle);
  calls.init();
  CHECK_FALSE(calls.start("rkllm_is_running", Json::object())->outcome().error);
  calls.init();
  const auto refused = calls.start("rkllm_is_running", Json::object());
  CHECK(refused->error_code() == ErrorCode::kInvalidParams);
  CHECK(as_rpc_error(refused->outcome().error).what() ==
        std::string("params.handle: required while more than one handle exists; these do: llm-1, llm-2"));
  CHECK(as_rpc_error(calls.start("rkllm_is_running", Json{{"handle", "llm-3"}})->outcome().error).what() ==
        std::string("no handle \"llm-3\" exists; there are: llm-1, llm-2"));
}

TEST_CASE("a model that could not be loaded uses up no number, and its cause comes first") {
  Calls calls;
  for (int i = 0; i < 2; ++i) {
    const auto failed = calls.start("rkllm_init", Json{{"param", {{"model_path", "/no/such/model"}}}});
    CHECK(as_rpc_error(failed->outcome().error).what() ==
          std::string("no such file: /no/such/model (rkllm_init returned -1)"));
  }
  CHECK(calls.init() == "llm-1");
  CHECK_FALSE(calls.start("rkllm_destroy", Json::object())->outcome().error);
  CHECK(calls.init() == "llm-2");  // one that was is not used again
  const auto directory = calls.start("rkllm_init", Json{{"param", {{"model_path", "/tmp"}}}});
  CHECK(as_rpc_error(directory->outcome().error).what() ==
        std::string("this is a directory: /tmp (rkllm_init returned -1)"));
}

TEST_CASE("calls that wait are told their place, again when it changes, and status pages have the same") {
  using Positions = std::vector<std::size_t>;
  Calls calls;
  const auto handle = calls.init(kPaced);
  const auto running = calls.run(handle, "@n=1000");
  running->wait_for_tokens(1);
  Backend::CallId leaving = 0;
  const Json size{{"handle", handle}, {"rkllm_input", {{"prompt_input", "@n=1"}}}};
  const auto first = calls.start("rkllm_run", size, &leaving);
  const auto second = calls.start("rkllm_run", size);
  const auto third = calls.start("rkllm_clear_kv_cache", Json{{"handle", handle}, {"keep_system_prompt", 0}});
  CHECK(first->positions(1) == Positions{1});
  CHECK(second->positions(1) == Positions{2});
  CHECK(third->positions(1) == Positions{3});
  const auto queue = calls.backend.handles().at(0).queue;
  REQUIRE(queue.size() == 3);
  CHECK(queue[2].method == "rkllm_clear_kv_cache");

  calls.backend.cancel(leaving);
  CHECK(first->error_code() == ErrorCode::kCancelled);
  CHECK(second->positions(2) == Positions{2, 1});
  CHECK(third->positions(2) == Positions{3, 2});
  calls.start("rkllm_abort", Json{{"handle", handle}});
  CHECK_FALSE(third->outcome().error);
  CHECK(first->positions(1) == Positions{1});
  CHECK(second->positions(2) == Positions{2, 1});
  CHECK(third->positions(3) == Positions{3, 2, 1});
}

TEST_CASE("a run of one token does not take the place of an answer's figures") {
  Calls calls;
  const auto handle = calls.init();
  const auto perf_behind = [&](const std::string& prompt) {
    CHECK_FALSE(calls.run(handle, prompt)->outcome().error);
    const Json clear{{"handle", handle}, {"keep_system_prompt", 0}};
    CHECK_FALSE(
        calls.start("rkllm_clear_kv_cache", clear)->outcome().error);  // the run before it has been noted by now
    return calls.backend.handles().at(0).last_perf;
  };
  const Json of_one = perf_behind("@n=1");
  CHECK(of_one.is_object());
  CHECK_FALSE(speed_of(of_one).tokens_per_second);  // its token came with the prompt
  const Json of_answer = perf_behind("@n=50");
  CHECK(of_answer["generate_tokens"].get<int>() > 40);
  CHECK(speed_of(of_answer).tokens_per_second);
  CHECK(perf_behind("@n=1") == of_answer);
  CHECK(perf_behind("@n=20")["generate_tokens"].get<int>() < 40);
}

TEST_CASE("a call that leaves the queue leaves nothing behind, although the run ahead goes on") {
  Calls calls({.handles = 1, .queued_per_handle = 2});
  const auto handle = calls.init(kPaced);
  Backend::CallId first = 0;
  const auto running = calls.run(handle, "@n=1000", &first);
  running->wait_for_tokens(1);
  for (int round = 0; round < 20; ++round) {  // many more than fit into the queue
    Backend::CallId id = 0;
    auto waiting = calls.run(handle, "@n=1", &id);
    calls.backend.cancel(id);
    REQUIRE(waiting->error_code() == ErrorCode::kCancelled);
    std::weak_ptr<Recorder> left = waiting;
    waiting.reset();
    // It is told on another thread, which lets go of it right after that.
    REQUIRE(test::eventually([&] { return left.expired(); }));
  }
  CHECK_FALSE(running->done());
  calls.backend.cancel(first);
}

TEST_CASE("a call without a handle that is cancelled behind one that hangs leaves nothing behind") {
  std::promise<void> let_go;
  QueuedBackend backend(std::make_unique<HangingEngine>(let_go.get_future().share()), simulator().abi().methods,
                        usual_queues());
  const auto hanging = std::make_shared<Recorder>();
  backend.start({.method = &method_named("rkllm_createDefaultParam"), .params = Json::object(), .observer = hanging});
  auto waiting = std::make_shared<Recorder>();
  const auto id = backend.start(
      {.method = &method_named("rkllm_createDefaultParam"), .params = Json::object(), .observer = waiting});
  backend.cancel(id);
  CHECK(waiting->error_code() == ErrorCode::kCancelled);
  const std::weak_ptr<Recorder> left = std::exchange(waiting, nullptr);
  CHECK(test::eventually([&] { return left.expired(); }));
  let_go.set_value();
  CHECK_FALSE(hanging->outcome().error);
}

TEST_CASE("a call that hangs beyond the shut-down ends in a backend that is still whole") {
  std::promise<void> let_go;
  auto backend = std::make_unique<QueuedBackend>(std::make_unique<HangingEngine>(let_go.get_future().share()),
                                                 simulator().abi().methods, usual_queues());
  const auto hanging = std::make_shared<Recorder>();
  backend->start({.method = &method_named("rkllm_createDefaultParam"), .params = Json::object(), .observer = hanging});
  CHECK_FALSE(backend->shut_down(std::chrono::steady_clock::now()));
  CHECK(hanging->error_code() == ErrorCode::kRuntimeUnavailable);
  std::thread later([&let_go] { let_go.set_value(); });
  backend.reset();
  later.join();
}

TEST_CASE("a model whose end hangs has not ended in time, although all calls have") {
  SlowEndingEngine::Watch watch;
  QueuedBackend backend(std::make_unique<SlowEndingEngine>(watch), simulator().abi().methods, usual_queues());
  const auto loading = std::make_shared<Recorder>();
  backend.start({.method = &method_named("rkllm_init"), .params = Json::object(), .observer = loading});
  REQUIRE_FALSE(loading->outcome().error);
  REQUIRE(backend.destroy_in_order(loading->outcome().handle, nullptr));
  watch.ending.get_future().wait();
  CHECK_FALSE(backend.shut_down(std::chrono::steady_clock::now()));
  watch.let_go.set_value();
  CHECK(backend.shut_down(std::chrono::steady_clock::now() + kPatience));
}

TEST_CASE("the id of a call of one backend is no call's of another") {
  std::promise<void> let_go;
  const auto released = let_go.get_future().share();
  QueuedBackend before(std::make_unique<HangingEngine>(released), simulator().abi().methods, usual_queues());
  QueuedBackend after(std::make_unique<HangingEngine>(released), simulator().abi().methods, usual_queues());
  const auto start = [](QueuedBackend& backend, const std::shared_ptr<Recorder>& recorder) {
    return backend.start(
        {.method = &method_named("rkllm_createDefaultParam"), .params = Json::object(), .observer = recorder});
  };
  const auto running = std::make_shared<Recorder>();
  start(after, running);
  const auto waiting = std::make_shared<Recorder>();
  start(after, waiting);
  for (int call = 0; call < 3; ++call) after.cancel(start(before, std::make_shared<Recorder>()));
  let_go.set_value();
  CHECK_FALSE(running->outcome().error);
  CHECK_FALSE(waiting->outcome().error);
}

TEST_CASE("a model that nobody waits for any more, but whose loading cannot be ended, is destroyed once it is loaded") {
  SlowLoadingEngine::Watch watch;
  QueuedBackend backend(std::make_unique<SlowLoadingEngine>(watch), simulator().abi().methods, queues_of(1));
  const auto loading = std::make_shared<Recorder>();
  const auto id = backend.start({.method = &method_named("rkllm_init"), .params = Json::object(), .observer = loading});
  watch.loading.get_future().wait();
  const auto behind = std::make_shared<Recorder>();
  backend.start({.method = &method_named("rkllm_run"), .params = Json::object(), .observer = behind});
  backend.cancel(id);
  watch.let_go.set_value();
  CHECK(loading->error_code() == ErrorCode::kCancelled);
  CHECK(behind->error_code() == ErrorCode::kCancelled);
  CHECK(test::eventually([&] { return backend.use() == QueuedBackend::Use::kIdle; }));
  CHECK(watch.loaded == 0);
  CHECK(backend.handles().empty());
}

TEST_CASE("a load is told with its process, and the next one of the same file with what the first took") {
  HeldLoads::Watch watch;
  QueuedBackend backend(std::make_unique<HeldLoads>(watch), simulator().abi().methods, queues_of(2));
  CHECK(backend.loads().empty());
  for (const bool was_loaded : {false, true}) {
    INFO(was_loaded);
    const auto loading = std::make_shared<Recorder>();
    const Json params{{"param", {{"model_path", "/models/big.rkllm"}}}};
    const auto id = backend.start({.method = &method_named("rkllm_init"), .params = params, .observer = loading});
    watch.began.acquire();
    const auto loads = backend.loads();
    REQUIRE(loads.size() == 1);
    CHECK(loads[0].init == id);
    CHECK(loads[0].path == "/models/big.rkllm");
    CHECK(loads[0].model.empty());
    CHECK(loads[0].process == 7);
    CHECK(loads[0].before.has_value() == was_loaded);
    watch.may_end.release();
    CHECK_FALSE(loading->outcome().error);
    CHECK(test::eventually([&] { return backend.loads().empty(); }));
  }
}

TEST_CASE("a run that ends while it is being aborted is not aborted if that is refused") {
  const auto run = std::make_shared<Recorder>();
  QueuedBackend backend(std::make_unique<LateRefusalEngine>(run), simulator().abi().methods, queues_of(1));
  const auto loading = std::make_shared<Recorder>();
  backend.start({.method = &method_named("rkllm_init"), .params = Json::object(), .observer = loading});
  REQUIRE(loading->wait());
  backend.start({.method = &method_named("rkllm_run"), .params = Json::object(), .observer = run});
  run->wait_for_tokens(1);
  const auto abort = std::make_shared<Recorder>();
  backend.start({.method = &method_named("rkllm_abort"), .params = Json::object(), .observer = abort});
  CHECK(abort->error_code() == ErrorCode::kInvalidParams);
  CHECK_FALSE(run->outcome().aborted);
}

TEST_CASE("a call that is given up leaves the queue, one that runs does not mind") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  Backend::CallId runs = 0;
  Backend::CallId waits = 0;
  const Json input{{"handle", handle}, {"rkllm_input", {{"prompt_input", "@n=40"}}}};
  const auto running = calls.start("rkllm_run", input, &runs);
  running->wait_for_tokens(1);
  const auto waiting = calls.start("rkllm_run", input, &waits);
  const RpcError why(ErrorCode::kQueueFull, "too long", Json::object());
  calls.backend.give_up(runs, why);
  calls.backend.give_up(waits, why);
  calls.backend.give_up(12345, why);
  CHECK(waiting->error_code() == ErrorCode::kQueueFull);
  CHECK(calls.backend.handles().at(0).queue.empty());
  CHECK_FALSE(running->outcome().error);
  CHECK(running->tokens() == 40);
}

TEST_CASE("a run's observer learns how many tokens may come") {
  Calls calls;
  const auto made =
      calls.start("rkllm_init", Json{{"param", {{"model_path", RKLLM_FAST_MODEL}, {"max_new_tokens", 7}}}});
  REQUIRE_FALSE(made->outcome().error);
  const Json input{{"prompt_input", "Hello"}};
  const auto plain = calls.start("rkllm_run", Json{{"rkllm_input", input}});
  plain->outcome();
  CHECK(plain->token_limit() == 7U);
  const auto own =
      calls.start("rkllm_run", Json{{"rkllm_input", input}, {"rkllm_infer_params", {{"max_new_tokens", 3}}}});
  own->outcome();
  CHECK(own->token_limit() == 3U);
}

TEST_CASE("a call sent right behind rkllm_init waits for it") {
  Calls calls;
  const auto made = calls.start("rkllm_init", Json{{"param", {{"model_path", RKLLM_FAST_MODEL}}}});
  const auto run = calls.start("rkllm_run", Json{{"rkllm_input", {{"prompt_input", "@n=5"}}}});
  CHECK_FALSE(made->outcome().error);
  CHECK_FALSE(run->outcome().error);
  CHECK(run->tokens() == 5);

  Calls failing;
  failing.start("rkllm_init", Json{{"param", {{"model_path", "/no/such/model"}}}});
  CHECK(failing.start("rkllm_run", Json{{"rkllm_input", {{"prompt_input", "@n=5"}}}})->error_code() ==
        ErrorCode::kUnknownHandle);
}

TEST_CASE("a failed rkllm_init leaves no handle behind") {
  Calls calls({.handles = 1, .queued_per_handle = 4});
  CHECK(calls.start("rkllm_init", Json{{"param", {{"model_path", "/no/such/model"}}}})->error_code() ==
        ErrorCode::kCallFailed);
  CHECK(calls.backend.handles().empty());
  calls.init();
  CHECK(calls.start("rkllm_init", Json{{"param", {{"model_path", RKLLM_FAST_MODEL}}}})->error_code() ==
        ErrorCode::kQueueFull);
}

TEST_CASE("shutting down stops runs and frees handles in time") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  const auto run = calls.run(handle, "@n=1000");
  run->wait_for_tokens(1);
  CHECK(calls.backend.shut_down(std::chrono::steady_clock::now() + kPatience));
  CHECK(run->outcome().aborted);
  CHECK(calls.backend.handles().empty());
  CHECK(calls.start("rkllm_createDefaultParam", Json::object())->error_code() == ErrorCode::kRuntimeUnavailable);
}

TEST_CASE("many handles come and go from many threads") {
  Calls calls({.handles = 8, .queued_per_handle = 64});
  std::atomic<int> failures{0};  // the test framework's checks are for one thread only
  std::vector<std::thread> clients;
  for (int client = 0; client < 4; ++client) {
    clients.emplace_back([&calls, &failures] {
      for (int round = 0; round < 5; ++round) {
        const auto made = calls.start("rkllm_init", Json{{"param", {{"model_path", RKLLM_FAST_MODEL}}}});
        if (!made->wait() || made->outcome().error) return void(++failures);
        const std::string handle = made->outcome().result["handle"];
        const auto run = calls.run(handle, "@n=200");
        const auto asked = calls.start("rkllm_is_running", Json{{"handle", handle}});
        if (!run->wait() || run->tokens() != 200 || !asked->wait()) ++failures;
        if (!calls.start("rkllm_destroy", Json{{"handle", handle}})->wait()) ++failures;
      }
    });
  }
  for (auto& client : clients) client.join();
  CHECK(failures == 0);
  CHECK(calls.backend.handles().empty());
}

TEST_CASE("while a handle is leased only the lease's calls are made, and the others come after it in their order") {
  Calls calls;
  const auto handle = calls.init();
  Backend::CallId first = 0;
  Backend::CallId second = 0;
  const auto held = calls.lease(handle, first);
  REQUIRE(held->wait_until_begun());
  const auto direct = calls.run(handle, "@n=3");
  const auto next = calls.lease(handle, second);
  CHECK(direct->positions(1) == std::vector<std::size_t>{1});
  CHECK(next->positions(1) == std::vector<std::size_t>{2});
  CHECK(calls.leased_run(first, "@n=4")->outcome().error == nullptr);
  CHECK(calls.leased_run(first, "@n=4")->tokens() <= 4);
  CHECK(calls.backend.use_of(handle)->waiting == 2);
  CHECK(calls.backend.use_of(handle)->in_use);
  CHECK_FALSE(direct->begun());
  CHECK_FALSE(next->begun());
  calls.backend.end_lease(first);
  CHECK(held->outcome().error == nullptr);
  CHECK(direct->outcome().error == nullptr);
  REQUIRE(next->wait_until_begun());
  calls.backend.end_lease(second);
  CHECK(next->outcome().error == nullptr);
  CHECK_FALSE(calls.backend.use_of(handle)->in_use);
}

TEST_CASE("the end of a lease stops its run and takes its waiting calls back, and the next one is served") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  Backend::CallId lease = 0;
  const auto held = calls.lease(handle, lease);
  REQUIRE(held->wait_until_begun());
  const auto running = calls.leased_run(lease, "@n=100000");
  const auto waiting = calls.leased_run(lease, "@n=5");
  const auto direct = calls.run(handle, "@n=2");
  running->wait_for_tokens(1);
  calls.backend.end_lease(lease);
  CHECK(waiting->error_code() == ErrorCode::kCancelled);
  running->outcome();
  CHECK(held->outcome().error == nullptr);
  CHECK(direct->outcome().error == nullptr);
  CHECK(direct->tokens() == 2);
}

TEST_CASE("a lease that is given up while it waits leaves the queue at once") {
  Calls calls;
  const auto handle = calls.init();
  Backend::CallId first = 0;
  Backend::CallId second = 0;
  const auto held = calls.lease(handle, first);
  REQUIRE(held->wait_until_begun());
  const auto waiting = calls.lease(handle, second);
  calls.backend.end_lease(second);
  CHECK(waiting->error_code() == ErrorCode::kCancelled);
  CHECK_FALSE(waiting->begun());
  CHECK(calls.backend.use_of(handle)->waiting == 0);
  CHECK(calls.leased_run(first, "@n=2")->outcome().error == nullptr);
}

TEST_CASE("a call in a lease that has ended is refused, and so is a lease of a handle that nobody has") {
  Calls calls;
  const auto handle = calls.init();
  Backend::CallId lease = 0;
  const auto held = calls.lease(handle, lease);
  REQUIRE(held->wait_until_begun());
  calls.backend.end_lease(lease);
  held->outcome();
  CHECK(calls.leased_run(lease, "@n=2")->error_code() == ErrorCode::kUnknownHandle);
  Backend::CallId other = 0;
  CHECK(calls.lease("llm-99", other)->error_code() == ErrorCode::kUnknownHandle);
  calls.backend.end_lease(other);
  calls.backend.end_lease(lease);
}

TEST_CASE("rkllm_destroy ends a lease with its run") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  Backend::CallId lease = 0;
  const auto held = calls.lease(handle, lease);
  REQUIRE(held->wait_until_begun());
  const auto running = calls.leased_run(lease, "@n=100000");
  running->wait_for_tokens(1);
  CHECK(calls.start("rkllm_destroy", Json{{"handle", handle}})->outcome().error == nullptr);
  running->outcome();
  CHECK(held->outcome().error == nullptr);
  CHECK(calls.leased_run(lease, "@n=2")->error_code() == ErrorCode::kUnknownHandle);
  CHECK_FALSE(calls.backend.use_of(handle));
}

TEST_CASE("destroying a handle in its turn waits for the lease that is held") {
  Calls calls;
  const auto handle = calls.init();
  Backend::CallId lease = 0;
  const auto held = calls.lease(handle, lease);
  REQUIRE(held->wait_until_begun());
  std::promise<std::exception_ptr> destroyed;
  REQUIRE(calls.backend.destroy_in_order(handle, [&](const std::exception_ptr& error) { destroyed.set_value(error); }));
  CHECK_FALSE(calls.backend.use_of(handle));
  CHECK_FALSE(calls.backend.destroy_in_order(handle, [](const std::exception_ptr&) {}));
  CHECK(calls.leased_run(lease, "@n=2")->outcome().error == nullptr);
  auto ended = destroyed.get_future();
  CHECK(ended.wait_for(std::chrono::seconds(0)) == std::future_status::timeout);
  calls.backend.end_lease(lease);
  REQUIRE(ended.wait_for(kPatience) == std::future_status::ready);
  CHECK(ended.get() == nullptr);
  CHECK(calls.backend.handles().empty());
}

TEST_CASE("calls outside of leases are counted as foreign changes, those that only look and those of leases are not") {
  Calls calls;
  const auto handle = calls.init();
  const auto changes = [&] { return calls.backend.use_of(handle)->foreign_changes; };
  const auto at_first = changes();
  Backend::CallId lease = 0;
  const auto held = calls.lease(handle, lease);
  REQUIRE(held->wait_until_begun());
  calls.leased_run(lease, "@n=2")->outcome();
  calls.backend.end_lease(lease);
  held->outcome();
  calls.start("rkllm_is_running", Json{{"handle", handle}})->outcome();
  CHECK(changes() == at_first);
  calls.run(handle, "@n=2")->outcome();
  CHECK(changes() == at_first + 1);
}

TEST_CASE("one access token has at most its share of a queue, and everybody without one shares the rest") {
  Calls calls({.handles = 2, .queued_per_handle = 4, .counts = nullptr, .queued_per_holder = 1});
  const auto handle = calls.init();
  Backend::CallId held = 0;
  Backend::CallId other = 0;
  const auto first = calls.lease(handle, held, "ann");
  REQUIRE(first->wait_until_begun());
  const auto waits = calls.lease(handle, other, "ann");
  Backend::CallId refused = 0;
  CHECK(calls.lease(handle, refused, "ann")->error_code() == ErrorCode::kQueueFull);
  const auto bob = calls.lease(handle, refused, "bob");
  const auto nobody = calls.run(handle, "@n=1");
  const auto nobody_either = calls.run(handle, "@n=1");
  CHECK(calls.run(handle, "@n=1")->error_code() == ErrorCode::kQueueFull);
  calls.backend.end_lease(refused);
  calls.backend.end_lease(other);
  calls.backend.end_lease(held);
  CHECK(nobody->outcome().error == nullptr);
  CHECK(nobody_either->outcome().error == nullptr);
}

TEST_CASE("the file of a model is looked at before and after its load, and at no other time") {
  Calls calls;
  std::vector<std::string> looked_at;  // the load's end is waited for before it is read
  calls.backend.identify_files_by([&looked_at](const std::string& path) {
    looked_at.push_back(path);
    return "contents of " + path;
  });
  const auto handle = calls.init();
  CHECK(calls.run(handle, "@n=2")->outcome().error == nullptr);
  CHECK(calls.backend.use_of(handle)->file == std::string("contents of ") + RKLLM_FAST_MODEL);
  CHECK(looked_at == std::vector<std::string>(2, RKLLM_FAST_MODEL));
}

TEST_CASE("a file that another one takes the place of while it is loaded is not certain") {
  Calls calls;
  int looks = 0;
  calls.backend.identify_files_by([&looks](const std::string&) { return std::to_string(++looks); });
  CHECK(calls.backend.use_of(calls.init())->file.empty());
  CHECK(looks == 2);
}

TEST_CASE("a handle that the server loads does not count where a call names none") {
  Calls calls;
  const auto loaded = std::make_shared<Recorder>();
  calls.backend.start({.method = &method_named("rkllm_init"),
                       .params = Json{{"param", {{"model_path", RKLLM_FAST_MODEL}}}},
                       .source = {.id = {}, .peer = {}, .model = "small"},
                       .observer = loaded});
  REQUIRE_FALSE(loaded->outcome().error);
  CHECK(calls.backend.handles().at(0).model == "small");
  const Json input{{"rkllm_input", {{"prompt_input", "@n=2"}}}};
  const auto refused = calls.start("rkllm_run", input);
  CHECK(refused->error_code() == ErrorCode::kUnknownHandle);
  const RpcError why = as_rpc_error(refused->outcome().error);
  CHECK(why.data() == Json{{"handles", {"llm-1"}}});
  CHECK_THAT(why.what(), has_text("name one of those of models that were loaded by their names: llm-1"));
  calls.init();
  CHECK(calls.start("rkllm_run", input)->outcome().error == nullptr);
  CHECK(calls.backend.use_of(loaded->outcome().handle)->foreign_changes == 0);
}

TEST_CASE("shutting down ends leases, held or waiting, and their runs") {
  Calls calls;
  const auto handle = calls.init(kPaced);
  Backend::CallId lease = 0;
  Backend::CallId behind = 0;
  const auto held = calls.lease(handle, lease);
  REQUIRE(held->wait_until_begun());
  const auto running = calls.leased_run(lease, "@n=100000");
  running->wait_for_tokens(1);
  const auto waiting = calls.lease(handle, behind);
  CHECK(calls.backend.shut_down(std::chrono::steady_clock::now() + kPatience));
  CHECK(running->done());
  CHECK(held->done());
  CHECK(waiting->error_code() == ErrorCode::kCancelled);
  CHECK(calls.leased_run(lease, "@n=2")->error_code() == ErrorCode::kUnknownHandle);
}

TEST_CASE("leases come and go from many threads, and every run is its own lease's") {
  Calls calls;
  const auto handle = calls.init();
  constexpr int kThreads = 4;
  constexpr int kTimes = 10;
  std::atomic<int> holding{0};
  std::atomic<int> overlaps{0};
  std::vector<std::thread> threads;
  for (int number = 0; number < kThreads; ++number) {
    threads.emplace_back([&] {
      for (int time = 0; time < kTimes; ++time) {
        Backend::CallId lease = 0;
        const auto held = calls.lease(handle, lease);
        if (!held->wait_until_begun()) ++overlaps;
        if (++holding > 1) ++overlaps;
        const auto run = calls.leased_run(lease, "@n=3");
        if (!run->wait() || run->tokens() != 3) ++overlaps;
        --holding;
        calls.backend.end_lease(lease);
        if (!held->wait()) ++overlaps;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(overlaps == 0);
  CHECK_FALSE(calls.backend.use_of(handle)->in_use);
}
