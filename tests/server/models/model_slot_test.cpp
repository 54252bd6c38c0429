// One model by name, and what whoever needs it is promised (ModelWaiter).
#include "models/model_slot.hpp"

#include "model_bench.hpp"
#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Bench = ModelBench<simulation::SimBench>;
using std::chrono::seconds;

// Somebody who needs a model, and all that it is told.
class NotingWaiter final : public ModelWaiter {
 public:
  NotingWaiter(Bench& bench, std::string holder) : bench_(bench), holder_(std::move(holder)) {}

  const std::string& holder() const override { return holder_; }
  void loading(const chat::LoadProgress&) override { note("loading"); }
  void ready(const std::string& with_handle, std::uint64_t with_load, std::optional<double>) override {
    handle = with_handle;
    load = with_load;
    note("ready");
  }
  void failed(const LoadFailure& why) override {
    failure = why;
    note("failed");
  }

  std::size_t ends() const {
    return static_cast<std::size_t>(std::count(told.begin(), told.end(), "ready") +
                                    std::count(told.begin(), told.end(), "failed"));
  }

  std::vector<std::string> told;
  std::string handle;
  std::uint64_t load = 0;
  std::optional<LoadFailure> failure;
  std::function<void()> when_ended;
  bool was_on_another_thread = false;

 private:
  void note(const std::string& word) {
    if (!bench_.around.is_on_loop()) was_on_another_thread = true;
    told.push_back(word);
    if (when_ended && (word == "ready" || word == "failed")) when_ended();
  }

  Bench& bench_;
  const std::string holder_;
};

// A slot of the bench's models, and who is added to it.
struct SlotBench {
  explicit SlotBench(const std::string& name = "a", std::size_t room = 8)
      : bench(presets({name, "other"}), room), slot(*bench.models.slot_for(name)) {}

  std::shared_ptr<NotingWaiter> add(const std::string& holder = {}) {
    auto waiter = std::make_shared<NotingWaiter>(bench, holder);
    slot.add(waiter);
    return waiter;
  }
  bool is_told(const std::shared_ptr<NotingWaiter>& waiter) {
    return bench.until([&] { return waiter->ends() > 0; });
  }

  Bench bench;
  ModelSlot& slot;
};

}  // namespace

TEST_CASE("who needs a model is told later that it is loaded, once and in order, and the slot then lets go of them") {
  SlotBench with;
  std::vector<int> order;
  std::vector<std::shared_ptr<NotingWaiter>> waiters;
  for (int number = 0; number < 3; ++number) {
    waiters.push_back(with.add());
    waiters.back()->when_ended = [&order, number] { order.push_back(number); };
  }
  CHECK(waiters[0]->told.empty());
  CHECK(waiters[0].use_count() == 2);
  CHECK(with.slot.waiting() == 3);
  REQUIRE(with.is_told(waiters[2]));
  with.bench.around.pass(seconds(10));
  CHECK(order == std::vector<int>{0, 1, 2});
  for (const auto& each : waiters) {
    CHECK(each->ends() == 1);
    CHECK(each->told.back() == "ready");  // nothing after it
    CHECK(each->handle == with.slot.handle());
    CHECK(each->load == waiters[0]->load);
    CHECK_FALSE(each->was_on_another_thread);
    CHECK(each.use_count() == 1);
  }
  CHECK(with.slot.waiting() == 0);
}

