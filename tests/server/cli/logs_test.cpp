// `rkllm-mcp logs`: the last lines of the log's file, and with -f those that come, also after a rotation.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

class LoggingMachine {
 public:
  Process::Options options(std::vector<std::string> more) const {
    std::vector<std::string> args{kProgram, "logs", "--set", "log.file=" + file()};
    args.insert(args.end(), more.begin(), more.end());
    return {.args = std::move(args),
            .env = {{"HOME", home_.path()}},
            .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
            .directory = home_.path(),
            .input = Process::Options::Input::kNull};
  }
  EndedProcess run(std::vector<std::string> more) const { return run_to_end(options(std::move(more))); }
  std::string file() const { return home_ / "server.log"; }
  void log(const std::string& text) const { std::ofstream(file(), std::ios::app) << text; }

 private:
  TemporaryDirectory home_;
};

}  // namespace

TEST_CASE("logs shows the last lines of the log's file, and says where it is missing") {
  const LoggingMachine machine;
  const auto missing = machine.run({});
  CHECK(missing.status == 1);
  CHECK_THAT(missing.err, has_text("server.log (log.file)") && has_text("No such file"));
  std::string all;
  for (int line = 1; line <= 20'000; ++line) all += "line " + std::to_string(line) + "\n";
  machine.log(all);
  CHECK(machine.run({"-n", "2"}).out == "line 19999\nline 20000\n");
  CHECK(machine.run({"-n", "0"}).out.empty());
  CHECK(machine.run({"-n", "20000"}).out == all);
  CHECK(machine.run({"-n", "30000"}).out == all);
  machine.log("half a line");
  CHECK(machine.run({"-n", "2"}).out == "line 20000\nhalf a line");
}

TEST_CASE("logs -f goes on with what is logged, also in the file that takes its place") {
  const LoggingMachine machine;
  machine.log("first\n");
  Process follower(machine.options({"-f"}));
  CHECK(follower.read_line() == "first");
  machine.log("second\n");
  CHECK(follower.read_line() == "second");
  std::filesystem::rename(machine.file(), machine.file() + ".1");
  machine.log("third\n");
  CHECK(follower.read_line() == "third");
  follower.signal(SIGINT);
  CHECK(follower.wait() == 128 + SIGINT);
}

TEST_CASE("logs --json prints one JSON object for each line, whatever wrote it") {
  const LoggingMachine machine;
  machine.log("2026-03-05 06:07:08.901 warning: the disk is \"full\": 7\n");
  machine.log("terminate called without an active exception\n");
  machine.log("2026-03-05 06:07:08.901 nobody: knows this level\n");
  machine.log(R"({"time":"2026-03-05T06:07:09.000Z","level":"info","message":"call","method":"ping"})"
              "\n");
  machine.log("{ no JSON\n\nhalf a line");
  auto options = machine.options({"--json"});
  options.env.emplace_back("TZ", "UTC-7");  // seven hours before Greenwich
  const auto shown = run_to_end(options);
  CHECK(shown.status == 0);
  std::vector<Json> lines;
  std::istringstream text(shown.out);
  for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
  const auto said = [](const char* message) {
    return Json{{"time", nullptr}, {"level", nullptr}, {"message", message}};
  };
  CHECK(lines ==
        std::vector<Json>{
            Json{{"time", "2026-03-04T23:07:08.901Z"}, {"level", "warning"}, {"message", "the disk is \"full\": 7"}},
            said("terminate called without an active exception"),
            said("2026-03-05 06:07:08.901 nobody: knows this level"),
            Json{{"time", "2026-03-05T06:07:09.000Z"}, {"level", "info"}, {"message", "call"}, {"method", "ping"}},
            said("{ no JSON"), said(""), said("half a line")});
}

TEST_CASE("logs -f --json waits for the end of a line, and knows that a rotation is one") {
  const LoggingMachine machine;
  machine.log("fir");
  Process follower(machine.options({"-f", "--json"}));
  machine.log("st\nsec");
  CHECK(Json::parse(follower.read_line().value())["message"] == "first");
  std::filesystem::rename(machine.file(), machine.file() + ".1");
  machine.log("third\n");
  CHECK(Json::parse(follower.read_line().value())["message"] == "sec");
  CHECK(Json::parse(follower.read_line().value())["message"] == "third");
}
