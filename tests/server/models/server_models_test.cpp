#include "models/server_models.hpp"

#include "model_bench.hpp"
#include "models/named_backend.hpp"
#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace rkllm_mcp::test {

using chat::ErrorKind;
using std::chrono::seconds;

namespace {

using Bench = ModelBench<simulation::SimBench>;

struct CallEnd final : CallObserver {
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override { has_come = true; }

  std::atomic<bool> has_come{false};
};

void init(Bench& bench, const std::string& path) { REQUIRE(make_handle(bench.around, *bench.queue, path)); }

}  // namespace

TEST_CASE("a model is loaded when it is first asked for, once for all who wait, and they have it in their order") {
  Bench bench(presets({"a"}));
  bench.board.hold_loads();
  const auto first = bench.ask("a");
  const auto second = bench.ask("a:latest");
  REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
  CHECK(bench.models.find("a", {})->state == chat::ModelState::kLoading);
  CHECK_FALSE(first->done());
  bench.around.pass(seconds(1));
  bench.board.let_loads_go();
  REQUIRE(bench.granted(first));
  bench.settle();
  CHECK_FALSE(second->done());
  CHECK(bench.models.find("a", {})->state == chat::ModelState::kLoaded);
  const auto load = first->lease->load_number();
  CHECK(first->lease->load_ms());
  REQUIRE(bench.until([&] { return first->lease->others_wait(); }));
  first->lease.reset();
  REQUIRE(bench.granted(second));
  CHECK(second->lease->load_number() == load);
  CHECK(bench.board.loads() == 1);
}

TEST_CASE("a model whose calls are marked by special tokens is loaded to show them, unless its preset says otherwise") {
  auto choices = presets({"internlm2-1.8b", "qwen2-1.5b", "hiding", "named"});
  choices.presets["hiding"]["template"] = "internlm2";
  choices.presets["hiding"]["param"]["skip_special_token"] = true;
  choices.presets["named"]["template"] = "phi4_mini";
  Bench bench(choices);
  const auto shows = [&bench](const std::string& name) {
    const auto asking = bench.ask(name);
    REQUIRE(bench.granted(asking));
    return asking->lease->model().facts().shows_special_tokens;
  };
  CHECK(shows("internlm2-1.8b"));
  CHECK(shows("named"));
  CHECK(shows("/elsewhere/DeepSeek-R1-Distill-Qwen-1.5B.rkllm"));
  CHECK_FALSE(shows("qwen2-1.5b"));
  CHECK_FALSE(shows("hiding"));
  const Json loaded = bench.models.known().as_presets();  // what the settings have loaded is made of these
  CHECK(loaded["named"]["param"]["skip_special_token"] == false);
  CHECK(loaded["hiding"]["param"]["skip_special_token"] == true);
  CHECK_FALSE(loaded["qwen2-1.5b"]["param"].contains("skip_special_token"));
}

TEST_CASE("a model whose template is not known is told of when it is loaded") {
  auto choices = presets({"mystery", "qwen2-1.5b", "named"});
  choices.presets["named"]["template"] = "gemma";
  Bench bench(choices);
  std::ostringstream told;
  bench.log.sinks().push_back(std::make_shared<spdlog::sinks::ostream_sink_mt>(told));
  for (const std::string name : {"mystery", "qwen2-1.5b", "named", "mystery"}) {
    REQUIRE(bench.granted(bench.ask(name)));
    bench.settle();
  }
  CHECK_THAT(told.str(), has_text("model mystery: its template is not known"));
  CHECK_THAT(told.str(), has_text("models.mystery.template"));
  CHECK(told.str().find("its template is not known") == told.str().rfind("its template is not known"));
  std::map<std::string, std::string> families;
  for (const auto& handle : bench.queue->handles()) families[handle.model] = bench.models.known().family_of(handle);
  CHECK(families == std::map<std::string, std::string>{{"mystery", ""}, {"named", "gemma"}, {"qwen2-1.5b", "qwen2"}});
}

