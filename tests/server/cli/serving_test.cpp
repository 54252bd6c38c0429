// `rkllm-mcp serve` and `rkllm-mcp call` together: two real programs, on the simulator.
#include "support/catch.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/terminal_process.hpp"

#include <rkllm_mcp/json.hpp>

#include <httplib.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

// A port that nobody has at this moment.
int port_for_now() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(descriptor, reinterpret_cast<const sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

// A server with a loaded model.
class Server {
 public:
  explicit Server(std::vector<std::string> more = {}) : process_(options(home_, serve_args(home_, std::move(more)))) {
    if (!wait_for_file(home_ / "ports.json")) throw std::runtime_error("not started: " + process_.error_text());
    ports_ = Json::parse(read_file(home_ / "ports.json"));
    const auto loaded = call({"rkllm_init", Json{{"param", {{"model_path", kModels + "/fast.json"}}}}.dump()}, "tcp");
    if (loaded.status != 0) throw std::runtime_error("no model: " + loaded.out + loaded.err);
  }

  EndedProcess call(std::vector<std::string> args, const std::string& transport) {
    args.insert(args.begin(), {kProgram, "call"});
    args.insert(args.end(), {"--to", transport + "://127.0.0.1:" + ports_[transport]["port"].dump()});
    return run_to_end(options(home_, args));
  }

  // The same with `text` piped into it.
  EndedProcess call_with_input(std::vector<std::string> args, const std::string& text) {
    args.insert(args.begin(), {kProgram, "call"});
    args.insert(args.end(), {"--to", "tcp://127.0.0.1:" + ports_["tcp"]["port"].dump()});
    Process::Options piped = options(home_, args);
    piped.input = Process::Options::Input::kPipe;
    Process process(piped);
    process.write(text);
    process.close_input();
    std::string out = process.read_rest();
    const auto status = process.wait();
    return {status.value_or(-1), std::move(out), process.error_text()};
  }

  // A command for people, on the HTTP port.
  Process::Options options_of(std::vector<std::string> args) const {
    args.insert(args.begin(), kProgram);
    args.insert(args.end(), {"--to", "127.0.0.1:" + ports_["http"]["port"].dump()});
    return options(home_, args);
  }
  EndedProcess command(std::vector<std::string> args) const { return run_to_end(options_of(std::move(args))); }

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

TEST_CASE("call --json prints one object when the answer is complete, on every transport") {
  Server server;
  const auto expected = server.call({"--text", "rkllm_run_async", kRun}, "tcp");
  for (const char* transport : {"tcp", "udp", "http", "ws"}) {
    INFO(transport);
    const auto streamed = server.call({"--json", "rkllm_run_async", kRun}, transport);
    CHECK(streamed.status == 0);
    const Json report = Json::parse(streamed.out);
    CHECK(report["method"] == "rkllm_run_async");
    CHECK(report["text"].get<std::string>() + "\n" == expected.out);
    CHECK(report["result"]["state"] == "RKLLM_RUN_FINISH");
    CHECK_FALSE(report["result"].contains("chunk"));
    CHECK(report["error"].is_null());
    const auto single = server.call({"--json", "CPU4"}, transport);
    CHECK(
        Json::parse(single.out) ==
        Json{{"method", "CPU4"}, {"text", nullptr}, {"result", {{"name", "CPU4"}, {"value", 16}}}, {"error", nullptr}});
    const auto refused = server.call({"--json", "rkllm_is_runing"}, transport);
    CHECK(refused.status == 1);
    CHECK(Json::parse(refused.out)["error"]["code"] == -32601);
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

TEST_CASE("call takes its params from standard input, where they are not written or are a dash") {
  Server server;
  const auto expected = server.call({"--text", "rkllm_run", kRun}, "tcp");
  CHECK(server.call_with_input({"--text", "rkllm_run"}, kRun).out == expected.out);
  CHECK(server.call_with_input({"--text", "rkllm_run", "-"}, std::string(kRun) + "\n").out == expected.out);
  CHECK(server.call_with_input({"--json", "CPU4"}, "").status == 0);  // nothing is {}
  const auto broken = server.call_with_input({"rkllm_run"}, "{\"rkllm_input\":");
  CHECK(broken.status == 2);
  CHECK_THAT(broken.err, has_text("PARAMS: expected a JSON object or array"));
}

TEST_CASE("call ends with 1, shows the error that the server answers with, and says what failed and what to do") {
  Server server;
  constexpr const char* kWords =
      "rkllm-mcp: rkllm_is_runing: no method \"rkllm_is_runing\" exists; did you mean \"rkllm_is_running\"? (error "
      "-32601)\n";
  for (const char* transport : {"tcp", "udp", "http", "ws"}) {
    INFO(transport);
    const auto finished = server.call({"rkllm_is_runing"}, transport);
    CHECK(finished.status == 1);
    CHECK_THAT(finished.out, has_text("-32601"));
    CHECK(finished.err == kWords);
    const auto text = server.call({"--text", "rkllm_is_runing"}, transport);
    CHECK(text.status == 1);
    CHECK(text.out.empty());
    CHECK(text.err == kWords);
    CHECK(server.call({"--json", "rkllm_is_runing"}, transport).err == kWords);
  }
  CHECK_THAT(server.call({"rkllm_is_running", R"({"handle":"llm-77"})"}, "tcp").err,
             has_text("llm-77") && has_text("there are: llm-1 (error 4002)\n"));
  CHECK_THAT(server.call({"nothing_like_it"}, "tcp").err,
             has_text("(error -32601); rkllm-mcp tools list --all shows what there is\n"));
  const auto tool = server.call({"tools/call", R"({"name":"calculate","arguments":{"expression":"1/"}})"}, "tcp");
  CHECK(tool.status == 1);
  CHECK_THAT(tool.err, has_text("rkllm-mcp: tools/call: params.arguments.expression: expected a number"));
}

TEST_CASE("call shows what another server means by its error, whatever form that has") {
  httplib::Server server;
  Json answer;
  server.Post("/.*", [&answer](const httplib::Request&, httplib::Response& response) {
    response.set_content(answer.dump(), "application/json");
  });
  const int port = server.bind_to_any_port("127.0.0.1");
  std::thread thread([&server] { server.listen_after_bind(); });
  const TemporaryDirectory home;
  const auto words_for = [&](const Json& member) {
    answer = {{"jsonrpc", "2.0"}, {"id", 1}};
    answer.update(member);
    const auto finished = run_to_end(
        options(home, {kProgram, "call", "--text", "boom", "{}", "--to", "http://127.0.0.1:" + std::to_string(port)}));
    CHECK(finished.status == 1);
    return finished.err;
  };
  const auto failed = [](const Json& content) { return Json{{"result", {{"isError", true}, {"content", content}}}}; };
  const Json link{{"type", "resource_link"}, {"uri", "x:y"}, {"name", "log"}};
  CHECK(words_for({{"error", "boom"}}) == "rkllm-mcp: boom: \"boom\"\n");
  CHECK(words_for({{"error", nullptr}}) == "rkllm-mcp: boom: null\n");
  CHECK(words_for({{"error", {{"code", "x"}}}}) == "rkllm-mcp: boom: {\"code\":\"x\"}\n");
  CHECK(words_for(failed(Json::array({link, Json{{"type", "text"}, {"text", "no disk"}}}))) ==
        "rkllm-mcp: boom: no disk\n");
  CHECK_THAT(words_for(failed(Json::array({Json{{"type", "text"}, {"text", 5}}}))), has_text("\"text\":5"));
  CHECK(words_for({{"error", {{"message", "no\x1b[2J disk"}}}}) ==
        "rkllm-mcp: boom: no[2J disk\n");  // it clears no screen
  CHECK_THAT(words_for(failed(Json::array())), has_text("\"isError\":true"));
  server.stop();
  thread.join();
}

TEST_CASE("the first start writes a complete settings file, later ones leave it alone") {
  const TemporaryDirectory home;
  const std::string path = home / ".config/rkllm-mcp/settings.json";
  for (int start = 0; start < 2; ++start) {
    std::filesystem::remove(home / "ports.json");
    Process process(options(home, serve_args(home)));
    REQUIRE(wait_for_file(home / "ports.json"));
    const std::string port = Json::parse(read_file(home / "ports.json"))["http"]["port"].dump();
    if (start == 0) {
      CHECK(process.wait_for_error_text("the page for people: http://127.0.0.1:" + port + "/"));
      // What it says can be typed as it stands.
      CHECK(process.wait_for_error_text("next, in another terminal: rkllm-mcp load " + kModels +
                                        "/rk3588-1.5b.json --to http://127.0.0.1:" + port +
                                        ", then rkllm-mcp chat --to http://127.0.0.1:" + port + ";"));
    }
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

TEST_CASE("the first start on a board proposes to fetch a model, or to talk to one that is there") {
  for (const bool has_model : {false, true}) {
    const TemporaryDirectory home;
    if (has_model) write_file(home / "own.rkllm", "x");
    auto args = serve_args(home, {"--library", "/nowhere/librkllmrt.so", "--set",
                                  "runtime.model_dirs=" + Json::array({home.path()}).dump()});
    args.erase(std::find(args.begin(), args.end(), "--simulator"));
    Process process(options(home, args));
    REQUIRE(wait_for_file(home / "ports.json"));
    CHECK(process.wait_for_error_text(has_model ? "next, in another terminal: rkllm-mcp chat --to"
                                                : "next, in another terminal: rkllm-mcp pull hf.co/OWNER/NAME"));
    CHECK(process.wait_for_error_text("on a PC without a board: rkllm-mcp serve --simulator"));
  }
}

TEST_CASE("what the first start proposes for another terminal says what only this one's variables say") {
  const TemporaryDirectory home;
  auto args = serve_args(home, {"--library", "/nowhere/librkllmrt.so"});
  args.erase(std::find(args.begin(), args.end(), "--simulator"));
  auto of_variables = options(home, args);
  of_variables.unset = {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "STATE_DIRECTORY"};
  of_variables.env.insert(of_variables.env.end(),
                          {{"RKLLM_MCP_SETTINGS", home / "own.json"},
                           {"RKLLM_MCP_RUNTIME_MODEL_DIRS", home / "models"},
                           {"RKLLM_MCP_UPSTREAMS", R"({"x":{"command":"/bin/cat","env":{"A":"KEY123"}}})"},
                           {"RKLLM_MCP_TOOLS_GOOGLE_API_KEY", "KEY123"}});
  Process process(of_variables);
  const std::string known =
      " --settings " + (home / "own.json") + " --set runtime.model_dirs=" + (home / "models") + " ";
  CHECK(process.wait_for_error_text("rkllm-mcp pull hf.co/OWNER/NAME" + known));
  CHECK(process.wait_for_error_text("rkllm-mcp doctor" + known));
  process.signal(SIGTERM);
  CHECK(process.wait() == 0);
  CHECK_THAT(process.error_text(), !has_text("KEY123"));
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

TEST_CASE("a file of access tokens that is not there ends serve with 4, naming the setting") {
  const TemporaryDirectory home;
  const auto refused = run_to_end(options(home, serve_args(home, {"--set", "auth.tokens=/nowhere/tokens"})));
  CHECK(refused.status == 4);
  CHECK_THAT(refused.err, has_text("cannot start: auth.tokens: /nowhere/tokens: No such file or directory"));
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
  CHECK_THAT(call.err, has_text("(error 4005); rkllm-mcp doctor says more"));
}

TEST_CASE("status at the services' port says what that is") {
  const TemporaryDirectory home;
  Process server(options(home, serve_args(home, {"--set", "services.enabled=true", "--set", "services.port=0"})));
  REQUIRE(wait_for_file(home / "ports.json"));
  const std::string port = Json::parse(read_file(home / "ports.json"))["services"]["port"].dump();
  const auto status = run_to_end(options(home, {kProgram, "status", "--to", "127.0.0.1:" + port}));
  CHECK(status.status == 1);
  CHECK(status.out.empty());
  CHECK_THAT(status.err, has_text("has no models here, only services"));
}

TEST_CASE("commands without an access token say that one is needed, and not that nothing is loaded") {
  const TemporaryDirectory home;
  write_file(home / "tokens", "me a-token-for-the-test\n");
  std::filesystem::permissions(home / "tokens", std::filesystem::perms(0600));
  Process server(options(home, serve_args(home, {"--set", "auth.tokens=" + (home / "tokens")})));
  REQUIRE(wait_for_file(home / "ports.json"));
  const std::string place = "127.0.0.1:" + Json::parse(read_file(home / "ports.json"))["http"]["port"].dump();
  for (std::vector<std::string> command :
       {std::vector<std::string>{"status"}, {"ps"}, {"models"}, {"unload", "x"}, {"load", kModels + "/fast.json"}}) {
    INFO(command[0]);
    command.insert(command.begin(), kProgram);
    command.insert(command.end(), {"--to", place});
    const auto stranger = run_to_end(options(home, command));
    CHECK(stranger.status == 1);
    CHECK(stranger.out.empty());
    CHECK_THAT(stranger.err, has_text("an access token is needed: --token"));
  }
  const auto known = run_to_end(options(home, {kProgram, "ps", "--to", place, "--token", "a-token-for-the-test"}));
  CHECK(known.status == 0);
  CHECK_THAT(known.out, has_text("No model is loaded"));
  const auto wrong = run_to_end(options(home, {kProgram, "ps", "--to", place, "--token", "another"}));
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.err, has_text("the server refuses the access token"));
}

TEST_CASE("models shows what the server offers, also what the settings of the command do not know") {
  Server server({"--set", "runtime.model_dirs=[\"" + kModels + "\"]"});
  const auto shown = server.command({"models", "--json"});
  CHECK(shown.status == 0);
  std::vector<std::string> names;
  for (const Json& each : Json::parse(shown.out)) {
    names.push_back(each["model"].get<std::string>());
    CHECK(each["loaded"] == (names.back() == "llm-1"));  // what rkllm_init has loaded is not "fast", which may be, too
  }
  CHECK(std::count(names.begin(), names.end(), "rk3588-1.5b") == 1);
  CHECK(std::count(names.begin(), names.end(), "fast") == 1);
  CHECK(std::count(names.begin(), names.end(), "llm-1") == 1);
}

TEST_CASE("models needs no chat host") {
  Server server({"--set", "chat.enabled=false", "--set", "runtime.model_dirs=[\"" + kModels + "\"]"});
  const Json shown = Json::parse(server.command({"models", "--json"}).out);
  CHECK(shown.size() == 5);  // and what rkllm_init has loaded
  CHECK(std::ranges::count(shown, Json(true), [](const Json& each) { return each["loaded"]; }) == 1);
  CHECK(server.command({"load", "rk3588-1.5b"}).status == 0);
  CHECK(server.command({"load", "rk3588-1.5b"}).status == 0);
  CHECK(Json::parse(server.command({"ps", "--json"}).out).size() == 2);
}

TEST_CASE("ps knows how long the first token took, also where the prompt had been computed before") {
  Server server;
  for (int turn = 0; turn < 2; ++turn) {
    REQUIRE(server.command({"ask", "@n=5 Hello"}).status == 0);
    const Json loaded = Json::parse(server.command({"ps", "--json"}).out);
    REQUIRE(loaded.size() == 1);
    INFO(loaded.dump());
    REQUIRE(loaded[0]["time_to_first_token_ms"].is_number());
    CHECK(loaded[0]["time_to_first_token_ms"].get<double>() > 0);
  }
  const Json models = Json::parse(server.command({"models", "--json"}).out);
  REQUIRE(models.size() == 1);
  CHECK(models[0]["bytes"].is_number());
}

TEST_CASE("logs without a file shows what the running server keeps in memory, and -f what it logs from now on") {
  Server server;
  const auto shown = server.command({"logs", "-n", "1000"});
  INFO(shown.err);
  CHECK(shown.status == 0);
  CHECK_THAT(shown.out, has_text(" info: rkllm-mcp ") && has_text("method=rkllm_init"));
  const auto last = server.command({"logs", "-n", "1", "--json"});
  CHECK(Json::parse(last.out)["level"] == "info");
  Process follower(server.options_of({"logs", "-f", "-n", "1"}));
  REQUIRE(follower.read_line());
  server.call({"rkllm_asked_while_following"}, "tcp");
  auto line = follower.read_line();
  while (line && line->find("rkllm_asked_while_following") == std::string::npos) line = follower.read_line();
  CHECK(line);
  const TemporaryDirectory home;
  const auto nobody = run_to_end(options(home, {kProgram, "logs", "--set", "http.port=1"}));
  CHECK(nobody.status == 1);
  CHECK_THAT(nobody.err, has_text("no server runs at http://127.0.0.1:1") && has_text("--set log.file="));
}

TEST_CASE("status, ps, models, unload and load show and change what the running server holds") {
  Server server;
  const auto status = server.command({"status"});
  CHECK(status.status == 0);
  CHECK_THAT(status.out, has_text("server      healthy"));
  CHECK_THAT(status.out, has_text("SIMULATED"));
  CHECK_THAT(status.out, has_text("models      1 loaded"));
  CHECK(Json::parse(server.command({"status", "--json"}).out)["status"] == "healthy");
  CHECK_THAT(server.command({"ps"}).out, has_text("fast"));
  const Json loaded = Json::parse(server.command({"ps", "--json"}).out);
  REQUIRE(loaded.size() == 1);
  CHECK(loaded[0]["path"] == kModels + "/fast.json");
  CHECK(loaded[0]["tokens_per_second"].is_null());  // nothing has run yet
  CHECK(Json::parse(server.command({"models", "--json"}).out)[0]["loaded"] == true);
  CHECK(server.command({"unload", "fast"}).status == 0);
  const auto again = server.command({"unload", "fast"});
  CHECK(again.status == 1);
  CHECK_THAT(again.err, has_text("fast is not loaded"));
  CHECK(server.command({"load", kModels + "/fast.json"}).status == 0);
}

TEST_CASE("load shows on a terminal how much of the model has been read, and health tells the same") {
  Server server;
  const TemporaryDirectory directory;
  const std::string path = directory / "slow.json";
  Json model = Json::parse(read_file(kModels + "/fast.json"));
  model["faults"] = Json::parse(R"([{"when":"init","what":"hang"}])");
  write_file(path, model.dump());
  const std::string size = std::to_string(std::filesystem::file_size(path)) + " bytes";
  TerminalProcess load(server.options_of({"load", path}), 100);
  CHECK(load.wait_for("loading  "));
  CHECK(load.wait_for(size));  // what is left is not known, and not shown
  CHECK_THAT(load.shown(), !has_text("left"));
  const Json health = Json::parse(server.command({"status", "--json"}).out);
  REQUIRE(health["loading"].size() == 1);
  CHECK(health["loading"][0]["name"] == "slow");
  CHECK(health["loading"][0]["path"] == path);
  CHECK(health["loading"][0]["total"] == std::filesystem::file_size(path));
  CHECK(health["loading"][0]["seconds_left"].is_null());
  load.type("\x03");
  CHECK(load.wait() == 128 + SIGINT);
}

TEST_CASE("commands for people that are sent to another port of the server are told which one is theirs") {
  const std::string port = std::to_string(port_for_now());
  const TemporaryDirectory home;
  const Process process(options(home, serve_args(home, {"--set", "http.port=" + port})));
  REQUIRE(wait_for_file(home / "ports.json"));
  const Json ports = Json::parse(read_file(home / "ports.json"));
  const auto place = [&ports](const char* name) { return "127.0.0.1:" + ports[name]["port"].dump(); };
  for (const auto& [to, status] :
       {std::pair("tcp://" + place("tcp"), 2), std::pair("ws://" + place("ws"), 2), std::pair(place("tcp"), 1),
        std::pair(place("ws"), 1), std::pair(ports["tcp"]["port"].dump(), 1)}) {
    INFO(to);
    const auto asked = run_to_end(options(home, {kProgram, "ps", "--to", to}));
    CHECK(asked.status == status);
    CHECK_THAT(asked.err, has_text(" is not the server's HTTP port") && has_text("--to http://127.0.0.1:" + port));
    CHECK_THAT(asked.err, !has_text("use tcp://"));
  }
  CHECK(run_to_end(options(home, {kProgram, "ps", "--to", port})).status == 0);
}

TEST_CASE("a call that is sent to a port of another transport is told the address that is right for that port") {
  const TemporaryDirectory home;
  const Process process(options(home, serve_args(home, {})));
  REQUIRE(wait_for_file(home / "ports.json"));
  const Json ports = Json::parse(read_file(home / "ports.json"));
  const std::vector<std::string> schemes{"tcp", "http", "ws"};
  for (const std::string& port : schemes) {
    const std::string place = "127.0.0.1:" + ports[port]["port"].dump();
    const std::string right = ": use " + port + "://" + place;
    for (const std::string& scheme : schemes) {
      INFO(scheme << " at the port of " << port);
      const std::string to = scheme + "://" + place;
      const auto called = run_to_end(options(home, {kProgram, "call", "server.status", "--to", to}));
      const auto bridge = run_to_end(options(home, {kProgram, "connect", to}));
      if (scheme == port) {
        CHECK_THAT(called.err + bridge.err, !has_text("that port speaks"));
        continue;
      }
      CHECK(called.status == 1);
      CHECK_THAT(called.err, has_text("that port speaks ") && has_text(right));
    }
    for (const std::string& to : {place, ports[port]["port"].dump()}) {
      const auto called = run_to_end(options(home, {kProgram, "call", "server.status", "--to", to}));
      CHECK((called.err.find(right) != std::string::npos) == (port != "tcp"));
    }
  }
  const std::string ws = "127.0.0.1:" + ports["ws"]["port"].dump();
  CHECK_THAT(run_to_end(options(home, {kProgram, "tools", "list", "--to", "http://" + ws + "/mcp"})).err,
             has_text("that port speaks WebSocket: use ws://" + ws));
}

TEST_CASE("a server whose name has no address is told apart from one that does not run") {
  for (const char* const to : {"http://a..b:1", "tcp://a..b:1", "ws://a..b:1"}) {
    INFO(to);
    const auto finished = run_to_end({.args = {kProgram, "call", "--to", to, "rkllm_is_running"}});
    CHECK(finished.status == 1);
    CHECK_THAT(finished.err, has_text("the name cannot be resolved (") && !has_text("is the server running?"));
  }
}
