#include "models/named_backend.hpp"
#include "jsonrpc/envelope.hpp"
#include "model_bench.hpp"
#include "support/catch.hpp"
#include "support/waiting_loop.hpp"

#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>

namespace rkllm_mcp::test {
namespace {

using Bench = ModelBench<WaitingLoop>;

class Ended final : public CallObserver {
 public:
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
  }
  bool done() const {
    const std::lock_guard lock(mutex_);
    return outcome_.has_value();
  }
  std::string handle() const {
    const std::lock_guard lock(mutex_);
    return outcome_->handle;
  }
  std::optional<ErrorCode> error() const {
    const std::lock_guard lock(mutex_);
    if (!outcome_ || !outcome_->error) return std::nullopt;
    return as_rpc_error(outcome_->error).code();
  }

 private:
  mutable std::mutex mutex_;
  std::optional<CallOutcome> outcome_;
};

struct Calling {
  explicit Calling(Bench& with) : bench(with) {}

  std::shared_ptr<Ended> call(const std::string& handle, Backend::CallId* id = nullptr) {
    const auto ended = std::make_shared<Ended>();
    for (const Method& method : Bench::methods()) {
      if (method.name != "rkllm_clear_kv_cache") continue;
      const auto call = backend.start(
          {.method = &method, .params = Json{{"handle", handle}, {"keep_system_prompt", 1}}, .observer = ended});
      if (id != nullptr) *id = call;
    }
    return ended;
  }
  bool has_ended(const std::shared_ptr<Ended>& call) {
    return bench.until([&] { return call->done(); });
  }

  Bench& bench;
  NamedBackend backend{bench.loop, bench.models, [this]() -> Backend& { return *bench.queue; }};
};

}  // namespace

TEST_CASE("a call that names a model loads it, and is made on its handle") {
  Bench bench(presets({"a"}));
  Calling calling(bench);
  const auto call = calling.call("a");
  REQUIRE(calling.has_ended(call));
  CHECK_FALSE(call->error());
  CHECK(bench.board.calls() == std::vector<std::string>{bench.models.handle_of("a") + " rkllm_clear_kv_cache"});
  const auto again = calling.call(bench.models.handle_of("a"));
  REQUIRE(calling.has_ended(again));
  CHECK(bench.board.loads() == 1);
  CHECK(bench.until([&] { return bench.models.find("a", {})->expires_s.has_value(); }));  // nobody uses it any more
}

TEST_CASE("a call that names a model which is loaded is in its handle's queue at once, unless others wait for it") {
  Bench bench(presets({"a"}));
  Calling calling(bench);
  const auto held = bench.ask("a");
  REQUIRE(bench.granted(held));
  const auto waiting = [&bench] { return bench.queue->use_of(bench.models.handle_of("a"))->waiting; };
  const auto call = calling.call("a");
  CHECK(waiting() == 1);

  const auto turn = bench.ask("a");  // is not in the queue yet
  const auto later = calling.call("a");
  CHECK(waiting() == 1);
  REQUIRE(bench.until([&] { return waiting() == 3; }));
  held->lease.reset();
  REQUIRE(calling.has_ended(call));
  REQUIRE(bench.granted(turn));
  bench.settle();
  CHECK_FALSE(later->done());
  turn->lease.reset();
  CHECK(calling.has_ended(later));
}

TEST_CASE("a call that names a model whose handle somebody has destroyed, or whose worker has died, loads it anew") {
  Bench bench(presets({"a"}));
  Calling calling(bench);
  REQUIRE(calling.has_ended(calling.call("a")));
  const std::string handle = bench.models.handle_of("a");
  SECTION("destroyed") { bench.queue->destroy_in_order(handle, {}); }
  SECTION("died") { bench.board.kill(handle); }
  const auto call = calling.call("a");
  REQUIRE(calling.has_ended(call));
  CHECK_FALSE(call->error());
  CHECK(bench.board.loads() == 2);
}

TEST_CASE("a call that names a model which is being unloaded loads it again") {
  Bench bench(presets({"a"}));
  Calling calling(bench);
  const auto held = bench.ask("a");
  REQUIRE(bench.granted(held));
  bool is_unloaded = false;
  bench.models.unload("a", {}, [&](const std::optional<chat::TurnError>&) { is_unloaded = true; });
  const auto call = calling.call("a");
  held->lease.reset();
  REQUIRE(calling.has_ended(call));
  CHECK(is_unloaded);
  CHECK_FALSE(call->error());
  CHECK(bench.board.loads() == 2);
}

