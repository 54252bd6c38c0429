// What comes of pulls and deletions at the loop, with a hub of our own. Over HTTP: tests/server/pull.
#include "app/services/server_model_store.hpp"

#include "pull/part_file.hpp"
#include "server/models/model_bench.hpp"
#include "server/pull/fake_hub.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/process.hpp"
#include "support/waiting_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using Bench = ModelBench<WaitingLoop>;
using chat::ErrorKind;
using chat::TurnError;
using StoreWords = std::vector<std::string>;

constexpr const char* kTinyOfHub = "hf.co/acme/tiny:tiny.rkllm";
constexpr std::chrono::seconds kForPulls{60};

// Somebody who waits for a pull, and all that is told.
struct PullWaiter {
  chat::PullListener listener() {
    return {.progress =
                [this](const chat::PullProgress& progress) {
                  steps.push_back(progress.step);
                  note("progress");
                },
            .done =
                [this](const chat::PulledModel& model) {
                  pulled = model;
                  note("done");
                },
            .failed =
                [this](const TurnError& why) {
                  error = why;
                  note("failed");
                },
            .remark =
                [this](const std::string& words) {
                  remarks.push_back(words);
                  note("remark");
                }};
  }
  std::size_t ends() const {
    return static_cast<std::size_t>(std::count(told.begin(), told.end(), "done") +
                                    std::count(told.begin(), told.end(), "failed"));
  }

  std::unique_ptr<chat::QueuePlace> place;
  StoreWords told;
  StoreWords remarks;
  std::vector<chat::PullProgress::Step> steps;
  std::optional<chat::PulledModel> pulled;
  std::optional<TurnError> error;
  std::function<void(const std::string& word)> when_told;
  bool is_inside = false;
  bool was_told_wrongly = false;  // from inside the asking, or on another thread

 private:
  void note(const std::string& word) {
    if (is_inside || std::this_thread::get_id() != thread_) was_told_wrongly = true;
    told.push_back(word);
    if (when_told) when_told(word);
  }
  const std::thread::id thread_ = std::this_thread::get_id();
};

class StoreBench {
 public:
  StoreBench() {
    settings.runtime.model_hub = hub.url();
    settings.runtime.model_dirs = {folder()};
    std::filesystem::create_directories(folder());
    hub.files["tiny.rkllm"] = "a model";
    auto choices = presets({});
    choices.model_dirs = {folder()};
    bench = std::make_unique<Bench>(choices);
    store = std::make_unique<ServerModelStore>(bench->loop, settings, bench->models, [this] { return loaded; });
  }
  StoreBench(const StoreBench&) = delete;
  StoreBench& operator=(const StoreBench&) = delete;
  ~StoreBench() {
    let_hub_go_on();
    end();
  }

  std::string folder() const { return directory_ / "models"; }
  std::string path_of(const std::string& name) const { return folder() + "/" + name; }
  StoreWords in_folder() const {
    StoreWords names;
    for (const auto& each : std::filesystem::directory_iterator(folder())) names.push_back(each.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }

  // From here on the hub stops in the middle of a file.
  void hold_hub() {
    hub.before_second_half = [goes_on = hub_goes_on_.get_future().share()] { goes_on.wait(); };
    is_held_ = true;
  }
  void let_hub_go_on() {
    if (std::exchange(is_held_, false)) hub_goes_on_.set_value();
  }
  void end() {
    if (!store) return;
    store->stop();
    CHECK(store->end(Clock::now() + kForPulls));
    store.reset();
  }

  void pull(PullWaiter& waiter, const std::string& source = kTinyOfHub) const {
    waiter.is_inside = true;
    waiter.place = store->pull(source, waiter.listener());
    waiter.is_inside = false;
  }
  bool has_ended(const PullWaiter& waiter) const {
    return bench->until([&] { return waiter.ends() > 0; });
  }
  // The files of the folder are known as models.
  void look() const {
    bool is_done = false;
    bench->models.look_again([&] { is_done = true; });
    REQUIRE(bench->until([&] { return is_done; }));
  }
  // What came of it; nothing: all of them were deleted.
  std::optional<TurnError> remove(const StoreWords& names) const {
    std::optional<std::optional<TurnError>> outcome;
    try {
      store->remove(names, [&](std::optional<TurnError> error) { outcome = std::move(error); });
    } catch (const TurnError& error) {
      return error;
    }
    CHECK_FALSE(outcome);
    REQUIRE(bench->until([&] { return outcome.has_value(); }));
    return *outcome;
  }

  FakeHub hub;
  Settings settings;
  StoreWords loaded;
  std::unique_ptr<Bench> bench;
  std::unique_ptr<ServerModelStore> store;

 private:
  TemporaryDirectory directory_;
  std::promise<void> hub_goes_on_;
  bool is_held_ = false;
};

}  // namespace

