// What chat/turn/model_lender.hpp promises of a place in a queue (QueuePlace), held against all of them: places of the
// server's models, of a name that has to be looked for, of a pull, and of the lender that tests put in their stead.
#include "chat/turn/model_lender.hpp"

#include "app/services/server_model_store.hpp"
#include "server/chat/host/scripted_lender.hpp"
#include "server/models/model_bench.hpp"
#include "server/pull/fake_hub.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"
#include "support/waiting_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Bench = ModelBench<WaitingLoop>;

// Somebody who has a place, and what is told: "news" as often as there are some, then "end".
class PlaceHolder {
 public:
  void take(const std::function<std::unique_ptr<chat::QueuePlace>()>& ask) {
    is_inside_ = true;
    place = ask();
    is_inside_ = false;
  }
  void give_up() {
    is_inside_ = true;
    place.reset();
    is_inside_ = false;
  }
  void hear(const std::string& what) {
    was_told_wrongly = was_told_wrongly || is_inside_ || std::this_thread::get_id() != thread_;
    told.push_back(what);
    if (when_told) when_told();
  }
  bool has_ended() const { return !told.empty() && told.back() == "end"; }

  std::unique_ptr<chat::QueuePlace> place;
  std::vector<std::string> told;
  std::function<void()> when_told;
  bool was_told_wrongly = false;  // from inside the asking or the giving up, or on another thread

 private:
  bool is_inside_ = false;
  const std::thread::id thread_ = std::this_thread::get_id();
};

// Whoever is granted a lease gives it back at once.
template <typename Lease>
chat::PlaceEvents<Lease> told_to(PlaceHolder& holder) {
  chat::PlaceEvents<Lease> events;
  events.queued = [&holder](std::size_t) { holder.hear("news"); };
  events.loading = [&holder](const chat::LoadProgress&) { holder.hear("news"); };
  events.granted = [&holder](const std::unique_ptr<Lease>&) { holder.hear("end"); };
  events.failed = [&holder](const chat::TurnError&) { holder.hear("end"); };
  return events;
}

template <typename Lease>
std::unique_ptr<chat::QueuePlace> ask_lender(chat::ModelLender& lender, const std::string& model, PlaceHolder& holder) {
  if constexpr (std::is_same_v<Lease, chat::ModelLease>) {
    return lender.ask({.model = model}, told_to<Lease>(holder));
  } else if constexpr (std::is_same_v<Lease, chat::EmbeddingLease>) {
    return lender.ask_for_embeddings({.model = model}, told_to<Lease>(holder));
  } else {
    return lender.load({.model = model}, told_to<Lease>(holder));
  }
}

// Each kind: ask() takes a place for a holder, and until() lets time pass.

// ServerModels::HeldPlace
template <typename Lease>
struct OfModels {
  void ask(PlaceHolder& holder) {
    holder.take([&] { return ask_lender<Lease>(bench.models, "a", holder); });
  }
  bool until(const std::function<bool()>& is_so) { return bench.until(is_so); }

  Bench bench{presets({"a"})};
};
using ForTurn = OfModels<chat::ModelLease>;
using ForEmbeddings = OfModels<chat::EmbeddingLease>;
using ForLoad = OfModels<chat::OnlyLoaded>;

// The same, where the folders are looked into first, and there is no such model.
struct OfUnknownModel {
  OfUnknownModel() {
    auto choices = presets({});
    choices.model_dirs = {directory.path()};
    bench.emplace(choices);
  }
  void ask(PlaceHolder& holder) {
    holder.take([&] { return ask_lender<chat::ModelLease>(bench->models, "nobody", holder); });
  }
  bool until(const std::function<bool()>& is_so) { return bench->until(is_so); }

  TemporaryDirectory directory;
  std::optional<Bench> bench;
};

