// What doctor says of whole machines that tests make up, and as the command that people use.
#include "doctor/doctor.hpp"

#include "server/doctor/made_board.hpp"
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/terminal_process.hpp"

#include <rkllm_mcp/json.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using doctor::Level;
namespace fs = std::filesystem;

TEST_CASE("on a board without faults doctor finds none but that the library is the simulator") {
  const Board board;
  const auto fault = only_fault(doctor::examine(board.machine));
  CHECK(fault.subject == "library");
  CHECK(fault.level == Level::kWarning);
  CHECK_THAT(fault.text, has_text("is the simulator"));
}

TEST_CASE("the command doctor prints a line for each finding, its cure below, and JSON with --json") {
  const Board board;
  const std::vector<std::pair<std::string, std::string>> env{{"HOME", board.path("home")}};
  std::vector<std::string> text_args{kProgram,        "doctor", "--root",
                                     board.path("."), "--set",  "runtime.library=/no/such.so"};
  const auto text = run_to_end({.args = text_args, .env = env, .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"}});
  CHECK(text.status == 1);
  CHECK(text.err.empty());
  CHECK_THAT(text.out, has_text("problem  library: no library at /no/such.so"));
  CHECK_THAT(text.out, has_text("ok       cpu governor: performance"));
  CHECK(text.out.find('\x1b') == std::string::npos);
  text_args.emplace_back("--json");
  const auto json = run_to_end({.args = text_args, .env = env, .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"}});
  CHECK(json.status == 1);
  const Json report = Json::parse(json.out);
  CHECK(report["problems"].get<int>() >= 1);
  for (const Json& each : report["findings"]) {
    CHECK(each.size() == 4);
    CHECK(each["cure"].is_null() == (each["level"] == "ok"));
  }
}

TEST_CASE("doctor fits into a narrow terminal, where no command is broken, and breaks no line elsewhere") {
  Board board;
  board.put("proc/self/limits", "Max open files            16              16              files\n");
  Process::Options options{.args = {kProgram, "doctor", "--root", board.path("."), "--set", "runtime.library=/no.so"},
                           .env = {{"HOME", board.path("home")}, {"NO_COLOR", "1"}},
                           .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"}};
  CHECK_THAT(run_to_end(options).out, has_text("\nok       name resolution: there is a name server\n") &&
                                          has_text("   # before the start; of the service: LimitNOFILE=\n"));
  TerminalProcess narrow(options, 40);
  CHECK(narrow.wait() == 1);
  std::string shown = narrow.shown();
  std::erase(shown, '\r');
  CHECK_THAT(shown, has_text("\nok       name resolution: there is a\n         name server\n"));
  CHECK_THAT(shown, has_text("\n         # before the start; of the\n         service: LimitNOFILE=\n"));
  options.args.emplace_back("--json");
  const Json report = Json::parse(run_to_end(options).out);
  for (const Json& each : report["findings"]) {
    if (each["cure"].is_null()) continue;
    const std::string cure = each["cure"].get<std::string>();
    const std::string line = "         " + cure.substr(0, cure.find("   #"));
    const auto at = shown.find("\n" + line + "\n");
    INFO(line);
    if (at != std::string::npos) shown.erase(at, line.size() + 1);
    CHECK((at != std::string::npos || line.size() < 40));  // a short one may have its remark beside it
  }
  std::istringstream lines(shown);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK((line.size() <= 40 || line.find_last_of(' ') < line.find_first_not_of(' ')));  // or one word
  }
}

TEST_CASE("doctor without --root asks for the names of this machine's settings and environment") {
  const TemporaryDirectory home;
  const std::string unknown(64, 'x');  // longer than a label may be: nobody has to be asked
  const auto finished =
      run_to_end({.args = {kProgram, "doctor", "--set", "runtime.model_hub=http://hub.example"},
                  .env = {{"HOME", home.path()}, {"http_proxy", unknown + ":3128"}},
                  .unset = {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "RKLLM_MCP_SETTINGS", "no_proxy", "NO_PROXY"}});
  CHECK_THAT(finished.out, has_text("name resolution: " + unknown + ", the proxy to hub.example, has no address") ||
                               has_text("name resolution: no name server in /etc/resolv.conf"));
}

TEST_CASE("settings that are refused are a problem for doctor, which looks at the rest all the same") {
  const Board board;
  const auto finished = run_to_end({.args = {kProgram, "doctor", "--root", board.path("."), "--set", "http.prot=1",
                                             "--set", "tcp.port=many", "--json"},
                                    .env = {{"HOME", board.path("home")}},
                                    .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"}});
  CHECK(finished.status == 1);
  const Json report = Json::parse(finished.out);
  REQUIRE(report["findings"].size() > 4);
  CHECK(report["findings"][0]["subject"] == "settings");
  CHECK_THAT(report["findings"][0]["text"].get<std::string>(), has_text("http.port"));
  CHECK(report["findings"][1]["subject"] == "settings");
  CHECK(report["findings"][2]["subject"] != "settings");
}

TEST_CASE("what cures refused settings says what they are refused for, and no other cure repeats them") {
  const Board board;
  const TemporaryDirectory folder;
  write_file(folder / "bad.json", R"({"htpp": {}})");
  const auto examined = [&](std::vector<std::string> options, const std::string& variable = "RKLLM_MCP_NOTHING") {
    options.insert(options.begin(), {kProgram, "doctor", "--root", board.path("."), "--json"});
    const auto finished = run_to_end({.args = options,
                                      .env = {{"HOME", board.path("home")}, {variable, "many"}},
                                      .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
                                      .directory = folder.path()});
    return Json::parse(finished.out)["findings"];
  };
  const std::vector<std::tuple<Json, std::string, std::string>> refused{
      {examined({"--settings", "bad.json"}), "rkllm-mcp settings check bad.json   # until it is right", "--settings"},
      {examined({"--set", "foo=1"}), "leave out --set foo, or correct it", "foo"},
      {examined({}, "RKLLM_MCP_TCP_PORT"), "unset RKLLM_MCP_TCP_PORT   # or correct it", "TCP_PORT"}};
  for (const auto& [findings, cure, option] : refused) {
    INFO(findings.dump(2));
    CHECK(findings[0]["cure"] == cure);
    CHECK(findings[1]["subject"] == "built-in settings");
    for (const Json& each : findings) {
      if (each["subject"] != "settings") CHECK(each["cure"].dump().find(option) == std::string::npos);
    }
  }
}
