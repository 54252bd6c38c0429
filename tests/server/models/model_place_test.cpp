// What chat/turn/model_lender.hpp promises of places in a model's queue and of leases, held against the server's own:
// for turns, for embeddings, and for whoever only wants a model loaded.
#include "models/model_place.hpp"

#include "model_bench.hpp"
#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Bench = ModelBench<simulation::SimBench>;
using chat::ErrorKind;
using std::chrono::seconds;

// Somebody who asks for a place, and all that it is told.
template <typename Lease>
class PlaceAsker {
 public:
  explicit PlaceAsker(Bench& bench, chat::PlaceWish wish = {.model = "a"}) : bench_(bench) {
    chat::PlaceEvents<Lease> events;
    events.queued = [this](std::size_t before) {
      queued.push_back(before);
      note("queued");
    };
    events.loading = [this](const chat::LoadProgress&) { note("loading"); };
    events.granted = [this](std::unique_ptr<Lease> granted) {
      lease = std::move(granted);
      note("granted");
    };
    events.failed = [this](const chat::TurnError& why) {
      error = why;
      note("failed");
    };
    is_inside_ = true;
    place = ask(bench, std::move(wish), std::move(events));
    is_inside_ = false;
  }
  PlaceAsker(const PlaceAsker&) = delete;
  PlaceAsker& operator=(const PlaceAsker&) = delete;
  ~PlaceAsker() { when_told = {}; }

  std::size_t times(const std::string& word) const {
    return static_cast<std::size_t>(std::count(told.begin(), told.end(), word));
  }
  std::size_t ends() const { return times("granted") + times("failed"); }
  void give_up() {
    is_inside_ = true;
    place.reset();
    is_inside_ = false;
  }

  std::unique_ptr<chat::QueuePlace> place;
  std::unique_ptr<Lease> lease;
  std::vector<std::string> told;
  std::vector<std::size_t> queued;
  std::optional<chat::TurnError> error;
  std::function<void(const std::string& word)> when_told;
  bool was_told_wrongly = false;  // on another thread, or from inside a call of ours

 private:
  static std::unique_ptr<chat::QueuePlace> ask(Bench& bench, chat::PlaceWish wish, chat::PlaceEvents<Lease> events) {
    if constexpr (std::is_same_v<Lease, chat::ModelLease>) {
      return bench.models.ask(std::move(wish), std::move(events));
    } else if constexpr (std::is_same_v<Lease, chat::EmbeddingLease>) {
      return bench.models.ask_for_embeddings(std::move(wish), std::move(events));
    } else {
      return bench.models.load(std::move(wish), std::move(events));
    }
  }

  void note(const std::string& word) {
    if (is_inside_ || !bench_.around.is_on_loop()) was_told_wrongly = true;
    told.push_back(word);
    if (when_told) when_told(word);
  }

  Bench& bench_;
  bool is_inside_ = false;
};

using TurnAsker = PlaceAsker<chat::ModelLease>;

template <typename Asker>
bool is_told_end(Bench& bench, const Asker& asker) {
  return bench.until([&] { return asker.ends() > 0; });
}

