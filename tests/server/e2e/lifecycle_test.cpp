// How the server starts, says what it is, and ends: in under two seconds, whatever goes on.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/raw_socket.hpp"
#include "support/raw_websocket.hpp"
#include "support/rpc_client.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongestEnd{5000};  // two seconds, and as many again as a busy machine may add
constexpr int kSmallBuffer = 4096;

// Sends the signal and checks that the server ends in time and with status 0.
void check_end(LiveServer& server, int signal_number) {
  const auto begun = Clock::now();
  server.process().signal(signal_number);
  const auto status = server.process().wait();
  INFO(server.process().error_text());  // where a sanitizer says what is wrong
  CHECK(status == 0);
  CHECK(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun) < kLongestEnd);
}

std::string message(int id, std::string_view method, const Json& params) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump();
}

std::string http_post(std::string_view path, std::string_view body) {
  return "POST " + std::string(path) +
         " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Accept: application/json, text/event-stream\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

// Returns when the event loop, the process's first thread, has nothing to do any more: every buffer is full. Nothing
// tells of what another process does not do: it is seen over a time.
void await_standstill(int pid) {
  constexpr std::chrono::milliseconds kBetweenLooks{100};
  const auto processor_time = [pid] { return read_file("/proc/" + std::to_string(pid) + "/schedstat"); };
  for (std::string before, now = processor_time(); now != before; now = processor_time()) {
    before = std::move(now);
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// Whether the stream of request 1 came to an end, and once, in what a client received.
bool ended_once(std::string_view received) {
  const auto errors = count(received, R"("id":1,"error":)");
  const auto ends = count(received, R"("end":true})");
  return errors + ends == 1 && ends == count(received, R"("aborted":true)");
}

enum class When { kGenerating, kPrefilling };

// Ends the server while `model` runs for a TCP and a WebSocket client, and a second run waits for the first one's
// handle. What comes is only looked at afterwards: at full speed no parser of a test keeps up.
void check_end_during_runs(const std::string& model, When when) {
  LiveServer server;
  RpcClient control(server.connect(Transport::kTcp));
  control.init(model);
  control.init(model);
  RawSocket tcp(server.port(Transport::kTcp));
  RawSocket ws(server.port(Transport::kWebSocket));
  open_websocket(ws, server.endpoint(Transport::kWebSocket));
  tcp.send(message(1, "rkllm_run_async", run_params("llm-1", kEndless)) + "\n" +
           message(2, "rkllm_run_async", run_params("llm-1", "never begun")) + "\n" +
           message(3, "ping", Json::object()) + "\n");
  ws.send(text_frame(message(1, "rkllm_run_async", run_params("llm-2", kEndless))));
  tcp.receive_until(R"("id":3,"result":{})");
  switch (when) {
    case When::kGenerating: ws.receive_until(R"("seq":0)"); break;
    case When::kPrefilling:
      for (const char* handle : {"llm-1", "llm-2"}) {
        while (control.result("rkllm_is_running", {{"handle", handle}})["running"] == false) {
        }
      }
      break;
  }

  const auto begun = Clock::now();
  server.process().signal(SIGTERM);
  auto from_ws = std::async(std::launch::async, [&ws] { return ws.receive_rest(); });
  const std::string from_tcp = tcp.receive_rest();
  CHECK(count(from_tcp, R"("id":2,"error":{"code":4009)") == 1);
  CHECK(ended_once(from_tcp));
  CHECK(ended_once(from_ws.get()));
  CHECK(server.process().wait() == 0);
  CHECK(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun) < kLongestEnd);
}

Process::Options second_server(const TemporaryDirectory& directory, std::vector<std::string> settings) {
  Process::Options options;
  options.args = {kProgram, "serve", "--simulator", "--settings", directory / "settings.json"};
  for (const char* transport : {"tcp", "udp", "http", "ws"}) {
    options.args.insert(options.args.end(), {"--set", std::string(transport) + ".port=0"});
  }
  for (const auto& setting : settings) options.args.insert(options.args.end(), {"--set", setting});
  return options;
}

LiveServer::Options without_library() {
  LiveServer::Options options;
  options.runtime = {"--library", "/nowhere/librkllmrt.so"};
  return options;
}

}  // namespace

TEST_CASE("SIGTERM ends an idle server with status 0 in under two seconds") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  check_end(server, SIGTERM);
}

TEST_CASE("SIGINT ends an idle server with status 0 in under two seconds") {
  LiveServer server;
  check_end(server, SIGINT);
}

TEST_CASE("SIGTERM in the middle of runs at full speed ends them, and every stream gets its last message") {
  check_end_during_runs(shipped_model("fast"), When::kGenerating);
}

TEST_CASE("SIGTERM in the middle of slow runs ends them, and every stream gets its last message") {
  TemporaryDirectory models;
  write_file(
      models / "slow.json",
      Json{{"rkllm_simulated_model", 1}, {"name", "SIMULATED slow"}, {"npu_cores", 1}, {"decode_tokens_per_s", 5}}
          .dump());
  check_end_during_runs(models / "slow.json", When::kGenerating);
}