TEST_CASE("by its handle a model is written to in the template that its preset names") {
  auto choices = presets({"mystery"});
  choices.presets["mystery"]["template"] = "gemma";
  Bench bench(choices);
  REQUIRE(bench.granted(bench.ask("mystery")));
  const std::string handle = bench.models.handle_of("mystery");
  CHECK(bench.models.find(handle, {})->template_name == "gemma");
  const auto asking = bench.ask(handle);
  REQUIRE(bench.granted(asking));
  CHECK(asking->lease->model().facts().template_name == "gemma");
}

TEST_CASE("a model that nobody uses is unloaded after keep_alive, not before, and never while it is leased") {
  auto choices = presets({"a"});
  choices.keep_alive = {false, 60};
  Bench bench(choices);
  const auto asking = bench.ask("a");
  REQUIRE(bench.granted(asking));
  bench.around.pass(seconds(1000));
  CHECK(bench.is_loaded("a"));
  asking->lease.reset();
  bench.around.pass(seconds(59));
  CHECK(bench.is_loaded("a"));
  CHECK(bench.models.find("a", {})->expires_s);
  REQUIRE(bench.all_unloaded_after(seconds(2)));
  REQUIRE(bench.until([&] { return bench.models.find("a", {})->state == chat::ModelState::kOnDisk; }));
  const auto again = bench.ask("a");
  REQUIRE(bench.granted(again));
  CHECK(bench.board.loads() == 2);
}

