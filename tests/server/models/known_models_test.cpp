#include "models/known_models.hpp"

#include "model_bench.hpp"
#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

using namespace std::chrono_literals;

namespace {

// What is known of the models of a server that loads none by itself.
class Knowing {
 public:
  explicit Knowing(KnownModels::Choices choices, bool is_simulated = false) {
    queue = std::make_shared<QueuedBackend>(std::make_unique<BoardEngine>(board_), board_methods::kAll,
                                            usual_limits<QueuedBackend::Limits>());
    runtime.queue = queue.get();
    runtime.simulated = is_simulated;
    known.emplace(bench.loop(), log_, runtime, std::move(choices),
                  KnownModels::Options{.resolved = [this](const std::string& path) { return resolved(path); },
                                       .looked = [this] { ++looked; },
                                       .changed = [this] { ++changed; }});
  }
  Knowing(const Knowing&) = delete;
  Knowing& operator=(const Knowing&) = delete;
  ~Knowing() { queue->shut_down(Clock::now() + 30s); }

  // The value of the new handle.
  std::string make(const std::string& path) {
    REQUIRE(make_handle(bench, *queue, path));
    return queue->handles().back().id;
  }
  void look() {
    bool has_looked = false;
    known->look_again([&has_looked] { has_looked = true; });
    REQUIRE(bench.until([&has_looked] { return has_looked; }));
  }
  void refresh() {
    bool is_done = false;
    known->refresh([&is_done] { is_done = true; });
    REQUIRE(bench.until([&is_done] { return is_done; }));
  }
  // The name of the model that answers to `name`; empty: none.
  std::string meant(const std::string& name) const {
    const NamedModel* const model = known->meant(name);
    return model == nullptr ? std::string() : model->name;
  }
  std::string name_of(const std::string& handle) const {
    const auto found = known->find_handle(handle);
    REQUIRE(found);
    return known->name_of(*found);
  }
  std::string told() const { return told_.str(); }

  simulation::SimBench bench;

 private:
  Board board_{8};
  std::ostringstream told_;
  spdlog::logger log_{"test", std::make_shared<spdlog::sinks::ostream_sink_mt>(told_)};

