// The real program, as a user meets it on the command line.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/json.hpp>

#include <unistd.h>

#include <filesystem>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

// Runs the program with a home of its own, in an empty directory.
class Shell {
 public:
  EndedProcess run(std::vector<std::string> args, std::vector<std::pair<std::string, std::string>> env = {}) {
    args.insert(args.begin(), kProgram);
    env.insert(env.begin(), {{"HOME", directory_.path()}});
    return run_to_end({.args = std::move(args),
                       .env = std::move(env),
                       .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
                       .directory = directory_.path()});
  }
  std::string operator/(std::string_view name) const { return directory_ / name; }

 private:
  TemporaryDirectory directory_;
};

}  // namespace

TEST_CASE("the option --version names the program, the ABI sets and the runtime") {
  const auto finished = Shell().run({"--version"});
  CHECK(finished.status == 0);
  CHECK_THAT(finished.out, Catch::Matchers::Matches(
                               "rkllm-mcp [0-9]+\\.[0-9]+\\.[0-9]+ \\(ABI sets: .*1\\.3\\.0.*; runtime: .+\\)\n"));
  CHECK(finished.err.empty());
}

TEST_CASE("the options --version --json, in any order, print the same as JSON") {
  for (const std::vector<std::string>& line :
       {std::vector<std::string>{"--version", "--json"}, {"--json", "--version"}}) {
    const auto finished = Shell().run(line);
    CHECK(finished.status == 0);
    const Json report = Json::parse(finished.out);
    CHECK(report["version"].is_string());
    CHECK(report["abi_sets"].is_array());
    CHECK(report["abi_sets"].back() == "1.3.0");
    CHECK(report.contains("runtime"));
  }
  Shell shell;
  const auto simulated = shell.run({"--version", "--json"}, {{"RKLLM_MCP_RUNTIME_LIBRARY", "simulator"}});
  CHECK(Json::parse(simulated.out)["runtime"]["simulated"] == true);
  const auto alone = shell.run({"--json", "status"});
  CHECK(alone.status == 2);
  CHECK_THAT(alone.err, has_text("--version"));
}

TEST_CASE("the option --help shows every command, examples and the exit codes") {
  const auto finished = Shell().run({"--help"});
  CHECK(finished.status == 0);
  for (const char* word : {"serve", "stdio", "call", "connect", "settings", "Examples:", "Exit codes:"}) {
    CHECK_THAT(finished.out, has_text(word));
  }
  for (const char* command : {"serve", "stdio", "call", "settings"}) {
    const auto help = Shell().run({command, "--help"});
    CHECK(help.status == 0);
    CHECK_THAT(help.out, has_text("--settings PATH"));
  }
}

TEST_CASE("the help of connect names every transport, the token's variable and the exit codes") {
  const auto help = Shell().run({"connect", "--help"});
  CHECK(help.status == 0);
  for (const char* word : {"tcp://", "unix://", "udp://", "http[s]://", "ws://", "RKLLM_MCP_TOKEN", "--ca-file",
                           "-32603", "exit code 0", "exit code 1"}) {
    CHECK_THAT(help.out, has_text(word));
  }
}

TEST_CASE("a command line that cannot be understood ends with 2 and says why") {
  const std::vector<std::vector<std::string>> lines{{"sevre"},
                                                    {"serve", "--no-such-option"},
                                                    {"serve", "--simulator", "--library", "x"},
                                                    {"settings", "shwo"},
                                                    {"settings", "--set", "http.port"},
                                                    {"call"},
                                                    {"call", "m", "not json"},
                                                    {"call", "m", "3"},
                                                    {"call", "m", "--to", "gopher://h:1"},
                                                    {"call", "m", "--timeout", "0"},
                                                    {"connect"},
                                                    {"connect", "http://h:1", "--ca-file", "/no/such/file"}};
  for (const auto& line : lines) {
    const auto finished = Shell().run(line);
    INFO((line.empty() ? "" : line.back()) << ": " << finished.err);
    CHECK(finished.status == 2);
    CHECK(finished.out.empty());
    CHECK_FALSE(finished.err.empty());
  }
}

TEST_CASE("a word that is none of those expected gets the one that was meant") {
  const auto settings = Shell().run({"settings", "chek"});
  CHECK_THAT(settings.err,
             has_text("expected show, path, schema, check or write; found: chek; did you mean \"check\"?"));
  CHECK_THAT(Shell().run({"memory", "serch"}).err, has_text("did you mean \"search\"?"));
  CHECK_THAT(Shell().run({"completion", "bsh"}).err, has_text("did you mean \"bash\"?"));
  CHECK_THAT(Shell().run({"tools"}).err, has_text("tools: which command? list, call"));
}

TEST_CASE("settings that are refused end every command that needs them with 3") {
  for (const char* command : {"serve", "stdio", "settings"}) {
    const auto finished = Shell().run({command, "--set", "http.prot=1"});
    CHECK(finished.status == 3);
    CHECK(finished.out.empty());
    CHECK(finished.err ==
          "rkllm-mcp: the settings are refused:\n--set http.prot: http.prot: unknown key; the nearest valid key is "
          "http.port\n");
  }
  CHECK(Shell().run({"settings", "--set", "http.address=0.0.0.0"}).status == 3);
}

