// The commands that the commands for people propose: each works as it stands, where it was said.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/json.hpp>

#include <csignal>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

// Where no server runs, unless the test starts one.
class Asker {
 public:
  Asker() { write_file(settings(), R"({"http":{"port":1},"tcp":{"port":2}})"); }

  std::string settings() const { return home_ / "own.json"; }
  std::string path(const std::string& name) const { return home_ / name; }
  Process::Options options(std::vector<std::string> args) const {
    args.insert(args.begin(), kProgram);
    return {.args = std::move(args),
            .env = {{"HOME", home_.path()}},
            .unset = {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "STATE_DIRECTORY", "RKLLM_MCP_SETTINGS", "RKLLM_MCP_TOKEN"},
            .directory = home_.path(),
            .input = Process::Options::Input::kNull};
  }
  EndedProcess run(std::vector<std::string> args) const { return run_to_end(options(std::move(args))); }

 private:
  TemporaryDirectory home_;
};

}  // namespace

TEST_CASE("what reads the settings is proposed with those that the command was called with") {
  const Asker asker;
  const std::string same = " --settings " + asker.settings();
  const auto with_settings = [&](std::vector<std::string> args) {
    args.insert(args.end(), {"--settings", asker.settings()});
    return asker.run(args);
  };
  CHECK_THAT(with_settings({"models"}).out, has_text("rkllm-mcp pull hf.co/OWNER/NAME" + same + ";") &&
                                                has_text("(rkllm-mcp settings path" + same + " tells"));
  CHECK_THAT(with_settings({"rm", "nothing"}).err, has_text("What there is: rkllm-mcp models" + same + "\n"));
  CHECK_THAT(with_settings({"doctor"}).out, has_text("rkllm-mcp pull hf.co/OWNER/NAME" + same + "   # into"));
  CHECK_THAT(with_settings({"load", "nothing"}).err, has_text("Start it: rkllm-mcp serve" + same + "\n"));
}

TEST_CASE("where nobody answers at a port the command is proposed that starts a server there") {
  const Asker asker;
  const std::vector<std::pair<std::vector<std::string>, std::string>> asked{
      {{"status", "--to", "1"}, " --set http.port=1"},
      {{"ask", "Hi", "--to", "http://localhost:1"}, " --set http.port=1"},
      {{"status", "--to", "1", "--settings", asker.settings()}, " --settings " + asker.settings()},
      {{"status", "--to", "3", "--settings", asker.settings()},
       " --settings " + asker.settings() + " --set http.port=3"},
      {{"status", "--to", "1", "--set", "http.enabled=false"},
       " --set http.enabled=false --set http.enabled=true --set http.port=1"},
      {{"call", "CPU4", "--to", "1"}, " --set tcp.port=1"},
      {{"call", "CPU4", "--to", "http://127.0.0.1:1"}, " --set http.port=1"},
      {{"call", "CPU4", "--to", "ws://127.0.0.1:1"}, " --set ws.port=1"},
      {{"call", "CPU4", "--to", "unix:///nowhere/socket"}, " --set unix.path=/nowhere/socket"},
      {{"memory", "list", "--to", "1"}, " --set tcp.port=1"},
      {{"tools", "list", "--to", "1"}, " --set tcp.port=1"},
      {{"connect", "tcp://127.0.0.1:1"}, " --set tcp.port=1"},
      {{"connect", "http://127.0.0.1:1/mcp"}, " --set http.port=1"}};
  for (const auto& [args, options] : asked) {
    INFO(args.front() << options);
    const auto finished = asker.run(args);
    CHECK(finished.status == 1);
    CHECK_THAT(finished.err, has_text("; is the server running? Start it: rkllm-mcp serve" + options + "\n"));
  }
}

TEST_CASE("no proposed command has a secret in it, undoes itself, or starts a server where it would not be reached") {
  const Asker asker;
  const auto secret = asker.run({"status", "--to", "3", "--set", "tools.google.api_key=KEY123"});
  CHECK_THAT(secret.err, has_text("Start it: rkllm-mcp serve --set http.port=3\n") && !has_text("KEY123"));
  const auto doctor = asker.run({"doctor", "--set", "runtime.library=/nowhere.so"});
  CHECK_THAT(doctor.out, has_text("rkllm-mcp serve --simulator") && !has_text("--simulator --set runtime.library"));
  // TCP has that port.
  const auto taken = asker.run({"call", "CPU4", "--to", "http://127.0.0.1:2", "--settings", asker.settings()});
  CHECK_THAT(taken.err, has_text("Start it: rkllm-mcp serve --settings " + asker.settings() + "\n"));
  const auto unheard =
      asker.run({"status", "--to", "127.0.0.1:3", "--set", "auth.insecure=true", "--set", "http.address=192.0.2.1"});
  CHECK_THAT(unheard.err, has_text("; is the server running there?\n"));
}

