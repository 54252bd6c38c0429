// Calls in a lease of a handle. Their reader is in run_reader_test.cpp.
#include "models/leased_calls.hpp"

#include "jsonrpc/envelope.hpp"
#include "model_bench.hpp"
#include "support/catch.hpp"
#include "support/waiting_loop.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Bench = ModelBench<WaitingLoop>;

// Tells when a lease has been granted, on whatever thread.
class GrantWatch final : public CallObserver {
 public:
  void on_begun(std::optional<std::uint64_t>) noexcept override { is_granted = true; }
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override {}

  std::atomic<bool> is_granted{false};
};

// A model that is loaded, and a lease of its handle.
class LeaseBench {
 public:
  LeaseBench() {
    bool is_loaded = false;
    const auto place = bench.load({.model = "a"}, [&](bool loaded) { is_loaded = loaded; });
    REQUIRE(bench.until([&] { return is_loaded; }));
    handle = bench.models.handle_of("a");
    const auto watch = std::make_shared<GrantWatch>();
    lease = bench.queue->lease(handle, {.params = Json::object(), .observer = watch});
    REQUIRE(bench.until([&] { return watch->is_granted.load(); }));
    ModelRuntime runtime;
    runtime.owner = bench.queue;
    runtime.queue = bench.queue.get();
    runtime.methods = Bench::methods();
    runtime.version = "1.3.0";
    runtime.watched = [this](CallRequest request) {
      watched.emplace_back(request.method->name);
      return request;
    };
    calls = std::make_unique<LeasedCalls>(bench.loop, runtime, usual_limits<TokenStream::Options>(), lease);
  }

  LeaseBench(const LeaseBench&) = delete;
  LeaseBench& operator=(const LeaseBench&) = delete;
  ~LeaseBench() { bench.queue->end_lease(lease); }

  void call(std::string_view name, Json params = Json::object()) {
    is_inside_ = true;
    calls->call(name, std::move(params), [this](const CallOutcome& outcome) {
      note(outcome.error ? std::optional(as_rpc_error(outcome.error)) : std::nullopt);
    });
    is_inside_ = false;
  }
  void run() {
    is_inside_ = true;
    calls->run(
        {{"rkllm_input", {{"prompt_input", "Hi"}}}}, [](std::string_view) {},
        [this](const CallOutcome& outcome, std::uint64_t) {
          note(outcome.error ? std::optional(as_rpc_error(outcome.error)) : std::nullopt);
        });
    is_inside_ = false;
  }
  bool has_ends(std::size_t count) {
    return bench.until([&] { return ends.size() >= count; });
  }

  Bench bench{presets({"a"})};
  std::string handle;
  Backend::CallId lease = 0;
  std::unique_ptr<LeasedCalls> calls;
  std::vector<std::optional<RpcError>> ends;
  std::vector<std::string> watched;
  std::function<void()> when_ended;
  bool was_told_wrongly = false;  // from inside the call, or on another thread

 private:
  void note(std::optional<RpcError> error) {
    if (is_inside_ || std::this_thread::get_id() != thread_) was_told_wrongly = true;
    ends.push_back(std::move(error));
    if (when_ended) when_ended();
  }

  bool is_inside_ = false;
  const std::thread::id thread_ = std::this_thread::get_id();
};

constexpr std::string_view kClear = "rkllm_clear_kv_cache";
constexpr std::string_view kTemplate = "rkllm_set_chat_template";

}  // namespace

TEST_CASE("calls in a lease are made in order on its handle, and each outcome comes once, later and on the loop") {
  LeaseBench with;
  with.call(kTemplate);
  with.call(kClear);
  with.run();
  CHECK(with.ends.empty());
  REQUIRE(with.has_ends(3));
  with.bench.settle();
  CHECK(with.ends.size() == 3);
  for (const auto& error : with.ends) CHECK_FALSE(error);
  CHECK_FALSE(with.was_told_wrongly);
  const std::vector<std::string> names{std::string(kTemplate), std::string(kClear), "rkllm_run"};
  CHECK(with.watched == names);
  std::vector<std::string> made;
  for (const std::string& name : names) made.push_back(with.handle + " " + name);
  CHECK(with.bench.board.calls() == made);
}