TEST_CASE(
    "a call that names a model which the settings are having loaded waits for that, also where it is there already") {
  Bench bench(presets({"a"}));
  Calling calling(bench);
  const bool is_there = GENERATE(false, true);
  if (is_there) REQUIRE(calling.has_ended(calling.call("a")));
  const auto loads = bench.board.loads();
  bench.models.autoload_begun("a");
  Backend::CallId first = 0;
  const auto cancelled_call = calling.call("a", &first);
  const auto call = calling.call("a");
  bench.settle();
  calling.backend.cancel(first);
  REQUIRE(calling.has_ended(cancelled_call));
  CHECK(cancelled_call->error() == ErrorCode::kCancelled);
  CHECK_FALSE(call->done());
  SECTION("which ends well") {
    const auto made = std::make_shared<Ended>();
    calling.backend.start({.method = find_method(Bench::methods(), HandleRole::kCreates),
                           .params = Json{{"model", "a"}},
                           .observer = made});
    REQUIRE(calling.has_ended(made));
    const std::string handle = made->handle();
    bench.models.autoload_ended("a", handle);
    REQUIRE(calling.has_ended(call));
    CHECK(bench.board.calls().back() == handle + " rkllm_clear_kv_cache");
    CHECK(bench.board.loads() == loads + 1);
    REQUIRE(calling.has_ended(calling.call("a")));
    CHECK(bench.board.calls().back() == handle + " rkllm_clear_kv_cache");
  }
  SECTION("which fails") {
    bench.models.autoload_ended("a", "");
    REQUIRE(calling.has_ended(call));
    CHECK(bench.board.loads() == 1);
  }
  SECTION("and the runtime is replaced meanwhile") {
    bench.use_new_runtime();
    REQUIRE(calling.has_ended(call));
    CHECK(bench.queue->handles().size() == 1);
  }
  CHECK_FALSE(call->error());
}

TEST_CASE("a call that creates a handle is made with what its preset says, and refused where there is no such preset") {
  Bench bench(presets({"a"}));
  Calling calling(bench);
  const Method& init = *find_method(Bench::methods(), HandleRole::kCreates);
  const auto made = std::make_shared<Ended>();
  calling.backend.start({.method = &init, .params = Json{{"model", "a"}}, .observer = made});
  REQUIRE(calling.has_ended(made));
  CHECK_FALSE(made->error());
  CHECK(bench.queue->handles().at(0).created_with == Json{{"param", {{"model_path", "/models/a.rkllm"}}}});

  const auto refused = std::make_shared<Ended>();
  calling.backend.start({.method = &init, .params = Json{{"model", "b"}}, .observer = refused});
  CHECK_FALSE(refused->done());
  REQUIRE(calling.has_ended(refused));
  CHECK(refused->error() == ErrorCode::kInvalidParams);
}

TEST_CASE("a name that nobody has is an unknown handle, and a model that cannot be loaded is an error of the call") {
  Bench bench(presets({"broken"}));
  Calling calling(bench);
  const auto unknown = calling.call("nobody");
  const auto broken = calling.call("broken");
  REQUIRE(calling.has_ended(unknown));
  REQUIRE(calling.has_ended(broken));
  CHECK(unknown->error() == ErrorCode::kUnknownHandle);
  CHECK(broken->error() == ErrorCode::kCallFailed);
}

TEST_CASE("a call that waits for its model can be cancelled and given up, and the others are not touched") {
  Bench bench(presets({"a"}));
  Calling calling(bench);
  bench.board.hold_loads();
  Backend::CallId first = 0;
  Backend::CallId second = 0;
  const auto cancelled_call = calling.call("a", &first);
  const auto given_up = calling.call("a", &second);
  const auto kept = calling.call("a");
  REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
  calling.backend.cancel(first);
  calling.backend.give_up(second, RpcError(ErrorCode::kQueueFull, "too long"));
  REQUIRE(calling.has_ended(cancelled_call));
  REQUIRE(calling.has_ended(given_up));
  CHECK(cancelled_call->error() == ErrorCode::kCancelled);
  CHECK(given_up->error() == ErrorCode::kQueueFull);
  CHECK_FALSE(kept->done());
  bench.board.let_loads_go();
  REQUIRE(calling.has_ended(kept));
  CHECK_FALSE(kept->error());
  CHECK(bench.board.calls().size() == 1);
}

TEST_CASE("a call that cannot be handed on when its model is loaded ends with that error") {
  class Throwing final : public Backend {
    CallId start(CallRequest /*request*/) override { throw std::bad_alloc(); }
    void cancel(CallId /*id*/) override {}
    void give_up(CallId /*id*/, const RpcError& /*why*/) override {}
  };
  Bench bench(presets({"a"}));
  Throwing next;
  NamedBackend backend(bench.loop, bench.models, [&next]() -> Backend& { return next; });
  const auto ended = std::make_shared<Ended>();
  backend.start(
      {.method = find_method(Bench::methods(), HandleRole::kUses), .params = Json{{"handle", "a"}}, .observer = ended});
  REQUIRE(bench.until([&] { return ended->done(); }));
  CHECK(ended->error() == no_memory().code());
}

TEST_CASE("a call that waits for a model when the runtime is replaced is made by the new one") {
  Bench bench(presets({"a"}));
  Calling calling(bench);
  const auto call = calling.call("a");
  const auto before = bench.queue;
  bench.use_new_runtime();
  REQUIRE(calling.has_ended(call));
  CHECK_FALSE(call->error());
  CHECK(bench.queue->handles().size() == 1);
  CHECK(before->handles().empty());
}

}  // namespace rkllm_mcp::test