TEST_CASE("a host without a port means the port that our server has without settings, and with https that of a proxy") {
  const Asker asker;
  const std::vector<std::pair<std::vector<std::string>, std::string>> asked{
      {{"status", "--to", "a..b"}, "http://a..b:8080"},
      {{"status", "--to", "a..b", "--set", "tcp.port=8080", "--set", "http.port=9000"}, "http://a..b:8080"},
      {{"ask", "Hi", "--to", "http://a..b"}, "http://a..b:8080"},
      {{"status", "--to", "http://a..b/"}, "http://a..b:8080"},
      {{"status", "--to", "http://a..b:80"}, "http://a..b:80"},
      {{"status", "--to", "https://a..b"}, "https://a..b:443"},
      {{"call", "CPU4", "--to", "a..b"}, "a..b:8081"},
      {{"call", "CPU4", "--to", "tcp://a..b"}, "a..b:8081"},
      {{"call", "CPU4", "--to", "tcps://a..b"}, "a..b:8081"},
      {{"call", "CPU4", "--to", "udp://a..b"}, "a..b:8082"},
      {{"call", "CPU4", "--to", "http://a..b/jsonrpc"}, "a..b:8080"},
      {{"call", "CPU4", "--to", "ws://a..b"}, "a..b:8083"},
      {{"call", "CPU4", "--to", "wss://a..b/ws"}, "a..b:443"},
      {{"memory", "list", "--to", "a..b"}, "a..b:8081"},
      {{"tools", "list", "--to", "http://a..b"}, "a..b:8080"},
      {{"connect", "http://a..b/mcp"}, "a..b:8080"}};
  for (const auto& [args, place] : asked) {
    INFO(args.front() << " " << args.back());
    const auto finished = asker.run(args);
    CHECK(finished.status == 1);
    CHECK_THAT(finished.err, has_text(place + ": the name cannot be resolved"));
  }
  const auto no_host = asker.run({"status", "--to", "http:///x"});
  CHECK(no_host.status == 2);
  CHECK_THAT(no_host.err, has_text("no host"));
}

TEST_CASE("a command that needs no settings ends well where they are broken and nobody answers") {
  const Asker asker;
  write_file(asker.path("broken.json"), R"({"http":)");
  const auto finished =
      asker.run({"call", "CPU4", "--to", "tcp://127.0.0.1:1", "--settings", asker.path("broken.json")});
  CHECK(finished.status == 1);
  CHECK_THAT(finished.err, has_text("is the server running? Start it: rkllm-mcp serve --settings"));
}

TEST_CASE("of another machine's server no command is proposed that starts one here, nor a port of this machine") {
  const Asker asker;
  const std::string elsewhere = "255.255.255.255";  // which nobody can be
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           {"status", "--to", elsewhere + ":81"}, {"call", "CPU4", "--to", "tcp://" + elsewhere + ":81"}}) {
    const auto finished = asker.run(args);
    CHECK(finished.status == 1);
    CHECK_THAT(finished.err, has_text("; is the server running there?\n") && !has_text("rkllm-mcp serve"));
  }
  const auto other = asker.run({"status", "--to", "tcp://" + elsewhere + ":81"});
  CHECK(other.status == 2);
  CHECK_THAT(other.err, has_text("is not the server's HTTP port, which this command needs: usually --to http://" +
                                 elsewhere + ":8080\n"));
}

TEST_CASE("who has no model on another server is told how that server fetches one") {
  const Asker asker;
  auto args = asker.options({"serve", "--library", "/nowhere/librkllmrt.so", "--ports-file", asker.path("ports"),
                             "--set", "runtime.model_dirs=" + Json::array({asker.path("none")}).dump()});
  for (const char* const name : {"tcp", "udp", "http", "ws"}) {
    args.args.insert(args.args.end(), {"--set", std::string(name) + ".port=0"});
  }
  Process server(args);
  REQUIRE(wait_for_file(asker.path("ports")));
  const std::string place = "http://127.0.0.1:" + Json::parse(read_file(asker.path("ports")))["http"]["port"].dump();
  const std::string fetch = "rkllm-mcp pull hf.co/OWNER/NAME --to " + place;
  CHECK_THAT(asker.run({"models", "--to", place}).out,
             has_text("No models. The server has no runtime, which models need: rkllm-mcp doctor says what to do. Have "
                      "the server fetch one: " +
                      fetch + "; load one: rkllm-mcp load FILE.rkllm --to " + place + ";"));
  CHECK_THAT(asker.run({"ask", "Hi", "--to", place}).err, has_text(fetch + ";"));
  CHECK_THAT(asker.run({"load", "/m/yours.rkllm", "--to", place}).err,
             has_text("; rkllm-mcp doctor says more; on a PC without a board: rkllm-mcp serve --simulator\n"));
  // That of the settings is this machine's.
  const std::string port = "http.port=" + place.substr(place.rfind(':') + 1);
  CHECK_THAT(asker.run({"models", "--set", port}).out,
             has_text("rkllm-mcp doctor --set " + port +
                      " says what to do. Fetch one: rkllm-mcp pull hf.co/OWNER/NAME "
                      "--set " +
                      port + ";"));
}

TEST_CASE("the simulator is known by what it is, not by how it was named") {
  const Asker asker;
  auto args = asker.options({"serve", "--library", kSimulator, "--ports-file", asker.path("ports")});
  for (const char* const name : {"tcp", "udp", "http", "ws"}) {
    args.args.insert(args.args.end(), {"--set", std::string(name) + ".port=0"});
  }
  Process server(args);
  CHECK(server.wait_for_error_text("next, in another terminal: rkllm-mcp load " + kModels + "/rk3588-1.5b.json --to"));
  REQUIRE(wait_for_file(asker.path("ports")));
  server.signal(SIGTERM);
  CHECK(server.wait() == 0);
  CHECK_THAT(server.error_text(), !has_text("on a PC without a board"));
  CHECK_THAT(
      asker.run({"models", "--set", "runtime.library=" + kSimulator, "--set", "runtime.model_dirs=" + kModels}).out,
      has_text("rk3588-1.5b"));
}