TEST_CASE("a pull tells what it does in order, later and on the loop, and its end once, when the model has its name") {
  StoreBench with;
  with.hub.files["huge.rkllm"] = "another";
  with.hub.claimed_bytes["huge.rkllm"] = std::int64_t{1} << 60;
  PullWaiter waiter;
  bool was_known = false;
  waiter.when_told = [&](const std::string& word) {
    if (word == "done") was_known = with.bench->models.find("tiny", {}).has_value();
  };
  with.pull(waiter, "hf.co/acme/tiny");
  CHECK(waiter.told.empty());
  REQUIRE(with.has_ended(waiter));
  with.bench->settle();
  CHECK(was_known);
  CHECK_FALSE(waiter.was_told_wrongly);
  CHECK(waiter.ends() == 1);
  CHECK(waiter.told.back() == "done");
  CHECK(std::is_sorted(waiter.steps.begin(), waiter.steps.end()));
  CHECK(waiter.steps.back() == chat::PullProgress::Step::kListing);
  const auto first_progress = std::find(waiter.told.begin(), waiter.told.end(), "progress");
  CHECK(std::find(first_progress, waiter.told.end(), "remark") == waiter.told.end());
  CHECK_FALSE(waiter.remarks.empty());
  REQUIRE(waiter.pulled);
  CHECK(waiter.pulled->name == "tiny");
  CHECK(waiter.pulled->path == with.path_of("tiny.rkllm"));
  CHECK(waiter.pulled->bytes == 7);
  CHECK(waiter.pulled->is_verified);
}

TEST_CASE("who is told how far a pull is may give up its own place and that of others, which then hear nothing") {
  StoreBench with;
  with.hold_hub();
  PullWaiter first;
  PullWaiter second;
  PullWaiter third;
  first.when_told = [&](const std::string&) {
    first.place.reset();
    second.place.reset();
  };
  with.pull(first);
  with.pull(second);
  with.pull(third);
  REQUIRE(with.bench->until([&] { return !third.told.empty(); }));
  with.let_hub_go_on();
  REQUIRE(with.has_ended(third));
  with.bench->settle();
  CHECK(first.told == StoreWords{"progress"});
  CHECK(second.told.empty());
  CHECK(third.told.back() == "done");
  CHECK(third.ends() == 1);
}

TEST_CASE("who is told how a pull has ended may give up all other places, and begin the pull anew") {
  StoreBench with;
  with.hub.claimed_sha256["tiny.rkllm"] = std::string(64, 'a');
  PullWaiter first;
  PullWaiter second;
  PullWaiter again;
  first.when_told = [&](const std::string& word) {
    if (word != "failed") return;
    first.place.reset();
    second.place.reset();
    with.hub.claimed_sha256.clear();
    with.pull(again);
  };
  with.pull(first);
  with.pull(second);
  REQUIRE(with.has_ended(again));
  CHECK(first.ends() == 1);
  CHECK(first.error->kind() == ErrorKind::kInternal);
  CHECK_THAT(first.error->what(), has_text("on the server's machine: "));
  CHECK(second.ends() == 0);
  CHECK(again.pulled);
  CHECK_FALSE(again.was_told_wrongly);
}

TEST_CASE("what the hub does not have fails as the fault of whoever has asked, or of the hub") {
  StoreBench with;
  PullWaiter absent;
  with.pull(absent, "hf.co/acme/tiny:other.rkllm");
  PullWaiter nowhere;
  with.pull(nowhere, "hf.co/acme/nothing");
  REQUIRE(with.has_ended(absent));
  REQUIRE(with.has_ended(nowhere));
  CHECK(absent.error->kind() == ErrorKind::kBadField);
  CHECK(absent.error->field() == "model");
  CHECK(nowhere.error->kind() == ErrorKind::kUpstream);
  CHECK(with.in_folder().empty());
}

