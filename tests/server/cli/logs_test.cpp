// `rkllm-mcp logs`: the last lines of the log's file, and with -f those that come, also after a rotation.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

using namespace rkllm_mcp::test;

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
  Finished run(std::vector<std::string> more) const { return run_to_end(options(std::move(more))); }
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