TEST_CASE("a call in a lease that this runtime does not have fails later, with the version that it is") {
  LeaseBench with;
  CHECK(with.calls->method("rkllm_fly") == nullptr);
  with.call("rkllm_fly");
  CHECK(with.ends.empty());
  REQUIRE(with.has_ends(1));
  REQUIRE(with.ends[0]);
  CHECK(with.ends[0]->code() == ErrorCode::kUnsupported);
  CHECK(with.ends[0]->what() == std::string("rkllm_fly does not exist in runtime 1.3.0"));
  CHECK(with.bench.board.calls().empty());
  CHECK_FALSE(with.was_told_wrongly);
}

TEST_CASE("calls in a lease that has ended are refused later, and those on a model that has died with why it has") {
  LeaseBench with;
  auto code = ErrorCode::kUnknownHandle;
  std::string words = "the model is not loaded any more";
  SECTION("ended") { with.bench.queue->end_lease(with.lease); }
  SECTION("died") {
    with.bench.board.kill(with.handle);
    REQUIRE(with.bench.until([&] { return !with.bench.queue->use_of(with.handle); }));
    code = ErrorCode::kRuntimeUnavailable;
    words = "the worker died";
  }
  with.call(kClear);
  with.run();
  CHECK(with.ends.empty());
  REQUIRE(with.has_ends(2));
  for (const auto& error : with.ends) {
    REQUIRE(error);
    CHECK(error->code() == code);
    CHECK(error->what() == words);
  }
  CHECK(with.bench.board.calls().empty());
  CHECK_FALSE(with.was_told_wrongly);
}

TEST_CASE("nothing is told of calls in a lease after the end of the object that has begun them") {
  LeaseBench with;
  SECTION("which ends from outside") {
    with.call("rkllm_fly");
    with.call(kClear);
    with.run();
    with.calls.reset();
  }
  SECTION("which ends in what it tells first") {
    with.when_ended = [&with] { with.calls.reset(); };
    with.call(kClear);
    with.call(kTemplate);
    with.call("rkllm_fly");
    with.run();
    REQUIRE(with.has_ends(1));
    with.ends.clear();
  }
  SECTION("which ends in what it tells of the run") {
    with.when_ended = [&with] { with.calls.reset(); };
    with.run();
    REQUIRE(with.has_ends(1));
    with.ends.clear();
  }
  with.bench.queue->end_lease(with.lease);
  REQUIRE(with.bench.until([&] { return !with.bench.queue->use_of(with.handle)->in_use; }));
  with.bench.settle();
  CHECK(with.ends.empty());
}

TEST_CASE("a lease without a run can be told to abort, to hold and to go on, which is nothing") {
  LeaseBench with;
  with.calls->abort();
  with.calls->hold();
  with.calls->go_on();
  with.run();
  REQUIRE(with.has_ends(1));
  with.calls->abort();  // it has ended
  with.calls->go_on();
  with.run();
  REQUIRE(with.has_ends(2));
  CHECK_FALSE(with.ends[1]);
  with.bench.settle();
  CHECK(with.ends.size() == 2);
}

TEST_CASE("the end of a run in a lease waits while it is held") {
  LeaseBench with;
  with.run();
  with.calls->hold();
  with.call(kClear);  // is made after the run
  REQUIRE(with.has_ends(1));
  with.bench.settle();
  CHECK(with.ends.size() == 1);
  with.calls->go_on();
  CHECK(with.ends.size() == 1);
  REQUIRE(with.has_ends(2));
  CHECK_FALSE(with.was_told_wrongly);
}

}  // namespace rkllm_mcp::test
