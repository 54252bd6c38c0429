// What the program says of itself: the guide, help, complaints, the manual page and completions.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/terminal_process.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <sstream>
#include <utility>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

class Home {
 public:
  Process::Options options(std::vector<std::string> args) const {
    args.insert(args.begin(), kProgram);
    return {.args = std::move(args),
            .env = {{"HOME", directory_.path()}},
            .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
            .directory = directory_.path(),
            .input = Process::Options::Input::kNull};
  }
  EndedProcess run(std::vector<std::string> args) const { return run_to_end(options(std::move(args))); }

 private:
  TemporaryDirectory directory_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The commands that `help` shows: two spaces, a name, its summary.
std::vector<std::string> commands_in(const std::string& help) {
  std::vector<std::string> names;
  for (const std::string& line : lines_of(help)) {
    if (line == "Options:") break;
    if (line.starts_with("  ") && line.size() > 2 && line[2] >= 'a' && line[2] <= 'z') {
      names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
  }
  return names;
}

}  // namespace

TEST_CASE("without arguments the program prints a short guide and succeeds") {
  const auto guide = Home().run({});
  CHECK(guide.status == 0);
  CHECK(guide.err.empty());
  CHECK(lines_of(guide.out).size() < 24);  // a terminal's height
  for (const char* command : {"rkllm-mcp serve", "rkllm-mcp serve --simulator", "rkllm-mcp help"}) {
    CHECK_THAT(guide.out, has_text(command));
  }
}

TEST_CASE("every command that the guide names exists") {
  const Home home;
  for (const std::string& line : lines_of(home.run({}).out)) {
    if (!line.starts_with("  rkllm-mcp ")) continue;
    const std::string command = line.substr(12, line.find(' ', 12) - 12);
    INFO(command);
    CHECK(home.run({command, "--help"}).status == 0);
  }
}

TEST_CASE("help shows the same as --help, for the program and for each command") {
  const Home home;
  const auto all = home.run({"help"});
  CHECK(all.status == 0);
  CHECK(all.out == home.run({"--help"}).out);
  const auto commands = commands_in(all.out);
  CHECK(commands.size() >= 8);
  for (const std::string& command : commands) {
    INFO(command);
    const auto help = home.run({"help", command});
    CHECK(help.status == 0);
    CHECK(help.out == home.run({command, "--help"}).out);
    CHECK_THAT(help.out, has_text("Usage: rkllm-mcp " + command));
  }
  CHECK(home.run({"help", "tools", "call"}).out == home.run({"tools", "call", "--help"}).out);
  const auto unknown = home.run({"help", "serv"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, has_text("unknown command 'serv'; did you mean \"serve\"?; all commands: rkllm-mcp help"));
  CHECK(home.run({"help", "tools", "nothing"}).status == 2);
}

TEST_CASE("every command that prints something has --json, and the guide to them names its shape") {
  const Home home;
  const Json all = Json::parse(home.run({"help", "--json"}).out);
  CHECK(all["name"] == "rkllm-mcp");
  CHECK(all["commands"].size() == commands_in(home.run({"help"}).out).size());
  const std::string documented = read_file(kSourceDirectory + "/docs/commands.md");
  // A server's log and a protocol are JSON or not by themselves, completions are programs of a shell.
  const std::vector<std::string> without{"serve", "stdio", "connect", "completion"};
  const auto has_json = [](const Json& command) {
    return std::ranges::any_of(
        command["options"], [](const Json& option) { return std::ranges::count(option["names"], Json("--json")) > 0; });
  };
  for (const Json& command : all["commands"]) {
    const std::string name = command["name"].get<std::string>();
    INFO(name);
    CHECK_THAT(documented, has_text("`" + name.substr(name.find(' ') + 1)));
    if (std::ranges::count(without, name.substr(name.find(' ') + 1)) > 0) continue;
    if (command["commands"].empty()) CHECK(has_json(command));
    for (const Json& each : command["commands"]) CHECK(has_json(each));
  }
  const Json call = Json::parse(home.run({"help", "tools", "call", "--json"}).out);
  CHECK(call["name"] == "rkllm-mcp tools call");
  CHECK(call["arguments"][0]["name"] == "NAME");
}

TEST_CASE("help fits into a narrow terminal, each option above what is said of it") {
  const Home home;
  TerminalProcess chat(home.options({"chat", "--help"}), 40);
  CHECK(chat.wait() == 0);
  CHECK_THAT(chat.shown(), has_text("  --system TEXT\r\n      Tell the model how to behave\r\n"));
  std::vector<std::vector<std::string>> all{{}, {"help"}, {"help", "tools", "list"}, {"help", "tools", "call"}};
  for (const std::string& command : commands_in(home.run({"help"}).out)) all.push_back({"help", command});
  for (const std::vector<std::string>& args : all) {
    TerminalProcess help(home.options(args), 40);
    CHECK(help.wait() == 0);
    for (const std::string& line : lines_of(help.shown())) {
      INFO(line);
      CHECK((line.size() <= 41 || line.find_last_of(' ') < line.find_first_not_of(' ')));  // with its \r; or one word
    }
  }
}

TEST_CASE("help has lines of 80 columns at most, and no footer under each command") {
  const Home home;
  const auto all = home.run({"--help"});
  for (const std::string& line : lines_of(all.out)) {
    INFO(line);
    CHECK(line.size() <= 80);
  }
  for (const std::string& command : commands_in(all.out)) {
    const auto help = home.run({command, "--help"});
    for (const std::string& line : lines_of(help.out)) {
      INFO(command << ": " << line);
      CHECK(line.size() <= 80);
    }
    CHECK(help.out.find("Exit codes") == std::string::npos);
  }
}

TEST_CASE("a command that is mistyped gets the one that was meant") {
  const auto finished = Home().run({"serv"});
  CHECK(finished.status == 2);
  CHECK(finished.out.empty());
  CHECK_THAT(finished.err, has_text("unknown command 'serv'; did you mean \"serve\"?"));
  CHECK_THAT(Home().run({"version"}).err, has_text("unknown command 'version'; did you mean \"--version\"?"));
  CHECK_THAT(Home().run({"tools", "lst"}).err, has_text("unknown command 'lst'; did you mean \"list\"?"));
}

TEST_CASE("an option that is mistyped gets the one that was meant") {
  const Home home;
  CHECK_THAT(home.run({"serve", "--simulatr"}).err,
             has_text("unknown option '--simulatr'; did you mean \"--simulator\"?"));
  CHECK_THAT(home.run({"call", "m", "--txt"}).err, has_text("unknown option '--txt'; did you mean \"--text\"?"));
  CHECK_THAT(home.run({"--verson"}).err, has_text("unknown option '--verson'; did you mean \"--version\"?"));
  CHECK_THAT(home.run({"serve", "--simulatr"}).err, has_text("rkllm-mcp serve --help"));
  CHECK_THAT(home.run({"serve", "--port", "9000"}).err,
             has_text("unknown option '--port': ports and addresses are settings, as in --set http.port=8090") &&
                 !has_text("did you mean"));
}

TEST_CASE("an option without its value says which value it wants, and one that is given twice that it is") {
  const Home home;
  for (const auto& [args, words] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"logs", "--lines"}, "a value is missing: -n, --lines COUNT\n"},
           {{"serve", "--set"}, "a value is missing: --set SECTION.KEY=VALUE\n"},
           {{"ps", "--to"}, "a value is missing: --to URL\n"},
           {{"ps", "--to", "1", "--to", "2"}, "given more than once: --to URL\n"}}) {
    const auto finished = home.run(args);
    CHECK(finished.status == 2);
    CHECK_THAT(finished.err, has_text(words));
  }
}

