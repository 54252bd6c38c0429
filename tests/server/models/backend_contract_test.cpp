// What every Backend keeps of what backend.hpp promises, whoever stands in front of whom.
#include "backend/unavailable_backend.hpp"
#include "jsonrpc/envelope.hpp"
#include "model_bench.hpp"
#include "models/named_backend.hpp"
#include "support/catch.hpp"
#include "support/waiting_loop.hpp"
#include "watch/watched_backend.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Bench = ModelBench<WaitingLoop>;

using Course = std::vector<std::string>;

// Whether this thread is inside of a function of a backend.
thread_local bool is_inside_backend = false;

// As `made` returns, of a backend.
template <class Made>
auto inside_backend(const Made& made) {
  struct Inside {
    Inside() { is_inside_backend = true; }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() { is_inside_backend = false; }
  };
  const Inside inside;
  return made();
}

// Notes what it is told of its call, each with " inside" if it came from inside of a function of the backend.
class Counting final : public CallObserver {
 public:
  void on_queued(std::size_t calls_before) noexcept override { note("queued " + std::to_string(calls_before)); }
  void on_begun(std::optional<std::uint64_t>) noexcept override { note("begun"); }
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override { note("token"); }
  void on_rows(const FloatRows&) noexcept override { note("rows"); }
  void on_done(CallOutcome outcome) noexcept override {
    const std::lock_guard lock(mutex_);
    outcome_ = std::move(outcome);
    told_.push_back(inside_or_not("done"));
  }
  void stop() noexcept override { note("stop"); }

  Course told() const {
    const std::lock_guard lock(mutex_);
    return told_;
  }
  bool was_told(const std::string& what) const { return std::ranges::count(told(), what) > 0; }
  auto ends() const { return std::ranges::count(told(), "done") + std::ranges::count(told(), "done inside"); }
  bool ended_inside() const { return was_told("done inside"); }
  // Once it has ended:
  bool has_failed() const { return outcome_.error != nullptr; }
  const CallOutcome& outcome() const { return outcome_; }

 private:
  static std::string inside_or_not(const std::string& what) { return is_inside_backend ? what + " inside" : what; }
  void note(const std::string& what) {
    const std::lock_guard lock(mutex_);
    told_.push_back(inside_or_not(what));
  }

  mutable std::mutex mutex_;
  Course told_;
  CallOutcome outcome_;
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
        backend =
            std::make_shared<NamedBackend>(bench.loop, bench.models, [this]() -> Backend& { return *bench.queue; });
        break;
      case 3:
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
    CallRequest request{.method = &*found, .params = std::move(params), .observer = observer};
    const auto id = request.id;
    CHECK(inside_backend([&] { return backend->start(std::move(request)); }) == id);
    return {id, observer};
  }
  void cancel(Backend::CallId id) const {
    inside_backend([&] { backend->cancel(id); });
  }
  void give_up(Backend::CallId id) const {
    inside_backend([&] { backend->give_up(id, RpcError(ErrorCode::kQueueFull, "waited too long")); });
  }
  std::pair<Backend::CallId, std::shared_ptr<Counting>> load() const {
    return start("rkllm_init", Json{{"param", {{"model_path", "/models/m.rkllm"}}}});
  }
  bool has_ended(const Counting& call) {
    return bench.until([&] { return call.ends() > 0; });
  }
  // The handle of a model that has been loaded.
  std::string loaded() {
    const auto [id, call] = load();
    REQUIRE(has_ended(*call));
    return call->outcome().handle;
  }
};

constexpr int kBackends = 5;

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
    for (const Backend::CallId unknown : {Backend::CallId{0}, Backend::CallId{12345}, ~Backend::CallId{0}}) {
      contract.cancel(unknown);
      contract.give_up(unknown);
    }
    const auto [id, call] = contract.load();
    REQUIRE(contract.has_ended(*call));
    contract.cancel(id);
    contract.give_up(id);
    contract.bench.settle();
    CHECK(call->ends() == 1);
  }
}

TEST_CASE("calls of one backend have ids of their own: those of their requests") {
  for (int which = 0; which < kBackends; ++which) {
    Contract contract(which);
    INFO(contract.name);
    const auto [first, one] = contract.load();
    const auto [second, other] = contract.load();
    CHECK(first != second);
    CHECK(contract.has_ended(*one));
    CHECK(contract.has_ended(*other));
  }
}

TEST_CASE("how many calls are before a call may be told from inside any backend, of it and of others, and no end is") {
  for (const bool is_given_up : {false, true}) {
    for (int which = 0; which < kBackends; ++which) {
      Contract contract(which);
      INFO(contract.name);
      if (!contract.answers) continue;  // nothing waits there
      const std::string handle = contract.loaded();
      const auto lease = std::make_shared<Counting>();  // as long as it is held, calls wait
      const auto held = contract.bench.queue->lease(handle, {.params = {}, .observer = lease});
      REQUIRE(contract.bench.until([&] { return lease->was_told("begun"); }));

      const auto [first, one] = contract.start("rkllm_clear_kv_cache", Json{{"handle", handle}});
      const auto [second, other] = contract.start("rkllm_clear_kv_cache", Json{{"handle", handle}});
      CHECK(one->told() == Course{"queued 1 inside"});
      CHECK(other->told() == Course{"queued 2 inside"});
      is_given_up ? contract.give_up(first) : contract.cancel(first);
      CHECK(other->told() == Course{"queued 2 inside", "queued 1 inside"});
      REQUIRE(contract.has_ended(*one));
      CHECK(one->told() == Course{"queued 1 inside", "done"});
      CHECK(one->has_failed());
      contract.bench.queue->end_lease(held);
      REQUIRE(contract.has_ended(*other));
      CHECK(other->told() == Course{"queued 2 inside", "queued 1 inside", "done"});
      CHECK_FALSE(other->has_failed());
    }
  }
}

TEST_CASE("that a run is being stopped may be told from inside any backend, its beginning and its end are not") {
  for (const bool is_destroyed : {false, true}) {
    for (int which = 0; which < kBackends; ++which) {
      Contract contract(which);
      INFO(contract.name);
      if (!contract.answers) continue;  // nothing runs there
      const std::string handle = contract.loaded();
      contract.bench.board.hold_runs();
      const auto [id, run] = contract.start("rkllm_run", Json{{"handle", handle}});
      REQUIRE(contract.bench.until([&call = *run] { return call.was_told("begun"); }));
      if (is_destroyed) {
        const auto [other, end] = contract.start("rkllm_destroy", Json{{"handle", handle}});
        REQUIRE(contract.has_ended(*end));
      } else {
        contract.cancel(id);
      }
      REQUIRE(contract.has_ended(*run));
      CHECK(run->told() == Course{"begun", "stop inside", "done"});
      CHECK(run->outcome().aborted);
    }
  }
}

}  // namespace rkllm_mcp::test
