// The command line as plain values: what each command is told, and what is left to do.
#include "cli/command_line.hpp"

#include "cli/commands/parsed.hpp"
#include "cli/run_command.hpp"
#include "cli/version_text.hpp"
#include "server/cli/board_bench.hpp"
#include "support/catch.hpp"
#include "support/environment.hpp"
#include "version.hpp"

#include <CLI/Error.hpp>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

namespace rkllm_mcp::test {
namespace {

CommandLine parsed_line(std::vector<const char*> words) {
  words.insert(words.begin(), "rkllm-mcp");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

template <class Options>
Options options_of(std::vector<const char*> words) {
  return std::get<Options>(parsed_line(std::move(words)).command);
}

// Of a line with which nothing is left to do: how it ends, what is printed, and what is said beside that.
struct EndOfLine {
  int status;
  std::string printed;
  std::string said;
};
EndOfLine end_of_line(std::vector<const char*> words) {
  PrintedOutput output;
  PrintedOutput errors(STDERR_FILENO);
  const CommandLine line = parsed_line(std::move(words));
  return {std::get<Finished>(line.command).exit_code, output.text(), errors.text()};
}

// "name=text (place)", one for each value that a line sets.
std::vector<std::string> values_set_by(std::vector<const char*> words) {
  std::vector<std::string> all;
  for (const Assignment& each : parsed_line(std::move(words)).settings.assignments) {
    all.push_back(each.name + "=" + each.text + " (" + each.place + ")");
  }
  return all;
}

using ValuesSet = std::vector<std::string>;
using State = StateOptions::Action;

}  // namespace

TEST_CASE("what a line sets comes in its order, the options of a command before those of --set, with its place") {
  CHECK(values_set_by({"serve", "--set", "http.port=9000", "--simulator", "--log-level", "debug", "--only", "memory",
                       "--set", "log.file=a=b", "--set", "http.port="}) ==
        ValuesSet{"runtime.library=simulator (--simulator)", "services.only=memory (--only)",
                  "log.level=debug (--log-level)", "http.port=9000 (--set http.port)", "log.file=a=b (--set log.file)",
                  "http.port= (--set http.port)"});
  CHECK(values_set_by({"stdio", "--library", "/a.so"}) == ValuesSet{"runtime.library=/a.so (--library)"});
  CHECK(values_set_by({"status"}).empty());
}

TEST_CASE("a line knows the settings file and the environment that its command is to use") {
  const Environment variable("RKLLM_MCP_HTTP_PORT", "9001");
  const SettingsRequest request = parsed_line({"settings", "--settings", "/a/b.json"}).settings;
  CHECK(request.path == "/a/b.json");
  CHECK(request.environment.at("RKLLM_MCP_HTTP_PORT") == "9001");
  CHECK_FALSE(parsed_line({"settings"}).settings.path);
  CHECK_FALSE(parsed_line({"connect", "tcp://h:1"}).settings.path);
}

TEST_CASE("what is set without a value is refused with its words") {
  Parsed parsed;
  parsed.sets = {"http.port"};
  CHECK_THROWS_WITH(settings_request(parsed), has_text("--set http.port") && has_text("expected SECTION.KEY=VALUE"));
  CHECK_THROWS_AS(settings_request(parsed), CLI::ValidationError);
  const EndOfLine end = end_of_line({"status", "--set", "http.port"});
  CHECK(end.status == kExitUsage);
  CHECK_THAT(end.said, has_text("--set http.port: expected SECTION.KEY=VALUE"));
}

TEST_CASE("serve and stdio differ in what ends them") {
  const auto serve = options_of<ServeOptions>({"serve", "--ports-file", "/p"});
  CHECK(serve.ports_file == "/p");
  CHECK_FALSE(serve.ends_with_input);
  CHECK(options_of<ServeOptions>({"stdio"}).ends_with_input);
  CHECK(end_of_line({"serve", "--simulator", "--library", "x"}).status == kExitUsage);
  CHECK(end_of_line({"stdio", "--only", "x"}).status == kExitUsage);
}

TEST_CASE("each of the commands that look after models is an action of its own") {
  CHECK(options_of<StateOptions>({"status"}).action == State::kStatus);
  CHECK(options_of<StateOptions>({"ps"}).action == State::kLoaded);
  const auto models = options_of<StateOptions>({"models", "--json", "--to", "board"});
  CHECK(models.action == State::kModels);
  CHECK(models.json);
  CHECK(models.remote.to == "board");
  const auto load = options_of<StateOptions>({"load", "fast"});
  CHECK(load.action == State::kLoad);
  CHECK(load.model == "fast");
  const auto unload = options_of<StateOptions>({"unload", "fast", "large"});
  CHECK(unload.action == State::kUnload);
  CHECK(unload.models == std::vector<std::string>{"fast", "large"});
  CHECK(options_of<RemoveOptions>({"rm", "a", "b"}).models == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a name that a script has left empty is refused, and so is one that is missing") {
  for (const std::vector<const char*>& line : std::vector<std::vector<const char*>>{{"load", ""},
                                                                                    {"load"},
                                                                                    {"unload", "a", ""},
                                                                                    {"unload"},
                                                                                    {"rm", ""},
                                                                                    {"pull", ""},
                                                                                    {"chat", ""},
                                                                                    {"ask", "--model", "", "Hi"},
                                                                                    {"call", "", "{}"},
                                                                                    {"connect", ""},
                                                                                    {"tools", "call", ""}}) {
    const EndOfLine end = end_of_line(line);
    INFO(line.front() << ": " << end.said);
    CHECK(end.status == kExitUsage);
    CHECK(end.printed.empty());
    CHECK_FALSE(end.said.empty());
  }
}

TEST_CASE("a model to talk to is named in one of two ways, and a question has the words as they are") {
  CHECK(options_of<ChatOptions>({"chat"}).model.empty());
  CHECK(options_of<ChatOptions>({"chat", "fast"}).model == "fast");
  CHECK(options_of<ChatOptions>({"chat", "--model", "fast", "--system", "Be brief."}).system == "Be brief.");
  CHECK(end_of_line({"chat", "fast", "--model", "large"}).status == kExitUsage);
  const auto ask = options_of<AskOptions>({"ask", "--model", "fast", "Why", "is it", "--json", "-"});
  CHECK(ask.words == std::vector<std::string>{"Why", "is it", "-"});
  CHECK(ask.model == "fast");
  CHECK(ask.json);
}

TEST_CASE("a token that the line does not have is that of the environment") {
  CHECK(options_of<ChatOptions>({"chat", "--token", "mine"}).remote.token == "mine");
  const Environment variable("RKLLM_MCP_TOKEN", "theirs");
  CHECK(options_of<StateOptions>({"status"}).remote.token == "theirs");
  CHECK(options_of<CallOptions>({"call", "m", "{}"}).token == "theirs");
  CHECK(options_of<ConnectOptions>({"connect", "tcp://h:1"}).token == "theirs");
  CHECK(options_of<ChatOptions>({"chat", "--token", "mine"}).remote.token == "mine");
}

TEST_CASE("a call has its params as JSON, and is printed in one of three ways") {
  const auto call = options_of<CallOptions>({"call", "m", "[1, 2]", "--to", "tcp://h:1", "--timeout", "7"});
  CHECK(call.method == "m");
  CHECK(call.params == "[1, 2]");
  CHECK(call.to == "tcp://h:1");
  CHECK(call.patience_s == 7);
  CHECK(call.output == CallOptions::Output::kMessages);
  const auto plain = options_of<CallOptions>({"call", "m", "{}"});
  CHECK_FALSE(plain.to);
  CHECK(plain.patience_s == kPatienceS);
  CHECK(options_of<CallOptions>({"call", "m", " ", "--text"}).output == CallOptions::Output::kText);
  CHECK(options_of<CallOptions>({"call", "m", " "}).params == "{}");
  CHECK(options_of<CallOptions>({"call", "m", "{}", "--json"}).output == CallOptions::Output::kJson);
  CHECK(end_of_line({"call", "m", "{}", "--json", "--text"}).status == kExitUsage);
  CHECK(end_of_line({"call", "m", "\"text\""}).status == kExitUsage);
  CHECK(end_of_line({"call", "m", "{}", "--timeout", "0"}).status == kExitUsage);
}

TEST_CASE("tools are listed, all of them or some, or one is called with an object") {
  using Action = ToolsOptions::Action;
  CHECK(options_of<ToolsOptions>({"tools", "list"}).action == Action::kList);
  CHECK(options_of<ToolsOptions>({"tools", "list", "--all", "--json"}).action == Action::kListAll);
  CHECK(options_of<ToolsOptions>({"tools", "list", "--json"}).output == ToolsOptions::Output::kJson);
  const auto call = options_of<ToolsOptions>({"tools", "call", "add", "{\"a\": 1}", "--to", "h:1"});
  CHECK(call.action == Action::kCall);
  CHECK(call.tool == "add");
  CHECK(Json::parse(call.arguments) == Json{{"a", 1}});
  CHECK(call.to == "h:1");
  CHECK(options_of<ToolsOptions>({"tools", "call", "add"}).arguments == "{}");
  CHECK(end_of_line({"tools", "call", "add", "[1]"}).status == kExitUsage);
  CHECK(end_of_line({"tools"}).status == kExitUsage);
}

TEST_CASE("the memory and the settings have an action, the first of them where none is named") {
  using Memory = MemoryCommandOptions::Action;
  CHECK(options_of<MemoryCommandOptions>({"memory"}).action == Memory::kList);
  const auto search = options_of<MemoryCommandOptions>({"memory", "search", "tea", "pot", "--exact", "--limit", "3"});
  CHECK(search.action == Memory::kSearch);
  CHECK(search.arguments == std::vector<std::string>{"tea", "pot"});
  CHECK(search.exact);
  CHECK(search.limit == 3);
  CHECK(options_of<MemoryCommandOptions>({"memory", "export"}).action == Memory::kExport);
  CHECK(end_of_line({"memory", "search"}).status == kExitUsage);
  CHECK(end_of_line({"memory", "burn"}).status == kExitUsage);
  CHECK(end_of_line({"memory", "search", "a", "--limit", "0"}).status == kExitUsage);

  using Settings = SettingsOptions::Action;
  CHECK(options_of<SettingsOptions>({"settings"}).action == Settings::kShow);
  const auto check = options_of<SettingsOptions>({"settings", "check", "a.json", "--json"});
  CHECK(check.action == Settings::kCheck);
  CHECK(check.file == "a.json");
  CHECK(check.output == SettingsOptions::Output::kJson);
}

TEST_CASE("what the log and a pull are asked for has its bounds") {
  const auto logs = options_of<LogsOptions>({"logs", "-f", "-n", "0"});
  CHECK(logs.follows);
  CHECK(logs.lines == 0);
  CHECK(options_of<LogsOptions>({"logs"}).lines == 50);
  CHECK(end_of_line({"logs", "-n", "-1"}).status == kExitUsage);
  CHECK(options_of<PullOptions>({"pull", "hf.co/a/b", "--folder", "/f"}).folder == "/f");
  CHECK(end_of_line({"pull", "hf.co/a/b", "--folder", "/f", "--to", "board"}).status == kExitUsage);
}

TEST_CASE("what the server starts as processes of its own is no command for people") {
  CHECK(options_of<WorkOptions>({"work", "--a", "b"}).arguments == std::vector<std::string>{"--a", "b"});
  CHECK(options_of<WorkOptions>({"work"}).arguments.empty());
  const auto page = options_of<PageOptions>({"read-page", "text", "http://a", "5"});
  CHECK(page.form == "text");
  CHECK(page.address == "http://a");
  CHECK(page.computing_s == 5);
  CHECK(end_of_line({"read-page", "text"}).status == kExitUsage);
  CHECK_THAT(end_of_line({"help"}).printed, !has_text("read-page"));
}

TEST_CASE("what is asked for of the program itself is printed, and ends well") {
  CHECK_THAT(end_of_line({}).printed, has_text("First steps:"));
  const EndOfLine help = end_of_line({"help", "tools", "call"});
  CHECK(help.status == kExitOk);
  CHECK_THAT(help.printed, has_text("ARGUMENTS"));
  CHECK(Json::parse(end_of_line({"help", "tools", "--json"}).printed).is_object());
  CHECK(help.said.empty());
  const EndOfLine unknown = end_of_line({"help", "tols"});
  CHECK(unknown.status == kExitUsage);
  CHECK(unknown.said == "rkllm-mcp: unknown command 'tols'; did you mean \"tools\"?; all commands: rkllm-mcp help\n");
  CHECK(end_of_line({"help", "tools", "cal"}).status == kExitUsage);
  const EndOfLine of_command = end_of_line({"load", "--help"});
  CHECK(of_command.status == kExitOk);
  CHECK_THAT(of_command.printed, has_text("--token TOKEN"));
  for (const char* const shell : {"bash", "zsh", "fish", "man"}) {
    INFO(shell);
    CHECK(end_of_line({"completion", shell}).status == kExitOk);
    CHECK_THAT(end_of_line({"completion", shell}).printed, has_text("unload"));
  }
  CHECK_THAT(end_of_line({"completion", "man"}).printed, has_text(".TH"));
}

TEST_CASE("a command that there is not ends as a wrong line, and prints nothing where results are expected") {
  for (const std::vector<const char*>& line :
       std::vector<std::vector<const char*>>{{"sevre"}, {"--json"}, {"status", "extra"}, {"status", "--no-such"}}) {
    const EndOfLine end = end_of_line(line);
    INFO(line.front() << ": " << end.said);
    CHECK(end.status == kExitUsage);
    CHECK(end.printed.empty());
    CHECK_FALSE(end.said.empty());
  }
}

TEST_CASE("the versions are those of this program and of the runtime that the environment leads to") {
  const std::string begin = "rkllm-mcp " + std::string(kProgramVersion) + " (ABI sets: ";
  {
    const Environment library("RKLLM_MCP_RUNTIME_LIBRARY", "/nowhere/librkllmrt.so");
    const std::string line = versions_line();
    CHECK(line.starts_with(begin + std::string(kAbiSetVersions)));
    CHECK(line.ends_with("; runtime: none found)"));
    const Json versions = Json::parse(versions_json());
    CHECK(versions["version"] == std::string(kProgramVersion));
    CHECK(versions["runtime"].is_null());
    std::string all;
    for (const Json& each : versions["abi_sets"]) all += (all.empty() ? "" : ", ") + each.get<std::string>();
    CHECK(all == std::string(kAbiSetVersions));
  }
  const Environment library("RKLLM_MCP_RUNTIME_LIBRARY", "simulator");
  const Json versions = Json::parse(versions_json());
  CHECK(versions["runtime"]["simulated"] == true);
  CHECK_THAT(versions_line(), has_text("runtime: " + versions["runtime"]["version"].get<std::string>() +
                                       " SIMULATED, " + versions["runtime"]["path"].get<std::string>() + ")"));
  const EndOfLine line = end_of_line({"--version"});
  CHECK(line.status == kExitOk);
  CHECK(line.printed == versions_line() + "\n");
  CHECK(Json::parse(end_of_line({"--json", "--version"}).printed) == versions);
}

TEST_CASE("a settings file that is broken leads to no runtime, and the versions are told all the same") {
  const TemporaryDirectory folder;
  write_file(folder / "broken.json", "{");
  const Environment file("RKLLM_MCP_SETTINGS", folder / "broken.json");
  CHECK_THAT(versions_line(), has_text("runtime: none found"));
}

TEST_CASE("a word that has to be one of several is answered with all of them, and with the one that was meant") {
  const CLI::Validator validator = one_of({"show", "check", "write"});
  std::string word = "check";
  CHECK(validator(word).empty());
  word = "chek";
  CHECK(validator(word) == "expected show, check or write; found: chek; did you mean \"check\"?");
  word = "";
  CHECK_THAT(validator(word), has_text("expected show, check or write; found: "));
  std::string any = "anything";
  CHECK(offered({"a", "b"})(any).empty());
  CHECK(offered({"a", "b"}).get_description() == "one of a b");
  CHECK(validator.get_description() == "one of show check write");
}

}  // namespace rkllm_mcp::test