TEST_CASE("an empty name is a mistake of the command line, and is called so") {
  const Home home;
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{{"load", ""},
                                                                                    {"unload", ""},
                                                                                    {"unload", "one", ""},
                                                                                    {"rm", ""},
                                                                                    {"rm", "one", ""},
                                                                                    {"chat", ""},
                                                                                    {"chat", "--model", ""},
                                                                                    {"ask", "Hi", "--model", ""},
                                                                                    {"pull", ""},
                                                                                    {"call", ""},
                                                                                    {"connect", ""},
                                                                                    {"tools", "call", ""}}) {
    INFO(args.front());
    const auto finished = home.run(args);
    CHECK(finished.status == 2);
    CHECK(finished.out.empty());
    CHECK_THAT(finished.err, has_text("expected a name; found: \"\"") && has_text("Usage: rkllm-mcp " + args.front()));
  }
  CHECK(home.run({"memory", "search"}).status == 2);
}

TEST_CASE("the manual page and the completions have every command and every long option") {
  const Home home;
  for (const char* kind : {"man", "bash", "zsh", "fish"}) {
    const auto made = home.run({"completion", kind});
    CHECK(made.status == 0);
    std::string text = made.out;
    text.erase(std::remove(text.begin(), text.end(), '\\'), text.end());
    if (std::string(kind) == "man") CHECK_THAT(text, has_text("(environment: RKLLM_MCP_TOKEN)"));
    for (const std::string& command : commands_in(home.run({"--help"}).out)) {
      INFO(kind << ": " << command);
      CHECK_THAT(text, has_text(command));
      for (const std::string& line : lines_of(home.run({command, "--help"}).out)) {
        const auto option = line.find("--");
        if (!line.starts_with("  -") || option == std::string::npos) continue;
        const std::string name = line.substr(option + 2, line.find_first_of(" ,", option) - option - 2);
        INFO(name);
        CHECK_THAT(text, has_text((std::string(kind) == "fish" ? "-l " : "--") + name));
      }
    }
  }
  CHECK(home.run({"completion", "tcsh"}).status == 2);
}