TEST_CASE("SIGTERM while prompts are computed, which cannot be stopped, still ends every stream in time") {
  TemporaryDirectory models;
  write_file(
      models / "slow.json",
      Json{{"rkllm_simulated_model", 1}, {"name", "SIMULATED slow"}, {"npu_cores", 1}, {"prefill_tokens_per_s", 0.5}}
          .dump());
  check_end_during_runs(models / "slow.json", When::kPrefilling);
}

TEST_CASE("SIGINT in the middle of a run that is polled ends the server in under two seconds") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(server.paced_model(100));
  RpcClient polling(server.connect(Transport::kHttp));
  polling.run_async("llm-1", kEndless);
  check_end(server, SIGINT);
}

TEST_CASE("clients that stop reading do not hold the end up") {
  LiveServer server({.set = {"limits.max_message_bytes=262144"}});  // the tool call's answer is soon full as well
  RpcClient client(server.connect(Transport::kTcp));
  const std::string model = server.write_model("small", {{"npu_cores", 1}});  // so that three can run at a time
  for (int handle = 1; handle <= 3; ++handle) client.init(model);
  RawSocket tcp(server.port(Transport::kTcp), kSmallBuffer);
  tcp.send(message(1, "rkllm_run_async", run_params("llm-1", kEndless)) + "\n");
  tcp.receive_until(R"("seq":0)");
  RawSocket ws(server.port(Transport::kWebSocket), kSmallBuffer);
  open_websocket(ws, server.endpoint(Transport::kWebSocket));
  ws.send(text_frame(message(1, "rkllm_run_async", run_params("llm-2", kEndless))));
  ws.receive_until(R"("seq":0)");
  RawSocket sse(server.port(Transport::kHttp), kSmallBuffer);
  Json call{{"name", "rkllm_run_async"}, {"arguments", run_params("llm-3", kEndless)}};
  call["_meta"]["progressToken"] = "p";
  sse.send(http_post("/mcp", message(1, "tools/call", call)));
  sse.receive_until("progressToken");
  await_standstill(server.process().pid());
  check_end(server, SIGTERM);
}

TEST_CASE("a port in use is a start-up error that names the port, its holder, the transport and the setting") {
  LiveServer server;
  TemporaryDirectory directory;
  for (const Transport transport : {Transport::kTcp, Transport::kUdp, Transport::kHttp, Transport::kWebSocket}) {
    const std::string name(name_of(transport));
    const std::string port = std::to_string(server.port(transport));
    INFO(name);
    const auto finished = run_to_end(second_server(directory, {name + ".port=" + port}));
    CHECK(finished.status == 4);
    CHECK(finished.out.empty());
    CHECK(finished.err.find("127.0.0.1:" + port) != std::string::npos);
    CHECK(finished.err.find(name + ".port") != std::string::npos);
    CHECK(finished.err.find("in use by process " + std::to_string(server.process().pid()) + " (rkllm-mcp)") !=
          std::string::npos);
  }
}

TEST_CASE("a ports file that cannot be written is a start-up error, whatever model is to be loaded") {
  TemporaryDirectory directory;
  auto options = second_server(directory, {});
  write_file(
      directory / "settings.json",
      Json{{"models", {{"slow", {{"autoload", true}, {"param", {{"model_path", shipped_model("fast")}}}}}}}}.dump());
  options.args.insert(options.args.end(), {"--ports-file", "/nowhere/ports.json"});
  const auto finished = run_to_end(options);
  CHECK(finished.status == 4);
  CHECK(finished.err.find("/nowhere/ports.json") != std::string::npos);
  CHECK(finished.err.find("is loaded") == std::string::npos);
}

TEST_CASE("without a runtime library the server starts, says so, and every call gets 4005") {
  LiveServer server(without_library());
  const Json health = server.health();
  CHECK(health["status"] == "degraded");
  CHECK(health["runtime"]["path"].is_null());
  CHECK(health["runtime"]["reason"].get<std::string>().find("/nowhere/librkllmrt.so") != std::string::npos);
  CHECK(server.process().wait_for_error_text("/nowhere/librkllmrt.so"));
  for (const Transport transport : {Transport::kTcp, Transport::kUdp, Transport::kHttp, Transport::kWebSocket}) {
    INFO(name_of(transport));
    RpcClient client(server.connect(transport));
    const Json error = client.call("rkllm_init", {{"param", {{"model_path", "x"}}}})["error"];
    CHECK(error["code"] == 4005);
    CHECK(error["data"]["reason"].get<std::string>().find("/nowhere/librkllmrt.so") != std::string::npos);
    // On a busy machine HTTP offers the stream first, and the poll is told.
    CHECK(client.stream(client.run_async("llm-1", "Hello")).ending().at("error").at("code") == 4005);
    CHECK(client.call("ping").contains("result"));
    CHECK(client.result("RKLLMParam").contains("fields"));
  }
}