TEST_CASE("what can be no model is refused at once, and asks nobody") {
  StoreBench with;
  PullWaiter waiter;
  for (const std::string& wrong :
       {std::string(), std::string("tiny"), std::string("hf.co/"), std::string("hf.co/acme"),
        std::string("hf.co/acme/tiny:x.bin"), std::string("hf.co/acme/tiny:.rkllm"), std::string("hf.co/../tiny"),
        std::string("hf.co/acme/tiny:x\0.rkllm", 24), std::string("hf.co/acme/tiny:x\n.rkllm"),
        std::string("file:///models/x.rkllm"), std::string("http://"), std::string("https://host/x.rkllm/"),
        std::string("http://host:99999/x.rkllm"), "hf.co/acme/tiny:" + std::string(300, 'x') + ".rkllm"}) {
    INFO(wrong);
    try {
      with.pull(waiter, wrong);
      FAIL("it is being pulled");
    } catch (const TurnError& error) {
      CHECK(error.kind() == ErrorKind::kBadField);
      CHECK(error.field() == "model");
    }
  }
  with.bench->settle();
  CHECK(waiter.told.empty());
  CHECK(with.hub.heads_of_pages().empty());
}

TEST_CASE("more pulls than may be at once are refused with a time, and one that has joined another is none more") {
  StoreBench with;
  with.hub.files["other.rkllm"] = "another";
  with.hold_hub();
  PullWaiter first;
  PullWaiter second;
  PullWaiter joined;
  PullWaiter third;
  with.pull(first);
  with.pull(second, "hf.co/acme/tiny:other.rkllm");
  with.pull(joined);
  try {
    with.pull(third, "hf.co/acme/tiny:third.rkllm");
    FAIL("a third one is being pulled");
  } catch (const TurnError& error) {
    CHECK(error.kind() == ErrorKind::kQueueFull);
    CHECK(error.retry_after_s() == 60);
  }
  with.let_hub_go_on();
  for (const PullWaiter* each : {&first, &second, &joined}) {
    REQUIRE(with.has_ended(*each));
    CHECK(each->pulled);
  }
}

TEST_CASE("a store that is stopped tells nobody of it, begins nothing, and its places may outlive it") {
  StoreBench with;
  with.hold_hub();
  PullWaiter waiter;
  with.pull(waiter);
  REQUIRE(with.bench->until([&] { return !waiter.told.empty(); }));
  with.store->stop();
  PullWaiter late;
  for (const char* const source : {kTinyOfHub, "hf.co/acme/other"}) {
    try {
      with.pull(late, source);
      FAIL("it is being pulled");
    } catch (const TurnError& error) {
      CHECK(error.kind() == ErrorKind::kNoRoom);
      CHECK(error.what() == std::string("the server is ending"));
      CHECK(error.retry_after_s() == 1);
    }
  }
  CHECK(with.store->end(Clock::now() + kForPulls));  // though the hub is silent
  with.bench->settle();
  CHECK(waiter.ends() == 0);
  with.store.reset();
  waiter.place.reset();
  CHECK(waiter.ends() == 0);
  CHECK(with.in_folder() == StoreWords{"tiny.rkllm.part", "tiny.rkllm.part.tag"});  // for the next time
}

TEST_CASE("a pull that outlives its store, and the loop, touches neither") {
  StoreBench with;
  with.hold_hub();
  PullWaiter waiter;
  with.pull(waiter);
  REQUIRE(with.bench->until([&] { return !waiter.told.empty(); }));
  with.store.reset();
  with.bench.reset();
  const auto is_left = [&with] {
    try {
      const PartFile beginning(with.path_of("tiny.rkllm"));
      return true;
    } catch (const std::runtime_error&) {
      return false;
    }
  };
  CHECK(eventually(is_left));
  CHECK(waiter.ends() == 0);
}