// ServerModelStore::PullPlace
struct OfPull {
  OfPull() {
    hub.files["tiny.rkllm"] = "a model";
    settings.runtime.model_hub = hub.url();
    settings.runtime.model_dirs = {directory.path()};
    auto choices = presets({});
    choices.model_dirs = settings.runtime.model_dirs;
    bench.emplace(choices);
    store.emplace(bench->loop, settings, bench->models, [] { return std::vector<std::string>(); });
  }
  OfPull(const OfPull&) = delete;
  OfPull& operator=(const OfPull&) = delete;
  ~OfPull() {
    store->stop();
    CHECK(store->end(Clock::now() + kForItsThreads));
  }
  void ask(PlaceHolder& holder) {
    chat::PullListener listener{.progress = [&holder](const chat::PullProgress&) { holder.hear("news"); },
                                .done = [&holder](const chat::PulledModel&) { holder.hear("end"); },
                                .failed = [&holder](const chat::TurnError&) { holder.hear("end"); },
                                .remark = [&holder](const std::string&) { holder.hear("news"); }};
    holder.take([&] { return store->pull("hf.co/acme/tiny:tiny.rkllm", std::move(listener)); });
  }
  bool until(const std::function<bool()>& is_so) { return bench->until(is_so); }

  static constexpr std::chrono::seconds kForItsThreads{60};
  FakeHub hub;
  TemporaryDirectory directory;
  Settings settings;
  std::optional<Bench> bench;
  std::optional<ServerModelStore> store;
};

template <typename Lease>
struct OfScriptedLender {
  void ask(PlaceHolder& holder) {
    holder.take([&] { return ask_lender<Lease>(lender, lender.info.name, holder); });
  }
  bool until(const std::function<bool()>& is_so) {
    while (!is_so()) {
      if (!lender.step()) return false;
    }
    return true;
  }

  chat::testing::ScriptedLender lender;
};
using ScriptedForTurn = OfScriptedLender<chat::ModelLease>;
using ScriptedForEmbeddings = OfScriptedLender<chat::EmbeddingLease>;
using ScriptedForLoad = OfScriptedLender<chat::OnlyLoaded>;

}  // namespace

#define EVERY_PLACE \
  ForTurn, ForEmbeddings, ForLoad, OfUnknownModel, OfPull, ScriptedForTurn, ScriptedForEmbeddings, ScriptedForLoad

TEMPLATE_TEST_CASE("whoever has a place hears of its end once, last and later, and may then let go of it", "",
                   EVERY_PLACE) {
  TestType kind;
  PlaceHolder first;
  PlaceHolder second;
  kind.ask(first);
  kind.ask(second);
  CHECK(first.told.empty());
  REQUIRE(kind.until([&] { return first.has_ended() && second.has_ended(); }));
  const auto told = first.told;
  CHECK(std::ranges::count(told, "end") == 1);
  first.give_up();
  PlaceHolder third;
  kind.ask(third);
  REQUIRE(kind.until([&] { return third.has_ended(); }));
  CHECK(first.told == told);
  for (const PlaceHolder* each : {&first, &second, &third}) CHECK_FALSE(each->was_told_wrongly);
}

TEMPLATE_TEST_CASE("a place that is given up at once hears nothing, and those behind it go on", "", EVERY_PLACE) {
  TestType kind;
  PlaceHolder first;
  PlaceHolder second;
  kind.ask(first);
  kind.ask(second);
  first.give_up();
  REQUIRE(kind.until([&] { return second.has_ended(); }));
  CHECK(first.told.empty());
  CHECK_FALSE(second.was_told_wrongly);
}

TEMPLATE_TEST_CASE("whoever is told of a place may give it up, and another one with it, which both hear nothing more",
                   "", EVERY_PLACE) {
  TestType kind;
  PlaceHolder first;
  PlaceHolder second;
  PlaceHolder third;
  std::size_t heard_by_second = 0;
  first.when_told = [&] {
    first.give_up();
    second.give_up();
    heard_by_second = second.told.size();
  };
  for (PlaceHolder* each : {&first, &second, &third}) kind.ask(*each);
  REQUIRE(kind.until([&] { return third.has_ended(); }));
  CHECK(first.told.size() == 1);
  CHECK(second.told.size() == heard_by_second);
  CHECK_FALSE(second.has_ended());
}

}  // namespace rkllm_mcp::test
