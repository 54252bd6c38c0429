// `rkllm-mcp serve` and `rkllm-mcp call` together: two real programs, on the simulator.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"

#include <rkllm_mcp/json.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>

using namespace rkllm_mcp::test;
using rkllm_mcp::Json;

namespace {

constexpr const char* kRun = R"({"rkllm_input":{"prompt_input":"@n=200 Hello"}})";

std::vector<std::string> serve_args(const TemporaryDirectory& home, std::vector<std::string> more = {}) {
  std::vector<std::string> args{kProgram, "serve", "--simulator", "--ports-file", home / "ports.json"};
  for (const char* name : {"tcp", "udp", "http", "ws"}) {
    args.push_back("--set");
    args.push_back(std::string(name) + ".port=0");
  }
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

Process::Options options(const TemporaryDirectory& home, std::vector<std::string> args) {
  return {.args = std::move(args),
          .env = {{"HOME", home.path()}},
          .unset = {"XDG_CONFIG_HOME", "RKLLM_MCP_SETTINGS"},
          .directory = home.path(),
          .input = Process::Options::Input::kNull};
}

// A server with a loaded model.
class Server {
 public:
  Server() : process_(options(home_, serve_args(home_))) {
    if (!wait_for_file(home_ / "ports.json")) throw std::runtime_error("not started: " + process_.error_text());
    ports_ = Json::parse(read_file(home_ / "ports.json"));
    const auto loaded = call({"rkllm_init", Json{{"param", {{"model_path", kModels + "/fast.json"}}}}.dump()}, "tcp");
    if (loaded.status != 0) throw std::runtime_error("no model: " + loaded.out + loaded.err);
  }

  Finished call(std::vector<std::string> args, const std::string& transport) {
    args.insert(args.begin(), {kProgram, "call"});
    args.insert(args.end(), {"--to", transport + "://127.0.0.1:" + ports_[transport]["port"].dump()});
    return run_to_end(options(home_, args));
  }

 private:
  TemporaryDirectory home_;
  Process process_;
  Json ports_;
};

}  // namespace

TEST_CASE("call prints the same generated text on every transport") {
  Server server;
  const auto expected = server.call({"--text", "rkllm_run_async", kRun}, "tcp");
  INFO(expected.err);
  CHECK(expected.status == 0);
  CHECK(expected.out.size() > 200);
  for (const char* transport : {"tcp", "udp", "http", "ws"}) {
    INFO(transport);
    const auto finished = server.call({"--text", "rkllm_run_async", kRun}, transport);
    CHECK(finished.status == 0);
    CHECK(finished.out == expected.out);
    CHECK(finished.err.empty());
    const auto messages = server.call({"rkllm_run_async", kRun}, transport);
    CHECK(messages.status == 0);
    CHECK_THAT(messages.out, has_text("\"end\":true"));
    CHECK_THAT(messages.out, has_text("RKLLM_RUN_FINISH"));
  }
}

TEST_CASE("call follows a plain JSON-RPC stream, and prints the one answer of rkllm_run") {
  Server server;
  const auto expected = server.call({"--text", "rkllm_run", kRun}, "tcp");
  CHECK(expected.status == 0);
  CHECK(expected.out.size() > 200);
  Json params = Json::parse(kRun);
  params["stream"] = true;
  for (const char* transport : {"tcp", "http", "ws"}) {
    INFO(transport);
    const auto finished = server.call({"--text", "rkllm_run_async", params.dump()}, transport);
    CHECK(finished.status == 0);
    CHECK(finished.out == expected.out);
  }
}

TEST_CASE("call ends with 1 and shows the error that the server answers with") {
  Server server;
  for (const char* transport : {"tcp", "udp", "http", "ws"}) {
    INFO(transport);
    const auto finished = server.call({"rkllm_is_runing"}, transport);
    CHECK(finished.status == 1);
    CHECK_THAT(finished.out, has_text("-32601"));
    const auto text = server.call({"--text", "rkllm_is_runing"}, transport);
    CHECK(text.status == 1);
    CHECK_THAT(text.err, has_text("-32601"));
  }
}

TEST_CASE("the first start writes a complete settings file, later ones leave it alone") {
  const TemporaryDirectory home;
  const std::string path = home / ".config/rkllm-mcp/settings.json";
  for (int start = 0; start < 2; ++start) {
    std::filesystem::remove(home / "ports.json");
    Process process(options(home, serve_args(home)));
    REQUIRE(wait_for_file(home / "ports.json"));
    process.signal(SIGTERM);
    CHECK(process.wait() == 0);
    CHECK(std::filesystem::exists(home / ".config/rkllm-mcp/settings.schema.json"));
    if (start == 0) {
      Json settings = Json::parse(read_file(path));
      CHECK(settings["http"]["port"] == 8080);
      settings["server"]["name"] = "mine";
      write_file(path, settings.dump());
    } else {
      CHECK(Json::parse(read_file(path))["server"]["name"] == "mine");
    }
  }
}

TEST_CASE("a place where no settings file can be written is warned of, and served nevertheless") {
  const TemporaryDirectory home;
  Process process(options(home, serve_args(home, {"--settings", "/proc/rkllm-mcp/settings.json"})));
  CHECK(process.wait_for_error_text("no settings file was written"));
  CHECK(wait_for_file(home / "ports.json"));
}

TEST_CASE("a port in use ends serve with 4, naming port, transport and setting") {
  const TemporaryDirectory home;
  Process first(options(home, serve_args(home)));
  REQUIRE(wait_for_file(home / "ports.json"));
  const auto port = Json::parse(read_file(home / "ports.json"))["tcp"]["port"].dump();
  const TemporaryDirectory other;
  const auto second = run_to_end(options(other, serve_args(other, {"--set", "tcp.port=" + port})));
  CHECK(second.status == 4);
  CHECK_THAT(second.err, has_text(port) && has_text("tcp.port"));
}

TEST_CASE("a runtime library that is not there is named at start, and in the error of every call") {
  const TemporaryDirectory home;
  auto args = serve_args(home, {"--library", "/nowhere/librkllmrt.so"});
  args.erase(std::find(args.begin(), args.end(), "--simulator"));
  Process process(options(home, args));
  CHECK(process.wait_for_error_text("/nowhere/librkllmrt.so"));
  REQUIRE(wait_for_file(home / "ports.json"));
  const auto port = Json::parse(read_file(home / "ports.json"))["tcp"]["port"].dump();
  const auto call =
      run_to_end(options(home, {kProgram, "call", "rkllm_init", "{}", "--to", "tcp://127.0.0.1:" + port}));
  CHECK(call.status == 1);
  CHECK_THAT(call.out, has_text("4005") && has_text("/nowhere/librkllmrt.so"));
}