TEST_CASE("fish takes switches without values, and the options of commands inside commands") {
  const auto made = Home().run({"completion", "fish"});
  CHECK_THAT(made.out, has_text("-l simulator -d ") && has_text("-l log-level -x -a 'trace debug") &&
                           has_text("-l library -r ") && !has_text("-l simulator -r"));
  CHECK_THAT(made.out, has_text("'__fish_seen_subcommand_from tools; and __fish_seen_subcommand_from list' -l all -d"));
}

TEST_CASE("bash completes commands, the options of the command that stands there, and values that are words") {
  const Home home;
  const std::string script =
      "source <(" + std::string(kProgram) +
      " completion bash)\n"
      "COMP_WORDS=(rkllm-mcp se) COMP_CWORD=1; _rkllm_mcp; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(rkllm-mcp tools call --tim) COMP_CWORD=3; _rkllm_mcp; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(rkllm-mcp memory se) COMP_CWORD=2; _rkllm_mcp; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(rkllm-mcp help se) COMP_CWORD=2; _rkllm_mcp; echo \"${COMPREPLY[*]}\"\n"
      "COMP_WORDS=(rkllm-mcp serve --log-level e) COMP_CWORD=3; _rkllm_mcp; echo \"${COMPREPLY[*]}\"\n";
  const auto finished = run_to_end({.args = {"bash", "-c", script}, .input = Process::Options::Input::kNull});
  CHECK(finished.err.empty());
  CHECK(finished.out == "serve settings\n--timeout\nsearch\nserve settings\nerror\n");
}

TEST_CASE("help is as wide as the terminal, and has no colours where NO_COLOR is set") {
  const Home home;
  auto options = home.options({"serve", "--help"});
  options.env.emplace_back("NO_COLOR", "1");
  TerminalProcess narrow(options, 60);
  CHECK(narrow.wait() == 0);
  for (std::string line : lines_of(narrow.shown())) {
    if (line.ends_with('\r')) line.pop_back();
    INFO(line);
    CHECK(line.size() <= 60);
    CHECK(line.find('\x1b') == std::string::npos);
  }
}