TEST_CASE("a model is deleted by its own name alone, and whoever asked is told when nobody finds it any more") {
  StoreBench with;
  for (const char* const each : {"tiny.rkllm", "tiny.rkllm.txt", "other.rkllm"}) write_file(with.path_of(each), "x");
  with.look();
  REQUIRE(with.bench->models.find("tiny", {}));
  bool was_known = true;
  std::optional<TurnError> error;
  bool is_done = false;
  with.store->remove({"tiny"}, [&](std::optional<TurnError> why) {
    was_known = with.bench->models.find("tiny", {}).has_value();
    error = std::move(why);
    is_done = true;
  });
  CHECK_FALSE(is_done);
  REQUIRE(with.bench->until([&] { return is_done; }));
  CHECK_FALSE(error);
  CHECK_FALSE(was_known);
  CHECK(with.in_folder() == StoreWords{"other.rkllm", "tiny.rkllm.txt"});
  CHECK_FALSE(with.remove({}));
}

TEST_CASE("names that are made to reach other files delete nothing") {
  StoreBench with;
  write_file(with.path_of("tiny.rkllm"), "x");
  write_file(with.path_of("half.rkllm.part"), "x");
  write_file(with.folder() + "/../outside.rkllm", "x");
  write_file(with.folder() + "/../outside.rkllm.part", "x");
  with.look();
  const StoreWords before = with.in_folder();
  for (const std::string& wrong :
       {std::string(), std::string("."), std::string(".."), std::string("/"), std::string("../outside"),
        std::string("../outside.rkllm"), with.path_of("tiny.rkllm"), with.folder() + "/../outside.rkllm",
        std::string("models/tiny"), std::string("tiny\0", 5), std::string("tiny.rkllm\0", 11),
        std::string("half.rkllm.part\0", 16), std::string("tiny\n"), std::string("TINY"), std::string("*"),
        std::string(100'000, 'x')}) {
    INFO(wrong.substr(0, 80));
    for (const StoreWords& names : {StoreWords{wrong}, StoreWords{"tiny", wrong}, StoreWords{wrong, "half"}}) {
      const auto error = with.remove(names);
      REQUIRE(error);
      CHECK(error->kind() == ErrorKind::kUnknownModel);
      CHECK(error->field() == "model");
    }
  }
  CHECK(with.in_folder() == before);
  CHECK(std::filesystem::exists(with.folder() + "/../outside.rkllm"));
  CHECK(std::filesystem::exists(with.folder() + "/../outside.rkllm.part"));
}

TEST_CASE("a model's file is not deleted while it is loaded by whatever path, and the other one of two neither") {
  StoreBench with;
  write_file(with.path_of("tiny.rkllm"), "x");
  write_file(with.path_of("other.rkllm"), "x");
  std::filesystem::create_symlink(with.path_of("tiny.rkllm"), with.folder() + "/../link");
  with.look();
  for (const std::string& path :
       {with.path_of("tiny.rkllm"), with.folder() + "/../models/./tiny.rkllm", with.folder() + "/../link"}) {
    with.loaded = {"/elsewhere/x.rkllm", path};
    const auto error = with.remove({"other", "tiny"});
    REQUIRE(error);
    CHECK(error->kind() == ErrorKind::kNotSupported);
    CHECK_THAT(error->what(), has_text("tiny.rkllm is loaded: unload it first"));
  }
  CHECK(with.in_folder() == StoreWords{"other.rkllm", "tiny.rkllm"});
  with.loaded = {"/elsewhere/x.rkllm"};
  CHECK_FALSE(with.remove({"other", "tiny"}));
  CHECK(with.in_folder().empty());
}

TEST_CASE("a link in the folder of models is deleted as what it is, and the file elsewhere stays") {
  StoreBench with;
  const std::string elsewhere = with.folder() + "/../elsewhere.rkllm";
  write_file(elsewhere, "x");
  std::filesystem::create_symlink(elsewhere, with.path_of("tiny.rkllm"));
  with.look();
  CHECK_FALSE(with.remove({"tiny"}));
  CHECK(with.in_folder().empty());
  CHECK(read_file(elsewhere) == "x");
}

TEST_CASE("what is being pulled is not deleted, and is there when it has been") {
  StoreBench with;
  with.hold_hub();
  PullWaiter waiter;
  with.pull(waiter);
  REQUIRE(with.bench->until([&] { return !waiter.told.empty(); }));
  const auto error = with.remove({"tiny"});
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::kNotSupported);
  CHECK_THAT(error->what(), has_text("is being pulled already"));
  with.let_hub_go_on();
  REQUIRE(with.has_ended(waiter));
  CHECK(waiter.pulled);
  CHECK_FALSE(with.remove({"tiny"}));
  CHECK(with.in_folder().empty());
}