TEST_CASE("who needs a model keeps it loaded until their use has ended, which another load's end does not do") {
  SlotBench with;
  const auto first = with.add();
  const auto second = with.add();
  REQUIRE(with.is_told(second));
  with.slot.end_use(first->load + 1, {});
  with.slot.end_use(first->load, {});
  CHECK_FALSE(with.slot.expires());
  with.bench.around.pass(seconds(100'000));
  CHECK(with.bench.board.loaded() == 1);
  with.slot.end_use(second->load, {});
  CHECK(with.slot.expires());
  with.slot.end_use(second->load, {});  // once too often
  CHECK(with.slot.expires());
  CHECK(with.bench.all_unloaded_after(seconds(100'000)));
}

TEST_CASE("who is taken out of a slot is not told, and nothing holds them any more") {
  SlotBench with;
  with.bench.board.hold_loads();
  const auto at_once = with.add();
  with.slot.remove(at_once.get());
  CHECK(at_once.use_count() == 1);
  const auto kept = with.add();
  const auto while_loading = with.add();
  const auto by_another = with.add();
  REQUIRE(with.bench.until([&] { return while_loading->told.size() == 1; }));
  with.slot.remove(while_loading.get());
  kept->when_ended = [&] { with.slot.remove(by_another.get()); };
  with.bench.board.let_loads_go();
  REQUIRE(with.is_told(kept));
  with.bench.settle();
  CHECK(at_once->told.empty());
  CHECK(while_loading->told == std::vector<std::string>{"loading"});
  CHECK(by_another->ends() == 0);
  CHECK(by_another.use_count() == 1);
  with.slot.remove(by_another.get());  // again, which is nothing
}

TEST_CASE(
    "a failed load is told to all who wait, with the runtime's own error, and to who comes then only after another") {
  SlotBench with("broken");
  const auto first = with.add();
  const auto second = with.add();
  std::shared_ptr<NotingWaiter> third;
  first->when_ended = [&] { third = with.add(); };
  REQUIRE(with.is_told(second));
  CHECK(third->told.empty());
  CHECK(with.slot.state() == ModelSlot::State::kUnloaded);
  for (const auto& each : {first, second}) {
    REQUIRE(each->failure);
    CHECK(each->failure->kind == chat::ErrorKind::kRuntimeFailed);
    CHECK(each->failure->error.code() == ErrorCode::kCallFailed);
    CHECK(each->ends() == 1);
    CHECK_FALSE(each->was_on_another_thread);
  }
  REQUIRE(with.is_told(third));
  CHECK(with.bench.board.loads() == 2);
  CHECK(third->ends() == 1);
}

TEST_CASE("without a runtime a model fails later, with what there is none for") {
  SlotBench with;
  ModelRuntime none;
  none.reason = "the library is for another machine";
  with.bench.models.use_runtime(none);
  const auto waiter = with.add();
  CHECK(waiter->told.empty());
  REQUIRE(with.is_told(waiter));
  CHECK(waiter->told == std::vector<std::string>{"failed"});
  CHECK(waiter->failure->error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK(waiter->failure->error.data() == Json{{"reason", none.reason}, {"signal", nullptr}});
}

TEST_CASE("a model without room fails with that word where others have it, who are not unloaded while they are used") {
  SlotBench with("a", 1);
  ModelSlot& other = *with.bench.models.slot_for("other");
  const auto user = std::make_shared<NotingWaiter>(with.bench, "");
  other.add(user);
  REQUIRE(with.is_told(user));
  const auto refused = with.add();
  REQUIRE(with.is_told(refused));
  CHECK(refused->failure->kind == chat::ErrorKind::kNoRoom);
  CHECK(other.state() == ModelSlot::State::kLoaded);
  other.end_use(user->load, {});
  const auto waiter = with.add();
  REQUIRE(with.is_told(waiter));
  CHECK(waiter->told.back() == "ready");
  CHECK(other.state() == ModelSlot::State::kUnloaded);
}

TEST_CASE(
    "a model that is lost is loaded again for who waits then, and its users' ends do not count for the new load") {
  SlotBench with;
  const auto before = with.add();
  REQUIRE(with.is_told(before));
  with.bench.board.kill(with.slot.handle());
  REQUIRE(with.bench.until([&] { return with.slot.state() == ModelSlot::State::kUnloaded; }));
  const auto after = with.add();
  REQUIRE(with.is_told(after));
  CHECK(after->load != before->load);
  CHECK(before->ends() == 1);
  with.slot.end_use(before->load, {});
  CHECK_FALSE(with.slot.expires());
  with.slot.lost(before->handle);  // told once more
  CHECK(with.slot.state() == ModelSlot::State::kLoaded);
}

TEST_CASE("the places of a model are counted for each access token while they wait, and not afterwards") {
  SlotBench with;
  const auto ann = with.add("ann");
  const auto bob = with.add("bob");
  const auto again = with.add("ann");
  CHECK(with.slot.waiting_of("ann") == 2);
  CHECK(with.slot.waiting_of("bob") == 1);
  CHECK(with.slot.waiting_of("") == 0);
  with.slot.remove(ann.get());
  CHECK(with.slot.waiting_of("ann") == 1);
  REQUIRE(with.is_told(again));
  CHECK(with.slot.waiting_of("ann") == 0);
  CHECK(with.slot.waiting_of("bob") == 0);
}

TEST_CASE("whoever has a model unloaded is told once and later, also where there is nothing to unload") {
  SlotBench with;
  std::vector<std::string> told;
  const auto unload = [&](const std::string& name) {
    with.slot.unload([&told, name](const std::exception_ptr& error) { told.push_back(name + (error ? "!" : "")); });
  };
  unload("not loaded");
  CHECK(told.empty());
  REQUIRE(with.bench.until([&] { return told.size() == 1; }));
  const auto user = with.add();
  REQUIRE(with.is_told(user));
  with.slot.end_use(user->load, {});
  unload("first");
  unload("second");
  CHECK(told.size() == 1);
  const auto next = with.add();  // has it loaded again
  REQUIRE(with.is_told(next));
  with.bench.settle();
  CHECK(told == std::vector<std::string>{"not loaded", "first", "second"});
  CHECK(next->load != user->load);
}

TEST_CASE("a load that nobody waits for any more is cut short by whoever has the model unloaded") {
  SlotBench with;
  with.bench.board.hold_loads();
  const auto waiter = with.add();
  REQUIRE(with.bench.until([&] { return with.bench.board.loads() == 1; }));
  with.slot.remove(waiter.get());
  std::size_t told = 0;
  with.slot.unload([&](const std::exception_ptr& error) {
    CHECK_FALSE(error);
    ++told;
  });
  with.bench.board.let_loads_go();
  REQUIRE(with.bench.until([&] { return told > 0; }));
  with.bench.settle();
  CHECK(told == 1);
  CHECK(with.slot.state() == ModelSlot::State::kUnloaded);
  CHECK(waiter->ends() == 0);
  CHECK(with.bench.until([&] { return with.bench.queue->handles().empty(); }));
}

}  // namespace rkllm_mcp::test