TEST_CASE("a hub of models that is no web address is refused before anybody is asked") {
  const TemporaryDirectory home;
  for (const char* const command : {"pull", "models"}) {
    std::vector<std::string> args{kProgram, command, "--set", "runtime.model_hub=hub.example"};
    if (args[1] == "pull") args.emplace_back("hf.co/acme/tiny");
    const auto refused = run_to_end({.args = args, .env = {{"HOME", home.path()}}, .unset = {"RKLLM_MCP_SETTINGS"}});
    CHECK(refused.status == 3);
    CHECK_THAT(refused.err, has_text("runtime.model_hub: expected an address such as https://"));
  }
}

TEST_CASE("settings shows values and origins, as text and as JSON") {
  Shell shell;
  write_file(shell / "settings.json", R"({"ws": {"port": 5}})");
  const std::vector<std::pair<std::string, std::string>> env{{"RKLLM_MCP_UDP_PORT", "4"}};
  const auto text = shell.run({"settings", "--set", "tcp.port=3"}, env);
  CHECK(text.status == 0);
  CHECK_THAT(text.out, has_text("3  (--set tcp.port)\n"));
  CHECK_THAT(text.out, has_text("4  (RKLLM_MCP_UDP_PORT)\n"));
  CHECK_THAT(text.out, has_text("5  (settings.json:1)\n"));
  CHECK_THAT(text.out, has_text("8080  (built-in)\n"));

  const auto json = shell.run({"settings", "show", "--json", "--set", "tcp.port=3"}, env);
  CHECK(json.status == 0);
  const Json report = Json::parse(json.out);
  CHECK(report["file"] == "settings.json");
  CHECK(report["values"]["udp.port"] == Json{{"value", 4}, {"origin", "environment"}, {"place", "RKLLM_MCP_UDP_PORT"}});
}

TEST_CASE("settings path follows the documented order") {
  Shell shell;
  CHECK(shell.run({"settings", "path"}).out == shell / ".config/rkllm-mcp/settings.json\n");
  CHECK(shell.run({"settings", "path"}, {{"RKLLM_MCP_SETTINGS", "/v.json"}}).out == "/v.json\n");
  CHECK(shell.run({"settings", "path", "--settings", "/o.json"}, {{"RKLLM_MCP_SETTINGS", "/v.json"}}).out ==
        "/o.json\n");
}

TEST_CASE("a settings file that is named and not there is warned about") {
  Shell shell;
  const auto shown = shell.run({"settings", "show", "--settings", "typo.json"});
  CHECK(shown.status == 0);
  CHECK_THAT(shown.err, has_text("warning: typo.json: no such file"));
  CHECK_THAT(shell.run({"doctor", "--settings", "typo.json"}).err, has_text("warning: typo.json: no such file"));
}

TEST_CASE("output that cannot be written is a failure, whatever the command") {
  Shell shell;
  for (const char* const command : {"help", "settings show", "settings schema", "--version"}) {
    const auto finished = run_to_end({.args = {"/bin/sh", "-c", std::string(kProgram) + " " + command + " >/dev/full"},
                                      .env = {{"HOME", shell / ""}}});
    INFO(command);
    CHECK(finished.status == 1);
    CHECK_THAT(finished.err, has_text("standard output could not be written"));
  }
  // Nor is output that there is no place for at all.
  const auto closed = run_to_end({.args = {"/bin/sh", "-c", std::string(kProgram) + " settings schema >&-"}});
  CHECK(closed.status == 1);
  CHECK_THAT(closed.err, has_text("standard output could not be written") && has_text("it is closed"));
  // Who has read enough of it is owed no word.
  const auto cut = run_to_end({.args = {"/bin/sh", "-c", std::string(kProgram) + " settings schema | head -c 1"}});
  CHECK(cut.err.empty());
}

