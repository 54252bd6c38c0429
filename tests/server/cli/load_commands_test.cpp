// What `load` and `unload` ask a server for, of one that answers what the test has written.
#include "cli/people/load_commands.hpp"

#include "cli/run_command.hpp"
#include "server/cli/board_bench.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Answers = std::map<std::string, std::vector<Json>>;
using Questions = std::vector<BoardBench::Question>;

Json handle_of(const std::string& handle, const std::string& name, const std::string& path = "") {
  return {{"handle", handle}, {"name", name}, {"path", path}};
}
Json health_with(const Json& models) { return {{"models", models}}; }

Json row_of_model(const std::string& name, const Json& facts = Json::object()) {
  return {{"id", name}, {"rkllm", facts}};
}
Json refused_with(int code, const std::string& message) { return {{"error", {{"code", code}, {"message", message}}}}; }

// A server with a chat host that has these models, and no handles at first.
Answers with_chat(const Json& models, const Json& handles = Json::array()) {
  return {{"GET /v1/models", {{{"data", models}}}},
          {"GET /health", {health_with(handles)}},
          {"POST /api/generate", {{{"done", true}}}}};
}
// The same without a chat host, whose models are loaded by rkllm_init.
Answers without_chat(const Json& models, const Json& handles = Json::array()) {
  return {{"rkllm://models", {{{"models", models}}}},
          {"GET /health", {health_with(handles)}},
          {"rkllm_init", {{{"status", 0}, {"handle", "llm-1"}}}}};
}