 public:
  std::shared_ptr<QueuedBackend> queue;
  ModelRuntime runtime;
  std::function<std::string(const std::string& path)> resolved = [](const std::string& path) { return path; };
  int looked = 0;
  int changed = 0;
  std::optional<KnownModels> known;
};

KnownModels::Choices two_presets() {
  KnownModels::Choices choices;
  choices.presets = Json{{"a", {{"param", {{"model_path", "/models/a.rkllm"}}}}},
                         {"b", {{"param", {{"model_path", "/models/b.rkllm"}, {"top_k", 3}}}, {"template", "gemma"}}}};
  return choices;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a name means the model that has it, with :latest, too, or the one that an alias stands for") {
  auto choices = two_presets();
  choices.aliases = Json{{"gpt", "b"}, {"b", "a"}, {"nothing", "c"}, {"no text", 1}};
  const Knowing knowing(std::move(choices));
  CHECK(knowing.meant("a") == "a");
  CHECK(knowing.meant("a:latest") == "a");
  CHECK(knowing.meant("gpt") == "b");
  CHECK(knowing.meant("gpt:latest") == "b");
  CHECK(knowing.meant("b") == "b");  // a model's own name goes before an alias
  for (const char* const none : {"nothing", "no text", "c", "", "A", "a:other"}) CHECK(knowing.meant(none).empty());
  CHECK(knowing.known->knows("gpt"));
  CHECK_FALSE(knowing.known->knows("c"));
}

TEST_CASE("aliases that are chosen anew take the place of those before, and who lists the models hears of it") {
  auto choices = two_presets();
  choices.aliases = Json{{"old", "a"}};
  Knowing knowing(choices);
  choices.aliases = Json{{"new", "b"}};
  knowing.known->choose(choices);
  CHECK(knowing.changed == 1);
  CHECK(knowing.meant("new") == "b");
  CHECK(knowing.meant("old").empty());
  knowing.known->choose(choices);
  CHECK(knowing.changed == 1);  // they are as before
}

TEST_CASE("one model may answer to what nobody knows: who asks, not who names a path, a handle, or something exactly") {
  auto choices = two_presets();
  choices.any_model = "b";
  Knowing knowing(choices);
  const std::string handle = knowing.make("/others/own.rkllm");
  CHECK(knowing.meant("gpt-9") == "b");
  CHECK(knowing.meant("a") == "a");
  CHECK(knowing.meant("/others/a.rkllm").empty());
  CHECK(knowing.meant(handle).empty());
  CHECK(knowing.meant("own").empty());
  CHECK(knowing.known->resolve("gpt-9") == nullptr);
  choices.any_model = "c";
  knowing.known->choose(choices);
  CHECK(knowing.meant("gpt-9").empty());
}

TEST_CASE("the files of the directories are models, found when somebody looks, and who lists them hears of new names") {
  const TemporaryDirectory directory;
  auto choices = two_presets();
  choices.model_dirs = {directory.path()};
  Knowing knowing(choices);
  CHECK(knowing.known->looks_into_directories());
  write_file(directory / "late.rkllm", "12345");
  CHECK(knowing.meant("late").empty());
  knowing.look();
  CHECK(knowing.meant("late") == "late");
  CHECK(knowing.known->list().names() == Names{"a", "b", "late"});
  CHECK(knowing.known->describe(*knowing.known->resolve("late")).bytes == 5);
  CHECK(knowing.looked == 1);
  CHECK(knowing.changed == 1);
  write_file(directory / "late.rkllm", "1234567");
  knowing.look();
  CHECK(knowing.known->describe(*knowing.known->resolve("late")).bytes == 7);
  CHECK(knowing.looked == 2);
  CHECK(knowing.changed == 1);  // the names are as before
  choices.model_dirs.clear();
  knowing.known->choose(choices);
  CHECK_FALSE(knowing.known->looks_into_directories());
  REQUIRE(knowing.bench.until([&] { return knowing.changed == 2; }));
  CHECK(knowing.meant("late").empty());
}

TEST_CASE("a file whose name another one has is left out, and the log is told of it once") {
  const TemporaryDirectory first;
  const TemporaryDirectory second;
  write_file(first / "own.rkllm", "1");
  write_file(second / "own.rkllm", "12");
  KnownModels::Choices choices;
  choices.model_dirs = {first.path(), second.path()};
  Knowing knowing(choices);
  knowing.look();
  knowing.look();
  CHECK(knowing.known->list().names() == Names{"own"});
  CHECK(knowing.known->resolve("own")->path == (first / "own.rkllm"));
  const std::string line = (second / "own.rkllm") + " is left out";
  REQUIRE_THAT(knowing.told(), has_text(line));
  CHECK(knowing.told().find(line) == knowing.told().rfind(line));
}

TEST_CASE("directories are looked into once a second at most, and not at all after the end") {
  const TemporaryDirectory directory;
  KnownModels::Choices choices;
  choices.model_dirs = {directory.path()};
  Knowing knowing(choices);
  knowing.refresh();
  write_file(directory / "late.rkllm", "1");
  knowing.bench.pass(999ms);
  knowing.refresh();
  CHECK_FALSE(knowing.known->knows("late"));
  knowing.bench.pass(1ms);
  knowing.refresh();
  CHECK(knowing.known->knows("late"));
  CHECK(knowing.looked == 2);
  knowing.known->stop();
  knowing.bench.pass(10s);
  knowing.refresh();
  CHECK(knowing.looked == 2);
}

TEST_CASE("without directories there is nothing to look for, but for files of handles that nobody has seen") {
  Knowing knowing(two_presets());
  knowing.refresh();
  CHECK(knowing.looked == 0);
  const TemporaryDirectory directory;
  write_file(directory / "own.rkllm", "123");
  const std::string handle = knowing.make(directory / "own.rkllm");
  CHECK_FALSE(knowing.known->describe(*knowing.known->find_handle(handle)).bytes);
  knowing.refresh();
  CHECK(knowing.looked == 1);
  CHECK(knowing.known->describe(*knowing.known->find_handle(handle)).bytes == 3);
  knowing.refresh();
  CHECK(knowing.looked == 1);
  knowing.known->set_autoloaded("b", knowing.make("/others/b.rkllm"));  // which the list tells of
  knowing.refresh();
  CHECK(knowing.looked == 1);
}

TEST_CASE("where the library has a preset's file is looked up by its path, and one that names none stays unknown") {
  const TemporaryDirectory directory;
  write_file(directory / "a.rkllm", "1234");
  Knowing knowing(two_presets());
  knowing.resolved = [&directory](const std::string& path) {
    if (path != "/models/a.rkllm") throw std::runtime_error("not allowed");
    return directory / "a.rkllm";
  };
  knowing.look();
  CHECK(knowing.known->resolve("a")->bytes == 4);
  CHECK(knowing.known->resolve("a")->path == "/models/a.rkllm");
  CHECK_FALSE(knowing.known->resolve("b")->bytes);
  CHECK(knowing.known->file_of("/models/a.rkllm") == (directory / "a.rkllm"));
  CHECK(knowing.known->file_of("/models/b.rkllm").empty());
}

TEST_CASE("a handle goes by its file's name where nothing else does, and by its value always") {
  auto choices = two_presets();
  choices.aliases = Json{{"gpt", "b"}};
  Knowing knowing(std::move(choices));
  const std::string own = knowing.make("/others/own.rkllm");
  const std::string second = knowing.make("/more/own.rkllm");
  const std::string preset = knowing.make("/others/a.rkllm");
  const std::string alias = knowing.make("/others/gpt.rkllm");
  CHECK(knowing.name_of(own) == "own");
  for (const std::string& id : {second, preset, alias}) CHECK(knowing.name_of(id) == id);
  CHECK(knowing.known->find_handle("own")->id == own);
  CHECK(knowing.known->handle_named("own") == own);
  CHECK(knowing.known->handle_named(second) == second);
  CHECK_FALSE(knowing.known->find_handle("a"));
  for (const char* const none : {"a", "gpt", "llm-99", ""}) CHECK(knowing.known->handle_named(none).empty());
  CHECK_FALSE(knowing.known->has_own_name(*knowing.known->find_handle(own)));
}

TEST_CASE("what the settings have loaded goes by its name, until it is gone") {
  Knowing knowing(two_presets());
  const std::string handle = knowing.make("/others/file.rkllm");
  const NamedModel& model = *knowing.known->resolve("b");
  CHECK_FALSE(knowing.known->autoloaded(model));
  knowing.known->set_autoloaded("b", handle);
  REQUIRE(knowing.known->autoloaded(model));
  CHECK(knowing.known->autoloaded(model)->id == handle);
  CHECK_FALSE(knowing.known->autoloaded(*knowing.known->resolve("a")));
  CHECK(knowing.name_of(handle) == "b");
  CHECK(knowing.known->has_own_name(*knowing.known->find_handle(handle)));
  CHECK_FALSE(knowing.known->find_handle("file"));
  CHECK(knowing.known->family_of(*knowing.known->find_handle(handle)) == "gemma");
  CHECK(knowing.meant("b") == "b");

  SECTION("it could not be loaded again") { knowing.known->set_autoloaded("b", {}); }
  SECTION("its process has died") { knowing.known->forget_autoloaded(handle); }
  SECTION("another runtime serves") { knowing.known->forget_all_autoloaded(); }
  CHECK_FALSE(knowing.known->autoloaded(model));
  CHECK(knowing.name_of(handle) == "file");
}

TEST_CASE("the end of another handle does not take the settings' one away") {
  Knowing knowing(two_presets());
  const std::string handle = knowing.make("/others/file.rkllm");
  knowing.known->set_autoloaded("b", handle);
  knowing.known->forget_autoloaded(handle + "0");
  CHECK(knowing.known->autoloaded(*knowing.known->resolve("b")));
  const std::string another = knowing.make("/others/llm-99.rkllm");
  knowing.known->set_autoloaded("b", "llm-99");  // which there is none of, but for the other one's name
  REQUIRE(knowing.name_of(another) == "llm-99");
  CHECK_FALSE(knowing.known->autoloaded(*knowing.known->resolve("b")));
}

TEST_CASE("what is not loaded is described as far as the settings and the file tell") {
  auto choices = two_presets();
  choices.aliases = Json{{"gpt", "b"}, {"claude", "b"}, {"other", "a"}};
  choices.presets["b"]["param"]["model_path"] = "/models/B-rk3576.rkllm";
  const Knowing knowing(std::move(choices));
  const auto description = knowing.known->describe(*knowing.known->resolve("b"));
  CHECK(description.name == "b");
  CHECK(description.path == "/models/B-rk3576.rkllm");
  CHECK(description.template_name == "gemma");
  CHECK(description.platform == "rk3576");
  CHECK(description.aliases == Names{"gpt", "claude"});  // as the settings have them
  CHECK(description.state == chat::ModelState::kOnDisk);
  CHECK(description.handle.empty());
  CHECK_FALSE(description.bytes);
  CHECK_FALSE(knowing.known->describe(*knowing.known->resolve("a")).platform);
}

TEST_CASE("a handle is described as it was made, and as it is used") {
  Knowing knowing(two_presets());
  const std::string handle = knowing.make("/others/Qwen3-RK3588.rkllm");
  const auto description = knowing.known->describe(*knowing.known->find_handle(handle));
  CHECK(description.name == "Qwen3-RK3588");
  CHECK(description.handle == handle);
  CHECK(description.path == "/others/Qwen3-RK3588.rkllm");
  CHECK(description.platform == "rk3588");
  CHECK(description.state == chat::ModelState::kLoaded);
  CHECK(description.waiting == 0);
  CHECK_FALSE(description.context);
}

TEST_CASE("a simulated model says itself in whose form it is talked to") {
  const TemporaryDirectory directory;
  write_file(directory / "simulated.json", R"({"rkllm_simulated_model":1,"chat_template":"chatml","thinking":true})");
  Knowing simulated(two_presets(), true);
  const std::string handle = simulated.make(directory / "simulated.json");
  CHECK(simulated.known->describe(*simulated.known->find_handle(handle)).template_name == "qwen3");
}

TEST_CASE("the name of a real model's file says in whose form it is talked to, if it is a known one") {
  Knowing real(two_presets());
  const std::string named = real.make("/others/gemma2-2b.rkllm");
  CHECK(real.known->describe(*real.known->find_handle(named)).template_name.empty());
  CHECK(real.known->family_of(*real.known->find_handle(named)) == "gemma");
  const std::string unknown = real.make("/others/own.rkllm");
  CHECK(real.known->family_of(*real.known->find_handle(unknown)).empty());
}

TEST_CASE("every name is a preset, with what its model is loaded with and what the settings say beside") {
  const TemporaryDirectory directory;
  write_file(directory / "late.rkllm", "1");
  auto choices = two_presets();
  choices.model_dirs = {directory.path()};
  Knowing knowing(std::move(choices));
  knowing.look();
  const Json presets = knowing.known->as_presets();
  CHECK(presets.size() == 3);
  CHECK(presets["b"]["template"] == "gemma");
  CHECK(presets["b"]["param"]["top_k"] == 3);
  CHECK(presets["late"]["param"]["model_path"] == (directory / "late.rkllm"));
}

TEST_CASE("without a library there are no handles") {
  Knowing knowing(two_presets());
  knowing.runtime.queue = nullptr;
  CHECK(knowing.known->handles().empty());
  CHECK_FALSE(knowing.known->find_handle("llm-1"));
  CHECK(knowing.known->handle_named("llm-1").empty());
  CHECK(knowing.meant("a") == "a");
}

}  // namespace rkllm_mcp::test
