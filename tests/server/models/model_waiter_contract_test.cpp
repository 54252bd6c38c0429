// What models/model_slot.hpp wants of whoever waits for a model (ModelWaiter), held against every kind of them: a place
// for a turn, one for embeddings, one of who only wants the model loaded, and a call that names the model.
#include "models/model_slot.hpp"

#include "jsonrpc/envelope.hpp"
#include "model_bench.hpp"
#include "models/named_backend.hpp"
#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using std::chrono::seconds;
using Bench = ModelBench<simulation::SimBench>;
using Ends = std::vector<std::string>;

constexpr seconds kBeyondKeepAlive{100'000};

// ModelPlace
template <typename Lease>
class WaitsForPlace {
 public:
  static constexpr bool kUsesModel = !std::is_same_v<Lease, chat::OnlyLoaded>;

  WaitsForPlace(Bench& bench, const std::string& model, const std::string& holder = {}) {
    chat::PlaceEvents<Lease> events;
    events.granted = [this](std::unique_ptr<Lease> granted) {
      lease_ = std::move(granted);
      ends.emplace_back("ready");
    };
    events.failed = [this](const chat::TurnError& error) { ends.push_back(std::string("failed: ") + error.what()); };
    chat::PlaceWish wish{.model = model, .asker = {.name = holder}};
    if constexpr (std::is_same_v<Lease, chat::ModelLease>) {
      place_ = bench.models.ask(std::move(wish), std::move(events));
    } else if constexpr (std::is_same_v<Lease, chat::EmbeddingLease>) {
      place_ = bench.models.ask_for_embeddings(std::move(wish), std::move(events));
    } else {
      place_ = bench.models.load(std::move(wish), std::move(events));
    }
  }
  void give_up() { place_.reset(); }
  void end_use() { lease_.reset(); }

  Ends ends;  // how its waiting has ended

 private:
  std::unique_ptr<chat::QueuePlace> place_;
  std::unique_ptr<Lease> lease_;
};

// NamedBackend::Waiting. It hands its call on, which uses the model until it has ended.
class WaitsForCall {
 public:
  static constexpr bool kUsesModel = true;

  WaitsForCall(Bench& bench, const std::string& model, const std::string& holder = {})
      : named_(bench.loop, bench.models, [&bench]() -> Backend& { return *bench.queue; }) {
    bench.board.hold_runs();
    const auto methods = Bench::methods();
    id_ = named_.start({.method = &*std::ranges::find(methods, "rkllm_run", &Method::name),
                        .params = Json{{"handle", model}},
                        .source = {.id = {}, .peer = {}, .holder = holder},
                        .observer = std::make_shared<CourseOfCall>(ends)});
  }
  void give_up() { named_.cancel(id_); }
  void end_use() { named_.cancel(id_); }

  Ends ends;

 private:
  class CourseOfCall final : public CallObserver {
   public:
    explicit CourseOfCall(Ends& ends) : ends_(ends) {}
    void on_begun(std::optional<std::uint64_t>) noexcept override { ends_.emplace_back("ready"); }
    void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
    void on_rows(const FloatRows&) noexcept override {}
    void on_done(CallOutcome outcome) noexcept override {
      if (!outcome.error) return;  // of the call, which has been handed on
      const RpcError error = as_rpc_error(outcome.error);
      if (error.code() != ErrorCode::kCancelled) ends_.push_back(std::string("failed: ") + error.what());
    }

   private:
    Ends& ends_;
  };

  NamedBackend named_;
  Backend::CallId id_ = 0;
};

using WaitsForTurn = WaitsForPlace<chat::ModelLease>;
using WaitsForEmbeddings = WaitsForPlace<chat::EmbeddingLease>;
using WaitsForLoad = WaitsForPlace<chat::OnlyLoaded>;

}  // namespace

#define EVERY_WAITER WaitsForTurn, WaitsForEmbeddings, WaitsForLoad, WaitsForCall

TEMPLATE_TEST_CASE("who waits for a model hears once that it is loaded, and keeps it loaded for as long as it is used",
                   "", EVERY_WAITER) {
  Bench bench(presets({"a"}));
  TestType waiter(bench, "a");
  CHECK(waiter.ends.empty());
  REQUIRE(bench.until([&] { return !waiter.ends.empty(); }));
  CHECK(waiter.ends == Ends{"ready"});
  if (TestType::kUsesModel) {
    bench.around.pass(kBeyondKeepAlive);
    CHECK(bench.board.loaded() == 1);
    waiter.end_use();
    bench.settle();
  }
  CHECK(bench.board.loaded() == 1);
  CHECK(bench.all_unloaded_after(kBeyondKeepAlive));
  bench.settle();
  CHECK(waiter.ends == Ends{"ready"});
}

TEMPLATE_TEST_CASE("who waits for a model that cannot be loaded hears once why", "", EVERY_WAITER) {
  Bench bench(presets({"broken"}));
  TestType waiter(bench, "broken");
  CHECK(waiter.ends.empty());
  REQUIRE(bench.until([&] { return !waiter.ends.empty(); }));
  bench.around.pass(kBeyondKeepAlive);
  REQUIRE(waiter.ends.size() == 1);
  CHECK_THAT(waiter.ends[0], has_text("failed: "));
  CHECK_THAT(waiter.ends[0], has_text("rkllm_init returned -1"));
}

TEMPLATE_TEST_CASE("who waits for a model counts among those of their access token, until the model is loaded", "",
                   EVERY_WAITER) {
  auto choices = presets({"a"});
  choices.most_per_holder = 1;
  Bench bench(choices);
  bench.board.hold_loads();
  TestType waiter(bench, "a", "ada");
  REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
  TestType second(bench, "a", "ada");
  TestType of_another(bench, "a", "bert");
  REQUIRE(bench.until([&] { return !second.ends.empty(); }));
  REQUIRE(second.ends.size() == 1);
  CHECK_THAT(second.ends[0], has_text("queue.max_per_token"));
  CHECK(waiter.ends.empty());
  CHECK(of_another.ends.empty());
  bench.board.let_loads_go();
  REQUIRE(bench.until([&] { return !waiter.ends.empty(); }));
  TestType later(bench, "a", "ada");
  bench.settle();
  CHECK_FALSE(std::ranges::any_of(later.ends, [](const std::string& end) { return end.starts_with("failed"); }));
}

TEMPLATE_TEST_CASE("who gives up waiting for a model hears no more of it, and does not keep it", "", EVERY_WAITER) {
  Bench bench(presets({"a"}));
  bench.board.hold_loads();
  TestType waiter(bench, "a");
  SECTION("at once") { waiter.give_up(); }
  SECTION("while it is loaded") {
    REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
    waiter.give_up();
  }
  // The same kind again: its load is that of the first, or a later one.
  TestType next(bench, "a");
  bench.board.let_loads_go();
  REQUIRE(bench.until([&] { return !next.ends.empty(); }));
  next.end_use();
  bench.settle();
  CHECK(next.ends == Ends{"ready"});
  CHECK(waiter.ends.empty());
  CHECK(bench.all_unloaded_after(kBeyondKeepAlive));
}

}  // namespace rkllm_mcp::test