// What a command prints that ends well.
template <class Command>
std::string printed_by(const BoardBench& bench, Command command, const StateOptions& options) {
  ServerLink link = bench.link();
  PrintedOutput output;
  const int status = command(link, options);
  std::string text = output.text();
  CHECK(status == kExitOk);
  return text;
}
std::string printed_by_load(const BoardBench& bench, const std::string& model, bool json = false) {
  return printed_by(bench, load_model, {.action = StateOptions::Action::kLoad, .model = model, .json = json});
}
std::string printed_by_unload(const BoardBench& bench, const std::vector<std::string>& models, bool json = false) {
  return printed_by(bench, unload_models, {.action = StateOptions::Action::kUnload, .models = models, .json = json});
}
std::string complaint_of_load(const BoardBench& bench, const std::string& model) {
  ServerLink link = bench.link();
  try {
    load_model(link, {.action = StateOptions::Action::kLoad, .model = model});
    return "none";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}
std::string complaint_of_unload(const BoardBench& bench, const std::vector<std::string>& models) {
  ServerLink link = bench.link();
  try {
    unload_models(link, {.action = StateOptions::Action::kUnload, .models = models});
    return "none";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

// The handles that were destroyed, in order.
std::vector<std::string> destroyed_by(const BoardBench& bench) {
  std::vector<std::string> handles;
  for (const auto& [question, asked] : bench.done()) {
    CHECK(question == "rkllm_destroy");
    handles.push_back(asked["handle"].get<std::string>());
  }
  return handles;
}

BoardBench bench_with_handles(const Json& handles, const Json& models = Json::array()) {
  auto answers = with_chat(models, handles);
  answers["rkllm_destroy"] = {{{"status", 0}}};
  return BoardBench(std::move(answers));
}

}  // namespace

TEST_CASE("a model is loaded by its name for ever, as chat clients load it, and its handle is told") {
  const BoardBench bench(with_chat(Json::array({row_of_model("fast", {{"aliases", {"quick"}}})}),
                                   Json::array({handle_of("llm-1", "fast")})));
  CHECK(printed_by_load(bench, "quick") ==
        "fast is loaded: handle llm-1. Talk to it: rkllm-mcp chat fast" + bench.where() + "\n");
  CHECK(bench.done() == Questions{{"POST /api/generate", {{"model", "fast"}, {"keep_alive", -1}, {"stream", false}}}});
  CHECK(Json::parse(printed_by_load(bench, "fast", true)) ==
        Json{{"status", 0}, {"handle", "llm-1"}, {"model", "fast"}});
}

TEST_CASE("a model that is loaded already is told as that, and stays for ever") {
  const BoardBench bench(with_chat(Json::array({row_of_model("fast", {{"state", "loaded"}, {"handle", "llm-3"}})}),
                                   {handle_of("llm-2", "other"), handle_of("llm-3", "fast")}));
  CHECK_THAT(printed_by_load(bench, "fast"), has_text("fast was loaded already: handle llm-3."));
  CHECK(bench.done().size() == 1);  // with keep_alive
}

TEST_CASE("a server without a chat host loads presets by their name, files by their path, and nothing twice") {
  auto answers = without_chat({{{"name", "big"}}, {{"name", "a"}, {"path", "/models/a.rkllm"}}},
                              Json::array({handle_of("llm-1", "made-by-init")}));
  answers["rkllm://settings"] = {{{"values", {{"models", {{"value", {{"big", {{"param", {}}}}}}}}}}}};
  const BoardBench bench(answers);
  CHECK_THAT(printed_by_load(bench, "big"), has_text("made-by-init is loaded: handle llm-1."));
  printed_by_load(bench, "a");
  CHECK(bench.done() == Questions{{"rkllm_init", {{"model", "big"}}},
                                  {"rkllm_init", {{"param", {{"model_path", "/models/a.rkllm"}}}}}});

  // What rkllm_init has made of the file has a name of its own.
  const BoardBench has_it(
      without_chat({{{"name", "a"}, {"path", "/models/a.rkllm"}},
                    {{"name", "llm-1"}, {"path", "/models/a.rkllm"}, {"state", "loaded"}, {"handle", "llm-1"}}},
                   Json::array({handle_of("llm-1", "llm-1")})));
  CHECK_THAT(printed_by_load(has_it, "a"), has_text("llm-1 was loaded already: handle llm-1."));
  CHECK(has_it.done().empty());
}

TEST_CASE("a file gets the context of models that are loaded by name, and the runtime's own where that is refused") {
  auto answers = without_chat(Json::array(), Json::array({handle_of("llm-1", "a")}));
  answers["rkllm://settings"] = {{{"values", {{"runtime.default_context", {{"value", 4096}}}}}}};
  const Json with_context{{"param", {{"model_path", "/nowhere/a.rkllm"}, {"max_context_len", 4096}}}};
  const Json without{{"param", {{"model_path", "/nowhere/a.rkllm"}}}};
  {
    const BoardBench bench(answers);
    CHECK_THAT(printed_by_load(bench, "/nowhere/a.rkllm"), has_text("a is loaded: handle llm-1."));
    CHECK(bench.done() == Questions{{"rkllm_init", with_context}});
  }
  answers["rkllm_init"] = {refused_with(4001, "too long"), {{"status", 0}, {"handle", "llm-1"}}};
  {
    const BoardBench bench(answers);
    printed_by_load(bench, "/nowhere/a.rkllm");
    CHECK(bench.done() == Questions{{"rkllm_init", with_context}, {"rkllm_init", without}});
  }
  // Another refusal is not about the context.
  answers["rkllm_init"] = {refused_with(4007, "not permitted"), {{"status", 0}, {"handle", "llm-1"}}};
  {
    const BoardBench bench(answers);
    CHECK(complaint_of_load(bench, "/nowhere/a.rkllm") == "not permitted");
    CHECK(bench.done().size() == 1);
  }
  answers["rkllm_init"] = {refused_with(4001, "no such file")};
  CHECK(complaint_of_load(BoardBench(answers), "/nowhere/a.rkllm") == "no such file");
}

TEST_CASE("a file of this machine is sent with its whole path, and one that is not here as it was said") {
  const TemporaryDirectory folder;
  std::filesystem::create_directory(folder / "inner");
  write_file(folder / "here.bin", "weights");
  auto answers = with_chat(Json::array({row_of_model("other")}), Json::array({handle_of("llm-1", "a")}));
  answers["rkllm_init"] = {{{"status", 0}, {"handle", "llm-1"}}};
  const BoardBench bench(answers);
  printed_by_load(bench, folder / "inner/../here.bin");
  printed_by_load(bench, "there.rkllm");
  printed_by_load(bench, "folder/there");
  const auto path_of = [&bench](std::size_t each) { return bench.done().at(each).second["param"]["model_path"]; };
  CHECK(path_of(0) == Json(folder / "here.bin"));
  CHECK(path_of(1) == "there.rkllm");
  CHECK(path_of(2) == "folder/there");
}

TEST_CASE("what cannot be loaded is answered with what is meant, or with what comes first") {
  const BoardBench bench(with_chat({row_of_model("fast"), row_of_model("poet", {{"profile", true}})}));
  CHECK_THAT(complaint_of_load(bench, "fsat"), has_text("no model fsat") && has_text("did you mean \"fast\"?"));
  CHECK(complaint_of_load(bench, "poet") == "poet is a profile: its model is loaded by that one's name");
  CHECK(bench.done().empty());

  auto nothing = with_chat(Json::array());
  nothing["GET /health"] = {{{"models", Json::array()}, {"runtime", {{"simulated", false}}}}};
  CHECK_THAT(complaint_of_load(BoardBench(nothing), "fast"),
             has_text("there is no model fast, nor any other. ") && has_text("rkllm-mcp pull hf.co/OWNER/NAME"));
}

TEST_CASE("a model is unloaded by its handle, its name, its file or another name, with all of its handles") {
  const Json handles{handle_of("llm-1", "fast", "/models/fast-v1.rkllm"),
                     handle_of("llm-2", "fast", "/models/fast-v1.rkllm"),
                     handle_of("llm-3", "large", "/models/large.rkllm")};
  const Json models =
      Json::array({row_of_model("large", {{"aliases", {"big"}}, {"state", "loaded"}, {"handle", "llm-3"}})});
  using Handles = std::vector<std::string>;
  for (const auto& [name, destroyed] : std::map<std::string, Handles>{{"llm-2", {"llm-2"}},
                                                                      {"fast", {"llm-1", "llm-2"}},
                                                                      {"/models/fast-v1.rkllm", {"llm-1", "llm-2"}},
                                                                      {"fast-v1.rkllm", {"llm-1", "llm-2"}},
                                                                      {"fast-v1", {"llm-1", "llm-2"}},
                                                                      {"big", {"llm-3"}}}) {
    INFO(name);
    const BoardBench bench = bench_with_handles(handles, models);
    const std::string printed = printed_by_unload(bench, {name});
    CHECK(destroyed_by(bench) == destroyed);
    CHECK_THAT(printed,
               destroyed.size() == 2 ? has_text(" is unloaded (handle llm-1).\n") : has_text(name + " is unloaded.\n"));
  }
}

TEST_CASE("several models are unloaded each once, whatever they are called by") {
  const BoardBench bench = bench_with_handles({handle_of("llm-1", "fast"), handle_of("llm-2", "large")});
  CHECK(printed_by_unload(bench, {"large", "llm-2", "fast"}) == "large is unloaded.\nfast is unloaded.\n");
  CHECK(destroyed_by(bench) == std::vector<std::string>{"llm-2", "llm-1"});

  const BoardBench other = bench_with_handles({handle_of("llm-1", "fast"), handle_of("llm-2", "large")});
  CHECK(Json::parse(printed_by_unload(other, {"fast", "large"}, true)) ==
        Json{{"status", 0},
             {"unloaded", {{{"model", "fast"}, {"handle", "llm-1"}}, {{"model", "large"}, {"handle", "llm-2"}}}}});
}

TEST_CASE("nothing is unloaded where one of the names is wrong or means several models") {
  const Json handles{handle_of("llm-1", "one", "/models/same.rkllm"), handle_of("llm-2", "two", "/models/same.rkllm")};
  const BoardBench bench = bench_with_handles(handles, Json::array({row_of_model("other")}));
  CHECK(complaint_of_unload(bench, {"one", "othr"}) ==
        "othr is not loaded; did you mean \"other\"?; loaded: llm-1 (one), llm-2 (two)");
  CHECK(complaint_of_unload(bench, {"other"}) == "other is not loaded; loaded: llm-1 (one), llm-2 (two)");
  CHECK(complaint_of_unload(bench, {"one", "same"}) ==
        "same is loaded more than once: name the handle; loaded: llm-1 (one), llm-2 (two)");
  CHECK(bench.done().empty());
  CHECK(complaint_of_unload(bench_with_handles(Json::array()), {"x"}) == "x is not loaded; loaded: nothing");
}

TEST_CASE("of models of which one stays loaded those that are gone are told all the same") {
  auto answers = with_chat(Json::array(), {handle_of("llm-1", "fast"), handle_of("llm-2", "large")});
  answers["rkllm_destroy"] = {{{"status", 0}}, refused_with(4007, "not permitted")};
  const BoardBench bench(answers);
  ServerLink link = bench.link();
  const StateOptions options{.action = StateOptions::Action::kUnload, .models = {"fast", "large"}, .json = true};
  PrintedOutput output;
  CHECK_THROWS_AS(unload_models(link, options), ServerRefuses);
  CHECK(Json::parse(output.text())["unloaded"] == Json::array({{{"model", "fast"}, {"handle", "llm-1"}}}));
}

}  // namespace rkllm_mcp::test
