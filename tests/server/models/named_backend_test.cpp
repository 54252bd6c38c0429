#include "models/named_backend.hpp"
#include "app/model_presets.hpp"
#include "jsonrpc/envelope.hpp"
#include "model_bench.hpp"
#include "support/catch.hpp"
#include "support/waiting_loop.hpp"

#include <memory>
#include <mutex>
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
  PresetBackend current{bench.loop, [] { return Json::object(); }, [this]() -> Backend& { return *bench.queue; }};
  NamedBackend backend{bench.loop, bench.models, current};
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
