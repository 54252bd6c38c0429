// What every Backend keeps of what backend.hpp promises, whoever stands in front of whom.
#include "app/model_presets.hpp"
#include "backend/unavailable_backend.hpp"
#include "jsonrpc/envelope.hpp"
#include "model_bench.hpp"
#include "models/named_backend.hpp"
#include "support/catch.hpp"
#include "support/waiting_loop.hpp"
#include "watch/watched_backend.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace rkllm_mcp::test {
namespace {

using Bench = ModelBench<WaitingLoop>;

// Counts how often a call ends, and whether that was within start().
class Counting final : public CallObserver {
 public:
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override {
    if (std::this_thread::get_id() == starting_.load()) ended_inside_ = true;
    has_failed_ = outcome.error != nullptr;
    ++ends_;
  }
  void starts() { starting_ = std::this_thread::get_id(); }
  void has_started() { starting_ = std::thread::id(); }

  int ends() const { return ends_; }
  bool ended_inside() const { return ended_inside_; }
  bool has_failed() const { return has_failed_; }

 private:
  std::atomic<std::thread::id> starting_{};
  std::atomic<int> ends_{0};
  std::atomic<bool> ended_inside_{false};
  std::atomic<bool> has_failed_{false};
};

struct Contract {
  Bench bench{presets({"small"})};
  Metrics metrics;
  std::shared_ptr<Backend> backend;
  std::string_view name;
  bool answers = true;  // else every call fails

  explicit Contract(int which) {
    switch (which) {
      case 0:
        name = "QueuedBackend";
        backend = bench.queue;
        break;
      case 1:
        name = "UnavailableBackend";
        backend = std::make_shared<UnavailableBackend>(RpcError(ErrorCode::kRuntimeUnavailable, "none"));
        answers = false;
        break;
      case 2:
        name = "NamedBackend";
        backend = std::make_shared<NamedBackend>(bench.loop, bench.models, *bench.queue);
        break;
      case 3:
        name = "PresetBackend";
        backend = std::make_shared<PresetBackend>(
            bench.loop, [] { return Json::object(); }, [this]() -> Backend& { return *bench.queue; });
        break;
      case 4:
        name = "NoFunctions";
        backend = std::make_shared<NoFunctions>(bench.loop);
        answers = false;
        break;
      default:
        name = "WatchedBackend";
        backend = std::make_shared<WatchedBackend>(*bench.queue, metrics, [](const auto&) {});
    }
  }

  std::pair<Backend::CallId, std::shared_ptr<Counting>> start(std::string_view method, Json params) const {
    const auto observer = std::make_shared<Counting>();
    const auto methods = Bench::methods();
    const auto found = std::ranges::find(methods, method, &Method::name);
    observer->starts();
    const auto id = backend->start({.method = &*found, .params = std::move(params), .observer = observer});
    observer->has_started();
    return {id, observer};
  }
  std::pair<Backend::CallId, std::shared_ptr<Counting>> load() const {
    return start("rkllm_init", Json{{"param", {{"model_path", "/models/m.rkllm"}}}});
  }
  bool has_ended(const Counting& call) {
    return bench.until([&] { return call.ends() > 0; });
  }
};

constexpr int kBackends = 6;

}  // namespace

TEST_CASE("a call of any backend ends once, and never inside start()") {
  for (int which = 0; which < kBackends; ++which) {
    Contract contract(which);
    INFO(contract.name);
    const auto [id, call] = contract.load();
    REQUIRE(contract.has_ended(*call));
    contract.bench.settle();
    CHECK(call->ends() == 1);
    CHECK_FALSE(call->ended_inside());
    CHECK(call->has_failed() == !contract.answers);
  }
}

TEST_CASE("what is wrong with a call of any backend comes through its observer, never from inside start()") {
  for (int which = 0; which < kBackends; ++which) {
    Contract contract(which);
    INFO(contract.name);
    for (const Json& params : {Json{{"handle", "llm-unknown"}}, Json{{"handle", 5}}, Json::object()}) {
      INFO(params);
      const auto [id, call] = contract.start("rkllm_clear_kv_cache", params);
      REQUIRE(contract.has_ended(*call));
      contract.bench.settle();
      CHECK(call->ends() == 1);
      CHECK_FALSE(call->ended_inside());
      CHECK(call->has_failed());
    }
  }
}

TEST_CASE("no backend minds ids of calls that it does not know, or that have ended") {
  for (int which = 0; which < kBackends; ++which) {
    Contract contract(which);
    INFO(contract.name);
    const RpcError why(ErrorCode::kQueueFull, "waited too long");
    for (const Backend::CallId unknown : {Backend::CallId{0}, Backend::CallId{12345}, ~Backend::CallId{0}}) {
      contract.backend->cancel(unknown);
      contract.backend->give_up(unknown, why);
    }
    const auto [id, call] = contract.load();
    REQUIRE(contract.has_ended(*call));
    contract.backend->cancel(id);
    contract.backend->give_up(id, why);
    contract.bench.settle();
    CHECK(call->ends() == 1);
  }
}

TEST_CASE("calls of one backend have ids of their own") {
  for (int which = 0; which < kBackends; ++which) {
    Contract contract(which);
    INFO(contract.name);
    const auto [first, one] = contract.load();
    const auto [second, other] = contract.load();
    if (contract.answers) CHECK(first != second);
    CHECK(contract.has_ended(*one));
    CHECK(contract.has_ended(*other));
  }
}

}  // namespace rkllm_mcp::test