TEST_CASE("a simulated runtime is called SIMULATED wherever it is named") {
  LiveServer server;
  const Json runtime = server.health()["runtime"];
  CHECK(runtime["simulated"] == true);
  CHECK(runtime["note"].get<std::string>().find("SIMULATED") != std::string::npos);
  CHECK(server.process().wait_for_error_text("SIMULATED"));
  RpcClient client(server.connect(Transport::kTcp));
  const Json hello = client.result("initialize", {{"protocolVersion", "2025-11-25"},
                                                  {"capabilities", Json::object()},
                                                  {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
  CHECK(hello["serverInfo"]["title"].get<std::string>().find("SIMULATED") != std::string::npos);
  CHECK(hello["instructions"].get<std::string>().find("SIMULATED") != std::string::npos);
}

TEST_CASE("the health page tells transports, ports, handles and versions") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.init(shipped_model("fast"));
  const Json health = server.health();
  CHECK(health["status"] == "healthy");
  CHECK(health["name"] == "rkllm-server");
  CHECK(health["runtime"]["version"] == "1.3.0");
  CHECK(health["runtime"]["abi"] == "1.3.0");
  Json handle = health["runtime"]["handles"].at(0);
  CHECK((handle["process"].is_number() ? "process" : "thread") == health["runtime"]["isolation"]);
  handle.erase("process");
  CHECK(handle == Json{{"id", "llm-1"},
                       {"running", false},
                       {"queued", 0},
                       {"queue", Json::array()},
                       {"model", nullptr},
                       {"path", shipped_model("fast")},
                       {"simulated", true}});
  for (const char* transport : {"tcp", "udp", "http", "ws"}) {
    CHECK(health["transports"][transport]["port"].get<int>() > 0);
  }
  CHECK(health["transports"]["tcp"]["connections"] == 1);
}

TEST_CASE("SIGHUP opens the log's file again, so that it can be renamed") {
  const TemporaryDirectory directory;
  const std::string log = directory / "log";
  LiveServer server({.set = {"log.file=" + log}});
  std::filesystem::rename(log, log + ".1");
  server.process().signal(SIGHUP);
  RpcClient client(server.connect(Transport::kTcp));
  while (!std::filesystem::exists(log) || read_file(log).find("method=tools/list") == std::string::npos) {
    client.result("tools/list");
  }
  CHECK(read_file(log).find("process ") == std::string::npos);
  CHECK(read_file(log + ".1").find("process ") != std::string::npos);
}

TEST_CASE("a failed start says why on standard error, wherever the log goes") {
  const TemporaryDirectory directory;
  LiveServer first;
  const std::string pipe = directory / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  struct Case {
    std::vector<std::string> settings;
    std::string reason;
  };
  const std::vector<Case> cases{
      {{"log.file=" + directory.path() + "/log", "tcp.port=" + std::to_string(first.port(Transport::kTcp))},
       "cannot start: tcp: cannot listen on 127.0.0.1:"},
      {{"log.level=off", "tcp.port=" + std::to_string(first.port(Transport::kTcp))},
       "cannot start: tcp: cannot listen on 127.0.0.1:"},
      {{"log.file=" + directory.path() + "/none/log"}, "cannot start: log.file: "},
      {{"log.file=" + pipe}, "cannot start: log.file: "},
      {{"log.file=" + directory.path() + "/log", "auth.tokens=" + pipe},
       "cannot start: auth.tokens: " + pipe + ": not a file"},
      {{"tcp.tls=true", "tls.certificate=" + pipe, "tls.key=" + pipe},
       "cannot start: TLS is not possible: " + pipe + ": not a file"},
  };
  for (const auto& [settings, reason] : cases) {
    INFO(settings.back());
    Process process(second_server(directory, settings));
    CHECK(process.wait() != 0);
    CHECK(process.error_text().find(reason) != std::string::npos);
  }
  Process::Options options = second_server(directory, {});
  options.args[4] = pipe;
  Process process(options);
  CHECK(process.wait() != 0);
  CHECK(process.error_text().find(pipe + ": not a file") != std::string::npos);
}

TEST_CASE("HEAD answers as GET does, without the body") {
  LiveServer server;
  RawSocket client(server.port(Transport::kHttp));
  client.send("HEAD /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  const std::string answer = client.receive_rest();
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(answer.ends_with("\r\n\r\n"));
  CHECK(answer.find("Content-Length: 0") == std::string::npos);
}

TEST_CASE("SIGHUP reads the settings again, says what needs a restart, and survives a broken file") {
  LiveServer server;
  Process& process = server.process();
  const std::string file = server.directory() / "settings.json";
  Json settings = Json::parse(read_file(file));
  settings["log"]["level"] = "debug";
  settings["http"]["keep_alive_s"] = 7;
  write_file(file, settings.dump());
  process.signal(SIGHUP);
  CHECK(process.wait_for_error_text("http.keep_alive_s has changed, but needs a restart"));
  CHECK(process.wait_for_error_text("log.level has changed"));
  write_file(file, "{");
  process.signal(SIGHUP);
  CHECK(process.wait_for_error_text("the settings were not read again"));
  CHECK(RpcClient(server.connect(Transport::kTcp)).call("ping").contains("result"));
}

}  // namespace rkllm_mcp::test