TEST_CASE("settings write, check and schema go together") {
  Shell shell;
  CHECK(shell.run({"settings", "write", "s.json"}).status == 0);
  const std::string written = read_file(shell / "s.json");
  CHECK(shell.run({"settings", "check", "s.json"}).status == 0);
  CHECK(shell.run({"settings", "schema"}).out == read_file(shell / "settings.schema.json"));
  const auto again = shell.run({"settings", "write", "s.json"});
  CHECK(again.status == 1);
  CHECK_THAT(again.err, has_text("exists"));
  CHECK(read_file(shell / "s.json") == written);

  write_file(shell / "bad.json", "{\n\"htpp\": {}}");
  const auto refused = shell.run({"settings", "check", "bad.json"});
  CHECK(refused.status == 3);
  CHECK_THAT(refused.err, has_text("bad.json:2: htpp: unknown key; the nearest valid key is http"));
  CHECK(shell.run({"settings", "check", "none.json"}).status == 1);

  write_file(shell / "preset.json",
             "{\n\"models\": {\"a\": {\"param\": {\"model_path\": \"/m\", \"max_contxt_len\": 5,\n"
             "\"extend_param\": {\"n_batch\": 1, \"n_bach\": 2}}}}}");
  const auto misspelt = shell.run({"settings", "check", "preset.json"});
  CHECK(misspelt.status == 3);
  CHECK_THAT(misspelt.err, has_text("preset.json:2: models.a.param.max_contxt_len: no version of the runtime has this "
                                    "field; did you mean \"max_context_len\"?"));
  CHECK_THAT(misspelt.err, has_text("models.a.param.extend_param.n_bach: no version"));
  CHECK(misspelt.err.find("n_batch: ") == std::string::npos);
  const auto shown = shell.run({"settings", "show", "--settings", "preset.json"});  // others are of use all the same
  CHECK(shown.status == 0);
  CHECK_THAT(shown.err, has_text("warning: preset.json:2: models.a.param.max_contxt_len"));
}

TEST_CASE("an argument that an action of settings or of memory does not take is refused, with what to use") {
  Shell shell;
  write_file(shell / "s.json", "{}");
  for (const std::string action : {"show", "path"}) {
    const auto refused = shell.run({"settings", action, "s.json"});
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
    CHECK_THAT(refused.err, has_text("settings " + action + ": takes no FILE; use --settings FILE\n"));
  }
  const auto schema = shell.run({"settings", "schema", "s.json"});
  CHECK(schema.status == 2);
  CHECK_THAT(schema.err, has_text("settings schema: takes no FILE"));
  const auto listed = shell.run({"memory", "list", "c1"});
  CHECK(listed.status == 2);
  CHECK_THAT(listed.err, has_text("memory list: takes nothing more") && has_text("memory show ID"));
}

TEST_CASE("every action of settings prints JSON with --json") {
  Shell shell;
  CHECK(Json::parse(shell.run({"settings", "path", "--json"}).out) ==
        Json{{"path", shell / ".config/rkllm-mcp/settings.json"}});
  CHECK(Json::parse(shell.run({"settings", "write", "s.json", "--json"}).out) ==
        Json{{"path", "s.json"}, {"written", true}});
  const auto again = shell.run({"settings", "write", "s.json", "--json"});
  CHECK(again.status == 1);
  CHECK(Json::parse(again.out) == Json{{"path", "s.json"}, {"written", false}});
  CHECK(Json::parse(shell.run({"settings", "check", "s.json", "--json"}).out) ==
        Json{{"path", "s.json"}, {"right", true}, {"problems", Json::array()}});
  CHECK(Json::parse(shell.run({"settings", "schema", "--json"}).out).contains("properties"));
  write_file(shell / "bad.json", "{\n\"htpp\": {}}");
  const auto refused = shell.run({"settings", "check", "bad.json", "--json"});
  CHECK(refused.status == 3);
  const Json report = Json::parse(refused.out);
  CHECK(report["right"] == false);
  REQUIRE(report["problems"].size() == 1);
  CHECK_THAT(report["problems"][0].get<std::string>(), has_text("bad.json:2: htpp: unknown key"));
}

TEST_CASE("memory import, list and delete print lines of JSON with --json") {
  Shell shell;
  write_file(shell / "talk.jsonl", R"({"conversation":"c1","created":"2026-11-23T21:27:58.123Z","title":"Teeth"})"
                                   "\n"
                                   R"({"role":"user","content":"Hello","timestamp":"2026-11-23T21:27:59.000Z"})"
                                   "\n");
  // Ports that nobody has: another server of this machine is not to be asked.
  const auto memory = [&shell](std::vector<std::string> args) {
    args.insert(args.begin(), "memory");
    args.insert(args.end(), {"--json", "--set", "tcp.port=1", "--set", "services.port=2"});
    return shell.run(args, {{"RKLLM_MCP_MEMORY_DATABASE", shell / "memory.db"}});
  };
  const auto imported = memory({"import", "talk.jsonl"});
  INFO(imported.err);
  CHECK(Json::parse(imported.out) == Json{{"conversations", 1}, {"messages", 1}});
  CHECK(Json::parse(memory({"list"}).out)["conversation_id"] == "c1");
  CHECK(Json::parse(memory({"delete", "c1"}).out) == Json{{"conversation_id", "c1"}, {"deleted", true}});
}

TEST_CASE("settings commands write no file by themselves") {
  Shell shell;
  shell.run({"settings"});
  CHECK_FALSE(std::filesystem::exists(shell / ".config"));
}

TEST_CASE("call says where nobody answers and ends with 1") {
  const auto finished = Shell().run({"call", "rkllm_is_running", "--to", "tcp://127.0.0.1:1"});
  CHECK(finished.status == 1);
  CHECK(finished.err ==
        "rkllm-mcp: 127.0.0.1:1: Connection refused; is the server running? Start it: rkllm-mcp serve "
        "--set tcp.port=1\n");
}