TEST_CASE("a keep_alive that the settings say anew holds for a model that is loaded, shorter or longer") {
  auto choices = presets({"a"});
  const bool is_for_ever = GENERATE(true, false);
  choices.keep_alive = {is_for_ever, 10'000};
  Bench bench(choices);
  const auto asking = bench.ask("a");
  REQUIRE(bench.granted(asking));
  asking->lease.reset();
  bench.around.pass(seconds(10));
  choices.keep_alive = {false, 60};
  bench.models.choose(choices);
  bench.around.pass(seconds(20));
  choices.keep_alive = {false, 100};
  bench.models.choose(choices);
  bench.around.pass(seconds(60));
  CHECK(bench.is_loaded("a"));
  CHECK(bench.all_unloaded_after(seconds(15)));
}

TEST_CASE("a model that is kept for no time goes as soon as a call that named it has ended") {
  auto choices = presets({"a"});
  choices.keep_alive = {false, 0};
  Bench bench(choices);
  bench.board.hold_runs();
  NamedBackend backend(bench.loop, bench.models, [&bench]() -> Backend& { return *bench.queue; });
  const auto methods = Bench::methods();
  const auto ended = std::make_shared<CallEnd>();
  const auto id = backend.start({.method = &*std::ranges::find(methods, "rkllm_run", &Method::name),
                                 .params = Json{{"handle", "a"}},
                                 .observer = ended});
  REQUIRE(bench.until([&] { return bench.is_loaded("a"); }));
  bench.around.pass(seconds(100));
  CHECK(bench.board.loaded() == 1);
  CHECK(bench.is_loaded("a"));
  backend.cancel(id);
  REQUIRE(bench.until([&] { return ended->has_come.load(); }));
  bench.around.pass(std::chrono::milliseconds(100));
  CHECK(bench.board.loaded() == 0);
}

TEST_CASE("keep_alive of a request holds for its load, and 0 unloads at once and takes the permission admin") {
  Bench bench(presets({"a"}));
  const chat::KeepAlive none{false, 0};
  const auto refused = bench.ask("a", {.name = "ann", .may_call = true, .may_admin = false}, none);
  REQUIRE(bench.until([&] { return refused->done(); }));
  CHECK(refused->kind == ErrorKind::kForbidden);
  const auto asking = bench.ask("a", {}, none);
  REQUIRE(bench.granted(asking));
  asking->lease.reset();
  CHECK(bench.all_unloaded_after(seconds(0)));
}

TEST_CASE("a keep_alive too short to come back in takes the permission that 0 takes") {
  Bench bench(presets({"a"}));
  const chat::Asker ann{.name = "ann", .may_call = true, .may_admin = false};
  const auto refused = bench.ask("a", ann, chat::KeepAlive{false, 0.001});
  REQUIRE(bench.until([&] { return refused->done(); }));
  CHECK(refused->kind == ErrorKind::kForbidden);
  const auto asking = bench.ask("a", ann, chat::KeepAlive{false, 1});
  CHECK(bench.granted(asking));
}

TEST_CASE("a call that goes to a model's handle uses it like a lease: the model expires later, and goes later") {
  Bench bench(presets({"a", "b", "c"}), 2);
  for (const char* const name : {"a", "b"}) {
    const auto asking = bench.ask(name);
    REQUIRE(bench.granted(asking));
    asking->lease.reset();
    bench.around.pass(seconds(1));
  }
  const auto expires = bench.models.find("a", {})->expires_s;
  REQUIRE(expires);
  bench.around.pass(seconds(10));
  const auto methods = Bench::methods();
  const auto ended = std::make_shared<CallEnd>();
  bench.queue->start({.method = &*std::ranges::find(methods, "rkllm_clear_kv_cache", &Method::name),
                      .params = Json{{"handle", bench.models.handle_of("a")}},
                      .observer = ended});
  REQUIRE(bench.until([&] { return ended->has_come.load(); }));
  CHECK(bench.models.find("a", {})->expires_s.value_or(0) > *expires);
  REQUIRE(bench.granted(bench.ask("c")));
  CHECK(bench.is_loaded("a"));
  CHECK_FALSE(bench.is_loaded("b"));
}

TEST_CASE("a model that a call by its name uses stays for as long as that lasts, and then goes after keep_alive") {
  Bench bench(presets({"a"}));
  bench.board.hold_runs();
  NamedBackend backend(bench.loop, bench.models, [&bench]() -> Backend& { return *bench.queue; });
  const auto methods = Bench::methods();
  for (const char* const name : {"waits for the load", "finds it loaded"}) {
    INFO(name);
    const auto ended = std::make_shared<CallEnd>();
    const auto id = backend.start({.method = &*std::ranges::find(methods, "rkllm_run", &Method::name),
                                   .params = Json{{"handle", "a"}},
                                   .observer = ended});
    REQUIRE(bench.until([&] { return bench.is_loaded("a"); }));
    bench.around.pass(seconds(100'000));
    CHECK(bench.board.loaded() == 1);
    CHECK(bench.is_loaded("a"));
    backend.cancel(id);
    REQUIRE(bench.until([&] { return ended->has_come.load(); }));
    CHECK(bench.board.loads() == 1);
  }
  bench.around.pass(seconds(defaults::kRuntimeKeepAliveS - 1));
  CHECK(bench.board.loaded() == 1);
  CHECK(bench.all_unloaded_after(seconds(3)));
}

TEST_CASE("the model that was used longest ago makes room for another, and one in use never does") {
  Bench bench(presets({"a", "b", "c"}), 2);
  const auto a = bench.ask("a");
  REQUIRE(bench.granted(a));
  a->lease.reset();
  bench.around.pass(seconds(1));
  const auto b = bench.ask("b");
  REQUIRE(bench.granted(b));
  b->lease.reset();
  bench.around.pass(seconds(1));
  const auto c = bench.ask("c");
  REQUIRE(bench.granted(c));
  CHECK_FALSE(bench.is_loaded("a"));
  CHECK(bench.is_loaded("b"));
  const auto b_again = bench.ask("b");
  REQUIRE(bench.granted(b_again));
  const auto a_again = bench.ask("a");
  REQUIRE(bench.until([&] { return a_again->done(); }));
  CHECK(a_again->kind == ErrorKind::kNoRoom);
}

TEST_CASE("a model that cannot be loaded tells all who wait, and is tried again by the next") {
  Bench bench(presets({"broken"}));
  const auto first = bench.ask("broken");
  const auto second = bench.ask("broken");
  REQUIRE(bench.until([&] { return first->done() && second->done(); }));
  CHECK(first->kind == ErrorKind::kRuntimeFailed);
  CHECK(second->complaint.find("rkllm_init returned -1") != std::string::npos);
  const auto third = bench.ask("broken");
  REQUIRE(bench.until([&] { return third->done(); }));
  CHECK(bench.board.loads() == 2);
}

TEST_CASE("who gives a place up while the model is loaded is not called, and the model is unloaded in its time") {
  Bench bench(presets({"a"}));
  bench.board.hold_loads();
  const auto asking = bench.ask("a");
  REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
  asking->place.reset();
  bench.board.let_loads_go();
  REQUIRE(bench.until([&] { return bench.is_loaded("a"); }));
  CHECK_FALSE(asking->done());
  CHECK(bench.all_unloaded_after(seconds(301)));
}

TEST_CASE("who gives a place up behind another leaves the queue, and the next one has the model") {
  Bench bench(presets({"a"}));
  const auto first = bench.ask("a");
  const auto second = bench.ask("a");
  const auto third = bench.ask("a");
  REQUIRE(bench.granted(first));
  REQUIRE(bench.until([&] { return bench.models.find("a", {})->waiting == 3; }));
  second->place.reset();
  first->lease.reset();
  REQUIRE(bench.granted(third));
  CHECK_FALSE(second->done());
}

TEST_CASE("a model whose process died is loaded again for the next one") {
  Bench bench(presets({"a"}));
  const auto first = bench.ask("a");
  const auto second = bench.ask("a");
  REQUIRE(bench.granted(first));
  const auto load = first->lease->load_number();
  bench.board.kill(bench.models.handle_of("a"));
  first->lease.reset();
  REQUIRE(bench.granted(second));
  CHECK(second->lease->load_number() != load);
  CHECK(bench.board.loads() == 2);
}

TEST_CASE("a queue has its length, and one access token its share of it") {
  auto choices = presets({"a"});
  choices.most_waiting = 3;
  choices.most_per_holder = 1;
  Bench bench(choices);
  bench.board.hold_loads();
  const chat::Asker ann{.name = "ann"};
  const auto first = bench.ask("a", ann);
  const auto too_many = bench.ask("a", ann);
  const auto second = bench.ask("a");
  const auto third = bench.ask("a");
  const auto full = bench.ask("a");
  REQUIRE(bench.until([&] { return too_many->done() && full->done(); }));
  CHECK(too_many->kind == ErrorKind::kQueueFull);
  CHECK(full->kind == ErrorKind::kQueueFull);
  CHECK(bench.counts.reached.at(static_cast<std::size_t>(Limit::kQueueLength)) == 2);
  bench.board.let_loads_go();
  REQUIRE(bench.granted(first));
}

TEST_CASE("names: aliases, one for all that nobody knows, new files, and who may ask for a path") {
  const TemporaryDirectory directory;
  auto choices = presets({"a"});
  choices.aliases = Json{{"gpt-4o-mini", "a"}};
  choices.model_dirs = {directory.path()};
  Bench bench(choices);
  CHECK(bench.models.find("gpt-4o-mini", {})->name == "a");
  CHECK(bench.models.find("a", {})->aliases == std::vector<std::string>{"gpt-4o-mini"});
  CHECK_FALSE(bench.models.find("gpt-4o-mini", {.name = "x", .may_call = false}));
  const auto nobody = bench.ask("late");
  REQUIRE(bench.until([&] { return nobody->done(); }));
  CHECK(nobody->kind == ErrorKind::kUnknownModel);
  write_file(directory / "late.rkllm", "x");
  const auto late = bench.ask("late");
  REQUIRE(bench.granted(late));
  const auto path = bench.ask("/models/other.rkllm", {.name = "ann", .may_call = true, .may_admin = false});
  REQUIRE(bench.until([&] { return path->done(); }));
  CHECK(path->kind == ErrorKind::kForbidden);
  choices.any_model = "a";
  bench.models.choose(choices);
  CHECK(bench.models.find("claude-x", {})->name == "a");
}

TEST_CASE("who asks while the folders are being looked through waits for what is found there") {
  const TemporaryDirectory directory;
  auto choices = presets({"a"});
  choices.model_dirs = {directory.path()};
  Bench bench(choices);
  write_file(directory / "late.rkllm", "x");
  bool is_looked = false;
  std::optional<bool> is_known;
  bench.models.refresh([&] { is_looked = true; });
  bench.models.refresh([&] { is_known = is_looked && bench.models.find("late", {}).has_value(); });
  REQUIRE(bench.until([&] { return is_known.has_value(); }));
  CHECK(*is_known);
}

TEST_CASE("a handle that rkllm_init has made goes by its file's name where nothing else does, and by its value") {
  Bench bench(presets({"a"}));
  for (const char* const path : {"/models/own.rkllm", "/others/own.rkllm", "/others/a.rkllm"}) init(bench, path);
  REQUIRE(bench.until([&] { return bench.models.models({}).size() == 4; }));
  std::vector<std::string> names;
  for (const auto& model : bench.models.models({})) names.push_back(model.name);
  CHECK(names == std::vector<std::string>{"a", "own", "llm-2", "llm-3"});
  CHECK(bench.models.find("own", {})->path == "/models/own.rkllm");
  CHECK(bench.models.find("own", {})->handle == "llm-1");
  CHECK(bench.models.find("llm-1", {})->name == "own");
  CHECK(bench.models.find("llm-2", {})->path == "/others/own.rkllm");
  CHECK(bench.models.find("a", {})->handle.empty());  // the preset, which is not loaded
  CHECK(bench.models.known().handle_named("own") == "llm-1");
  CHECK(bench.models.known().handle_named("a").empty());
  const auto asking = bench.ask("own");
  REQUIRE(bench.granted(asking));
  CHECK(bench.board.loaded() == 3);
}

TEST_CASE("which platform a model was made for is told by its file's name, or not at all") {
  Bench bench(presets({"a"}));
  for (const char* const path : {"/rk3576/own.rkllm", "/models/Qwen3-RK3588-w8a8.rkllm"}) init(bench, path);
  REQUIRE(bench.until([&] { return bench.models.models({}).size() == 3; }));
  CHECK(bench.models.find("own", {})->platform == std::nullopt);
  CHECK(bench.models.find("Qwen3-RK3588-w8a8", {})->platform == "rk3588");
}

TEST_CASE("a handle that rkllm_init has made is leased like a model, and is never unloaded here") {
  Bench bench(presets({"a"}));
  init(bench, "/models/own.rkllm");
  REQUIRE(bench.until([&] { return bench.models.models({}).size() == 2; }));
  const std::string id = bench.queue->handles().at(0).id;
  CHECK(bench.models.find(id, {})->path == "/models/own.rkllm");
  const auto asking = bench.ask(id);
  REQUIRE(bench.granted(asking));
  asking->lease.reset();
  bench.around.pass(seconds(100'000));
  CHECK(bench.board.loaded() == 1);
  std::optional<chat::TurnError> refused;
  bench.models.unload(id, {}, [&](std::optional<chat::TurnError> error) { refused = std::move(error); });
  REQUIRE(bench.until([&] { return refused.has_value(); }));
  CHECK(refused->kind() == ErrorKind::kNotSupported);
}

TEST_CASE("a handle that rkllm_init has made is itself, also where chat.any_model answers for every other name") {
  auto choices = presets({"a"});
  choices.any_model = "a";
  Bench bench(choices);
  init(bench, "/models/own.rkllm");
  const auto own = bench.ask("own");
  REQUIRE(bench.granted(own));
  CHECK(own->lease->model().facts().name == "own");
  CHECK(own->lease->model().facts().file_name == "own.rkllm");
  const auto other = bench.ask("gpt-9");
  REQUIRE(bench.granted(other));  // beside it: they are two models
  CHECK(other->lease->model().facts().name == "a");
  other->lease.reset();
  std::optional<chat::TurnError> refused;
  bench.models.unload("own", {}, [&](std::optional<chat::TurnError> error) { refused = std::move(error); });
  REQUIRE(bench.until([&] { return refused.has_value(); }));
  CHECK(refused->kind() == ErrorKind::kNotSupported);
  CHECK(bench.is_loaded("a"));
}

TEST_CASE(
    "chat.any_model answers who asks something, and is not unloaded, called or taken for a file by a wrong name") {
  auto choices = presets({"a"});
  choices.any_model = "a";
  Bench bench(choices);
  REQUIRE(bench.granted(bench.ask("gpt-9")));
  REQUIRE(bench.is_loaded("a"));
  std::optional<chat::TurnError> refused;
  bench.models.unload("typo", {}, [&](std::optional<chat::TurnError> error) { refused = std::move(error); });
  REQUIRE(bench.until([&] { return refused.has_value(); }));
  CHECK(refused->kind() == ErrorKind::kUnknownModel);
  CHECK(bench.is_loaded("a"));
  CHECK(bench.models.handle_of("typo").empty());
  CHECK_FALSE(bench.models.handle_of("a").empty());
  CHECK_FALSE(bench.models.known().knows("typo"));
  CHECK(bench.models.slot_for("typo") == nullptr);
  CHECK_FALSE(bench.models.find("/models/other.rkllm", {.name = "x", .may_call = true, .may_admin = false}));
  const auto path = bench.ask("/models/other.rkllm", {.name = "x", .may_call = true, .may_admin = false});
  REQUIRE(bench.until([&] { return path->done(); }));
  CHECK(path->kind == ErrorKind::kForbidden);
}

TEST_CASE("who only wants a model loaded does not wait for those who use it, and its keep_alive holds") {
  auto choices = presets({"a"});
  choices.keep_alive = {false, 60};
  Bench bench(choices);
  const auto user = bench.ask("a");
  REQUIRE(bench.granted(user));
  const auto waiting = bench.ask("a");
  bool loaded = false;
  const auto place = bench.load({.model = "a", .keep_alive = chat::KeepAlive{false, 600}},
                                [&](bool is_loaded) { loaded = is_loaded; });
  CHECK_FALSE(loaded);
  REQUIRE(bench.until([&] { return loaded; }));
  CHECK_FALSE(waiting->done());
  waiting->place.reset();
  user->lease.reset();
  bench.around.pass(seconds(599));
  CHECK(bench.is_loaded("a"));
  CHECK(bench.all_unloaded_after(seconds(2)));
}

TEST_CASE("a load that is given up is not told of, and one of a handle that is there is done") {
  Bench bench(presets({"a"}));
  bench.board.hold_loads();
  bool told = false;
  const auto note = [&](bool) { told = true; };
  auto place = bench.load({.model = "a"}, note);
  REQUIRE(bench.until([&] { return bench.board.loads() == 1; }));
  place.reset();
  bench.board.let_loads_go();
  REQUIRE(bench.until([&] { return bench.is_loaded("a"); }));
  CHECK_FALSE(told);
  init(bench, "/models/own.rkllm");
  place = bench.load({.model = "own"}, note);
  CHECK_FALSE(told);
  CHECK(bench.until([&] { return told; }));
}

TEST_CASE("a model is loaded and unloaded on request, and unloading waits for those who use it") {
  Bench bench(presets({"a"}));
  bool loaded = false;
  const auto place = bench.load({.model = "a"}, [&](bool is_loaded) { loaded = is_loaded; });
  REQUIRE(bench.until([&] { return loaded; }));
  const auto asking = bench.ask("a");
  REQUIRE(bench.granted(asking));
  bool unloaded = false;
  bench.models.unload("a", {}, [&](const std::optional<chat::TurnError>& error) { unloaded = !error; });
  bench.settle();
  CHECK_FALSE(unloaded);
  CHECK(bench.board.loaded() == 1);
  asking->lease.reset();
  REQUIRE(bench.until([&] { return unloaded; }));
  CHECK(bench.board.loaded() == 0);
}

TEST_CASE("another runtime has none of the models of the one before, and loads them again") {
  Bench bench(presets({"a"}));
  const auto first = bench.ask("a");
  REQUIRE(bench.granted(first));
  first->lease.reset();
  const auto before = bench.queue;
  bench.use_new_runtime();
  CHECK_FALSE(bench.is_loaded("a"));
  CHECK(bench.models.find("a", {})->state == chat::ModelState::kOnDisk);
  const auto second = bench.ask("a");
  REQUIRE(bench.granted(second));
  CHECK(bench.queue->handles().size() == 1);
  CHECK(before->shut_down(Clock::now() + seconds(30)));
}

}  // namespace rkllm_mcp::test