// Until the handle that the name stands for is held, without anybody on the loop hearing of it.
bool is_held_unheard(Bench& bench, const std::string& handle) {
  bench.around.let_threads_go_on();
  const auto use = bench.queue->use_of(handle);
  return use && use->in_use && use->waiting == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("who asks for a model is told once how that ends, on the loop and never from inside the asking", "",
                   chat::ModelLease, chat::EmbeddingLease, chat::OnlyLoaded) {
  auto choices = presets({"a", "broken", "full"});
  Bench bench(choices);
  chat::PlaceWish wish{.model = "a"};
  std::optional<ErrorKind> kind;
  SECTION("with what it wants") {}
  SECTION("with what it wants, again") {
    PlaceAsker<TestType> before(bench);
    REQUIRE(is_told_end(bench, before));
  }
  SECTION("with the runtime's refusal") {
    wish.model = "broken";
    kind = ErrorKind::kRuntimeFailed;
  }
  SECTION("with a name that nobody has") {
    wish.model = "nobody";
    kind = ErrorKind::kUnknownModel;
  }
  SECTION("without the permission to use a model") {
    wish.asker.may_call = false;
    kind = ErrorKind::kForbidden;
  }
  SECTION("with no room for one more who waits") {
    choices.most_waiting = 0;
    bench.models.choose(choices);
    kind = ErrorKind::kQueueFull;
  }
  SECTION("without a runtime") {
    ModelRuntime none;
    none.reason = "there is no library";
    bench.models.use_runtime(none);
    kind = ErrorKind::kRuntimeFailed;
  }
  PlaceAsker<TestType> asker(bench, wish);
  CHECK(asker.told.empty());
  REQUIRE(is_told_end(bench, asker));
  bench.around.pass(seconds(10));
  CHECK(asker.ends() == 1);
  CHECK(asker.told.back() == (kind ? "failed" : "granted"));
  CHECK_FALSE(asker.was_told_wrongly);
  const bool has_lease = !kind && !std::is_same_v<TestType, chat::OnlyLoaded>;
  CHECK((asker.lease != nullptr) == has_lease);
  if (!kind) return;
  REQUIRE(asker.error);
  CHECK(asker.error->kind() == *kind);
  CHECK(asker.error->retry_after_s().has_value() == (*kind == ErrorKind::kQueueFull));
}

TEMPLATE_TEST_CASE("a place that is given up hears nothing more and holds nothing, however far it was", "",
                   chat::ModelLease, chat::EmbeddingLease, chat::OnlyLoaded) {
  Bench bench(presets({"a"}));
  bench.board.hold_loads();
  PlaceAsker<TestType> asker(bench);
  SECTION("at once") { asker.give_up(); }
  SECTION("while the model is loaded") {
    REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
    asker.told.clear();
    asker.give_up();
  }
  SECTION("by what it is told of the load") {
    asker.when_told = [&asker](const std::string& word) {
      if (word == "loading") asker.place.reset();
    };
    REQUIRE(bench.until([&] { return !asker.told.empty(); }));
    bench.around.pass(seconds(10));
    CHECK(asker.told == std::vector<std::string>{"loading"});
    asker.told.clear();
  }
  SECTION("when the model is loaded, and nobody has heard of it") {
    REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
    bench.board.let_loads_go();
    bench.around.let_threads_go_on();
    REQUIRE(bench.board.loaded() == 1);
    asker.told.clear();
    asker.give_up();
  }
  CHECK(bench.models.find("a", {})->waiting == 0);
  bench.board.let_loads_go();
  bench.settle();
  PlaceAsker<TestType> next(bench);
  REQUIRE(is_told_end(bench, next));
  CHECK(next.told.back() == "granted");
  CHECK(asker.told.empty());
  CHECK_FALSE(asker.was_told_wrongly);
  next.lease.reset();
  CHECK(bench.all_unloaded_after(seconds(100'000)));
}

TEMPLATE_TEST_CASE(
    "a place that is given up when its lease is granted, and nobody has heard of it, lets the next one in", "",
    chat::ModelLease, chat::EmbeddingLease) {
  Bench bench(presets({"a"}));
  PlaceAsker<TestType> before(bench);
  REQUIRE(is_told_end(bench, before));
  const std::string handle = bench.queue->handles().at(0).id;
  before.lease.reset();
  REQUIRE(bench.until([&] { return !bench.queue->use_of(handle)->in_use; }));
  bench.settle();
  PlaceAsker<TestType> asker(bench);
  bench.loop.restart();
  bench.loop.poll_one();  // it goes to the handle's queue
  REQUIRE(is_held_unheard(bench, handle));
  asker.give_up();
  PlaceAsker<TestType> next(bench);
  REQUIRE(is_told_end(bench, next));
  CHECK(next.lease);
  CHECK(asker.told.empty());
  next.lease.reset();
  CHECK(bench.all_unloaded_after(seconds(100'000)));
}

TEST_CASE("who is told of a failed load may give up all other places, which then hear nothing") {
  Bench bench(presets({"broken"}));
  TurnAsker first(bench, {.model = "broken"});
  TurnAsker second(bench, {.model = "broken"});
  TurnAsker third(bench, {.model = "broken"});
  first.when_told = [&](const std::string& word) {
    if (word != "failed") return;
    first.place.reset();
    third.place.reset();
  };
  REQUIRE(is_told_end(bench, second));
  bench.settle();
  CHECK(first.ends() == 1);
  CHECK(second.ends() == 1);
  CHECK(third.ends() == 0);
}

TEST_CASE("who is told how far a load is may give up all other places, which then hear nothing") {
  Bench bench(presets({"a"}));
  bench.board.hold_loads();
  TurnAsker first(bench);
  TurnAsker second(bench);
  TurnAsker third(bench);
  first.when_told = [&](const std::string&) { second.place.reset(); };
  REQUIRE(bench.until([&] { return third.times("loading") > 0; }));
  CHECK(second.told.empty());
  bench.board.let_loads_go();
  REQUIRE(is_told_end(bench, first));
  CHECK(second.told.empty());
}

TEST_CASE("who is given a lease may end its place, its lease and all other places from inside") {
  Bench bench(presets({"a"}));
  bench.board.hold_loads();
  TurnAsker first(bench);
  TurnAsker second(bench);
  TurnAsker third(bench);
  first.when_told = [&](const std::string& word) {
    if (word != "granted") return;
    first.place.reset();
    second.place.reset();
    first.lease.reset();
  };
  bench.board.let_loads_go();
  REQUIRE(is_told_end(bench, third));
  CHECK(third.lease);
  CHECK(first.ends() == 1);
  CHECK(second.ends() == 0);
  CHECK_FALSE(third.was_told_wrongly);
  third.lease.reset();
  CHECK(bench.all_unloaded_after(seconds(100'000)));
}

TEST_CASE("who waits behind others is told how many there are, whenever one less is before it, and then nothing more") {
  Bench bench(presets({"a"}));
  TurnAsker first(bench);
  REQUIRE(is_told_end(bench, first));
  CHECK(first.queued.empty());
  TurnAsker second(bench);
  REQUIRE(bench.until([&] { return !second.queued.empty(); }));
  TurnAsker third(bench);
  REQUIRE(bench.until([&] { return !third.queued.empty(); }));
  CHECK(second.queued == std::vector<std::size_t>{1});
  CHECK(third.queued == std::vector<std::size_t>{2});
  second.give_up();
  REQUIRE(bench.until([&] { return third.queued.size() == 2; }));
  CHECK(third.queued.back() == 1);
  first.lease.reset();
  REQUIRE(is_told_end(bench, third));
  CHECK(third.told.back() == "granted");
  TurnAsker fourth(bench);
  REQUIRE(bench.until([&] { return !fourth.queued.empty(); }));
  CHECK(third.told.back() == "granted");
  CHECK(second.queued == std::vector<std::size_t>{1});
}

TEST_CASE("leases are granted in the order in which they were asked for, whether the model was loaded then or not") {
  Bench bench(presets({"a"}));
  bench.board.hold_loads();
  std::vector<std::size_t> order;
  std::vector<std::unique_ptr<TurnAsker>> askers;
  const auto ask = [&] {
    askers.push_back(std::make_unique<TurnAsker>(bench));
    askers.back()->when_told = [&order, &askers, number = askers.size() - 1](const std::string& word) {
      if (word == "granted") order.push_back(number);
    };
  };
  for (int i = 0; i < 3; ++i) ask();
  REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
  ask();
  bench.board.let_loads_go();
  REQUIRE(bench.until([&] { return order.size() == 1; }));
  ask();
  for (std::size_t i = 0; i < 5; ++i) {
    REQUIRE(bench.until([&] { return order.size() == i + 1; }));
    bench.settle();
    CHECK(order.size() == i + 1);  // nobody else has it while one has
    askers[order.back()]->lease.reset();
  }
  CHECK(order == std::vector<std::size_t>{0, 1, 2, 3, 4});
}

TEST_CASE("a lease keeps its runtime, though another one serves by now, and no longer") {
  Bench bench(presets({"a"}));
  TurnAsker asker(bench);
  REQUIRE(is_told_end(bench, asker));
  const std::weak_ptr<QueuedBackend> before = bench.queue;
  bench.use_new_runtime();
  asker.place.reset();
  bench.settle();
  REQUIRE_FALSE(before.expired());
  std::optional<std::string> complaint;
  asker.lease->model().clear_template([&](std::string text) { complaint = std::move(text); });
  REQUIRE(bench.until([&] { return complaint.has_value(); }));
  CHECK(complaint->empty());
  asker.lease.reset();
  bench.settle();
  CHECK(before.expired());
}

TEST_CASE("a lease of the runtime before does not end the use of the model that another lease has") {
  Bench bench(presets({"a"}));
  TurnAsker old(bench);
  REQUIRE(is_told_end(bench, old));
  bench.use_new_runtime();
  TurnAsker now(bench);
  REQUIRE(is_told_end(bench, now));
  CHECK(now.lease->load_number() != old.lease->load_number());
  old.lease.reset();
  bench.around.pass(seconds(100'000));
  CHECK(bench.is_loaded("a"));
  now.lease.reset();
  CHECK(bench.all_unloaded_after(seconds(100'000)));
}

TEST_CASE("a lease of a model that has died says so in what is done with it, and can be given back") {
  Bench bench(presets({"a"}));
  TurnAsker asker(bench);
  REQUIRE(is_told_end(bench, asker));
  const auto changes = asker.lease->model().foreign_changes();
  bench.board.kill(bench.models.handle_of("a"));
  REQUIRE(bench.until([&] { return !bench.is_loaded("a"); }));
  CHECK(asker.lease->model().foreign_changes() != changes);
  std::vector<chat::RunReport> reports;
  asker.lease->model().run(
      "Hi", {}, [](std::string_view) { FAIL("a token of a dead model"); },
      [&](const chat::RunReport& report) { reports.push_back(report); });
  CHECK(reports.empty());
  REQUIRE(bench.until([&] { return !reports.empty(); }));
  CHECK(reports[0].end == chat::RunEnd::kFailed);
  CHECK(reports[0].lost);
  CHECK_FALSE(reports[0].complaint.empty());
  asker.lease.reset();
  TurnAsker next(bench);
  REQUIRE(is_told_end(bench, next));
  CHECK(next.lease);
}

TEST_CASE("what a lease has begun is not told after its end, nor from inside it") {
  Bench bench(presets({"a"}));
  TurnAsker asker(bench);
  REQUIRE(is_told_end(bench, asker));
  const std::string handle = bench.models.handle_of("a");
  bool is_told = false;
  asker.lease->model().clear_template([&](const std::string&) { is_told = true; });
  asker.lease->model().run(
      "Hi", {}, [&](std::string_view) { is_told = true; }, [&](const chat::RunReport&) { is_told = true; });
  asker.lease.reset();
  TurnAsker next(bench);
  REQUIRE(is_told_end(bench, next));
  CHECK(next.lease);
  CHECK_FALSE(is_told);
}

TEST_CASE("a lease knows whether somebody waits for its handle, by the model's name or by the handle's") {
  Bench bench(presets({"a"}));
  TurnAsker asker(bench);
  REQUIRE(is_told_end(bench, asker));
  CHECK_FALSE(asker.lease->others_wait());
  {
    TurnAsker other(bench);
    CHECK(asker.lease->others_wait());  // at once
    REQUIRE(bench.until([&] { return !other.queued.empty(); }));
    CHECK(asker.lease->others_wait());
  }
  CHECK_FALSE(asker.lease->others_wait());
  {
    TurnAsker other(bench, {.model = bench.models.handle_of("a")});
    REQUIRE(bench.until([&] { return !other.queued.empty(); }));
    CHECK(asker.lease->others_wait());
  }
}

TEST_CASE("a lease knows how long its place had to wait for the model to be loaded, if it had to") {
  Bench bench(presets({"a"}));
  bench.board.hold_loads();
  TurnAsker first(bench);
  REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
  bench.around.pass(seconds(2));
  TurnAsker second(bench);
  bench.around.pass(seconds(1));
  bench.board.let_loads_go();
  REQUIRE(is_told_end(bench, first));
  TurnAsker third(bench);
  CHECK(first.lease->load_ms() == 3000);
  first.lease.reset();
  REQUIRE(is_told_end(bench, second));
  CHECK(second.lease->load_ms() == 1000);
  second.lease.reset();
  REQUIRE(is_told_end(bench, third));
  CHECK_FALSE(third.lease->load_ms());
}

}  // namespace rkllm_mcp::test
