// The runtime library runs in worker processes: what kills it kills one model, and nothing else.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/live_server.hpp"
#include "support/rpc_client.hpp"

#include <signal.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

LiveServer::Options with_workers(std::vector<std::string> set = {}) {
  set.push_back("runtime.isolation=process");
  // What kills a worker is to be seen as it is, not as a sanitizer reports it.
  return {.set = std::move(set), .env = {{"ASAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_abort=0"}}};
}

Json fault(const Json& when, const char* what) { return Json{{"faults", {{{"when", when}, {"what", what}}}}}; }

Json status_of(RpcClient& client, const std::string& handle) {
  const Json read = client.result("resources/read", {{"uri", "rkllm://handles/" + handle}});
  return Json::parse(read.at("contents").at(0).at("text").get<std::string>());
}

pid_t worker_of(RpcClient& client, const std::string& handle) {
  return status_of(client, handle).at("process").get<pid_t>();
}

bool exists(pid_t process) {
  // A process that has died may wait to be reaped by whoever it was left to.
  std::ifstream status("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(status, line)) return false;
  return line.find(") Z ") == std::string::npos;
}

void await_end_of(pid_t process) {
  CHECK(eventually([&] { return !exists(process); }));
}

// The handles that the server has, once they are as many.
Json await_handles(const LiveServer& server, std::size_t count) {
  Json handles;
  eventually([&] {
    handles = server.health()["runtime"]["handles"];
    return handles.size() == count;
  });
  return handles;
}

void await_running(RpcClient& client) {
  while (client.result("rkllm_is_running")["running"] == false) {
  }
}

void check_died(const Json& reply, const std::string& signal) {
  INFO(reply.dump());
  REQUIRE(reply.contains("error"));
  CHECK(reply["error"]["code"] == 4005);
  CHECK(reply["error"]["data"]["signal"] == signal);
}

}  // namespace

TEST_CASE("each model has a worker process of its own, which destroying it ends", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  const pid_t one = worker_of(client, client.init(shipped_model("fast")));
  const pid_t two = worker_of(client, client.init(shipped_model("fast")));
  CHECK(std::set<pid_t>{one, two, server.process().pid()}.size() == 3);
  client.result("rkllm_destroy", {{"handle", "llm-1"}});
  CHECK_FALSE(exists(one));  // when the reply has come, the memory is free
  CHECK(exists(two));
  CHECK(client.result("rkllm_is_running")["running"] == false);
}

TEST_CASE("with runtime.workers=shared all models are in one worker", "[worker]") {
  LiveServer server(with_workers({"runtime.workers=shared"}));
  RpcClient client(server.connect(Transport::kTcp));
  const pid_t one = worker_of(client, client.init(shipped_model("fast")));
  CHECK(worker_of(client, client.init(shipped_model("fast"))) == one);
  client.result("rkllm_destroy", {{"handle", "llm-1"}});
  CHECK(exists(one));
  ::kill(one, SIGKILL);
  await_end_of(one);
  CHECK(await_handles(server, 0).empty());
  CHECK(worker_of(client, client.init(shipped_model("fast"))) != one);
}

TEST_CASE("a worker is called like its model, for ps and top", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  const std::string process = "/proc/" + std::to_string(worker_of(client, client.init(shipped_model("rk3588-1.5b"))));
  const std::string command_line = read_file(process + "/cmdline");
  CHECK(command_line.substr(0, command_line.find('\0')) == "rkllm-mcp: rk3588-1.5b");
  CHECK(command_line.find_first_not_of('\0', command_line.find('\0')) == std::string::npos);
  CHECK(read_file(process + "/comm") == "rkllm-mcp: rk35\n");
  CHECK(read_file(process + "/environ").find("PATH=") != std::string::npos);
}

TEST_CASE("with runtime.isolation=thread models are in the server's own process", "[worker]") {
  LiveServer server({.set = {"runtime.isolation=thread"}});
  RpcClient client(server.connect(Transport::kTcp));
  CHECK(status_of(client, client.init(shipped_model("fast")))["process"].is_null());
}

TEST_CASE("a killed worker ends what it was asked to do with error 4005, and nobody else notices", "[worker]") {
  const int signal = GENERATE(SIGKILL, SIGSEGV, SIGABRT, SIGBUS);
  CAPTURE(signal);
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  RpcClient waiting(server.connect(Transport::kWebSocket));
  RpcClient other(server.connect(Transport::kUnix));
  const std::string doomed = client.init(server.paced_model(50));
  const std::string safe = other.init(shipped_model("fast"));
  const int killed = client.run_async(doomed, kEndless);
  StreamCheck begun(killed, "rkllm_run_async");
  client.read_stream(begun, [&] { return begun.chunks() > 0; });
  const int queued = waiting.run_async(doomed, "never begun");
  waiting.result("ping");  // the run is in the queue
  const std::string prompt = "@n=2000 @seed=7";
  auto whole = std::async(std::launch::async, [&] { return other.stream(other.run_async(safe, prompt)); });

  ::kill(worker_of(client, doomed), signal);
  const std::string name = "SIG" + std::string(::sigabbrev_np(signal));
  Json reply;
  do reply = client.receive_or_throw();
  while (reply.contains("result"));
  CHECK(reply["id"] == killed);
  check_died(reply, name);
  check_died(waiting.answer(queued), name);
  CHECK(client.call("rkllm_is_running", {{"handle", doomed}})["error"]["code"] == 4002);
  CHECK(difference(server, whole.get(), prompt, 2000).empty());
  CHECK(other.result("rkllm_is_running", {{"handle", safe}})["running"] == false);
}

TEST_CASE("a library that crashes while it loads a model gives error 4005 with what it printed", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  const Json reply =
      client.call("rkllm_init", {{"param", {{"model_path", server.write_model("oom", fault("init", "oom"))}}}});
  check_died(reply, "SIGSEGV");
  CHECK_FALSE(reply["error"]["data"]["log"].empty());
  CHECK(client.call("rkllm_is_running")["error"]["code"] == 4002);
  client.init(shipped_model("fast"));
  CHECK(client.result("rkllm_is_running")["running"] == false);
}

TEST_CASE("a library that was replaced by another version is not loaded with the old layouts", "[worker]") {
  const TemporaryDirectory place;
  const std::string library = place / "librkllmrt.so";
  std::filesystem::copy_file(simulator_of("1.2.3"), library);
  LiveServer::Options options = with_workers({"runtime.library=" + library});
  options.runtime.clear();
  LiveServer server(options);
  server.await_runtime("ready");  // or the worker that is tried out is left for the second model
  RpcClient client(server.connect(Transport::kTcp));
  const std::string old = client.init(shipped_model("fast"));
  // As a package manager does it: a new file takes the name, the old one stays with those who have it.
  std::filesystem::copy_file(simulator_of("1.3.0"), place / "new");
  std::filesystem::rename(place / "new", library);
  const Json reply = client.call("rkllm_init", {{"param", {{"model_path", shipped_model("fast")}}}});
  INFO(reply.dump());
  REQUIRE(reply.contains("error"));
  CHECK(reply["error"]["code"] == 4005);
  CHECK(reply["error"]["data"]["log"].dump().find("it was version 1.2.3, and is 1.3.0 now; restart") !=
        std::string::npos);
  CHECK(client.result("rkllm_is_running", {{"handle", old}})["running"] == false);
}

TEST_CASE("a library that hangs is killed after runtime.hang_s, and others do not wait for it", "[worker]") {
  LiveServer server(with_workers({"runtime.hang_s=5"}));
  RpcClient client(server.connect(Transport::kTcp));
  RpcClient other(server.connect(Transport::kTcp));
  const std::string hangs = client.init(server.write_model("hangs", fault(3, "hang")));
  const std::string safe = other.init(shipped_model("fast"));
  const int id = client.run_async(hangs, kEndless);
  const std::string prompt = "@n=500 @seed=7";
  CHECK(difference(server, other.stream(other.run_async(safe, prompt)), prompt, 500).empty());
  Json reply;
  do reply = client.receive_or_throw();
  while (reply.contains("result"));
  CHECK(reply["id"] == id);
  check_died(reply, "SIGKILL");
  CHECK(reply["error"]["data"]["reason"].get<std::string>().find("no sign of life for 5 s") != std::string::npos);
  CHECK(await_handles(server, 1)[0]["id"] == safe);
}

TEST_CASE("a worker that dies while nothing is asked of it is noticed", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  const pid_t worker = worker_of(client, client.init(shipped_model("fast")));
  ::kill(worker, SIGKILL);
  CHECK(await_handles(server, 0).empty());
  CHECK(server.process().wait_for_error_text("llm-1 has died"));
  CHECK(client.call("rkllm_is_running")["error"]["code"] == 4002);
}

TEST_CASE("a worker that has been stopped while nothing is asked of it is noticed after runtime.hang_s", "[worker]") {
  LiveServer server(with_workers({"runtime.hang_s=5"}));
  RpcClient client(server.connect(Transport::kTcp));
  const pid_t worker = worker_of(client, client.init(shipped_model("fast")));
  ::kill(worker, SIGSTOP);
  CHECK(await_handles(server, 0).empty());
  CHECK(server.process().wait_for_error_text("llm-1 has died"));
}

TEST_CASE("a model that hangs while it is loaded makes room when the client that wanted it leaves", "[worker]") {
  LiveServer server(with_workers({"limits.max_handles=1"}));
  const Json param{{"model_path", server.write_model("hangs", fault("init", "hang"))}};
  {
    RpcClient leaving(server.connect(Transport::kTcp));
    leaving.send("rkllm_init", {{"param", param}});
    REQUIRE(leaving.call("ping").contains("result"));
    REQUIRE(leaving.call("rkllm_init", {{"param", param}})["error"]["code"] == 4004);
  }
  RpcClient client(server.connect(Transport::kTcp));
  const auto deadline = std::chrono::steady_clock::now() + Process::kPatience;
  Json reply;
  do reply = client.call("rkllm_init", {{"param", {{"model_path", shipped_model("fast")}}}});
  while (reply.contains("error") && std::chrono::steady_clock::now() < deadline);
  INFO(reply.dump());
  CHECK(reply.contains("result"));
}

TEST_CASE("a model that is loaded at start is loaded again when its worker dies", "[worker]") {
  LiveServer server(
      with_workers({R"(models={"m":{"autoload":true,"param":{"model_path":")" + shipped_model("fast") + R"("}}})"}));
  const Json first = await_handles(server, 1);
  ::kill(first[0]["process"].get<pid_t>(), SIGKILL);
  CHECK(server.process().wait_for_error_text("model m is loaded again"));
  CHECK(server.process().wait_for_error_text(R"("handle":"llm-2")"));
  CHECK(await_handles(server, 1)[0]["process"] != first[0]["process"]);
}

TEST_CASE("models that are loaded at the same time have workers of their own", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  std::vector<int> ids;
  for (int each = 0; each < 8; ++each) {
    ids.push_back(client.send("rkllm_init", {{"param", {{"model_path", shipped_model("fast")}}}}));
  }
  std::set<pid_t> workers;
  for (const int id : ids) {
    const Json answer = client.answer(id);
    workers.insert(worker_of(client, answer["result"]["handle"].get<std::string>()));
  }
  CHECK(workers.size() == ids.size());
}

TEST_CASE("calls that a vanished client left behind, while the worker does not answer, harm nobody", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  const pid_t worker = worker_of(client, client.init(shipped_model("fast")));
  ::kill(worker, SIGSTOP);
  {
    RpcClient hasty(server.connect(Transport::kTcp));
    for (int each = 0; each < 50; ++each) hasty.send("rkllm_is_running");
    // Longer than a socket holds, so that the worker cannot have taken it; then cancelled.
    const int run = hasty.run_async("llm-1", std::string(3'000'000, 'x'));
    hasty.send_text(
        Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", run}}}}.dump());
    hasty.result("ping");
  }
  const auto begun = std::chrono::steady_clock::now();
  CHECK(client.result("CPU4")["value"] == 16);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));  // not as long as a send may wait
  ::kill(worker, SIGCONT);
  CHECK(client.result("rkllm_is_running")["running"] == false);
}

TEST_CASE("workers do not outlive a server that is killed", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  const pid_t worker = worker_of(client, client.init(server.write_model("hangs", fault(1, "hang"))));
  client.run_async("llm-1", kEndless);
  await_running(client);
  server.process().signal(SIGKILL);
  CHECK(server.process().wait() == 128 + SIGKILL);
  await_end_of(worker);
}

TEST_CASE("the server ends in time although a worker hangs, and takes it along", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  const pid_t worker = worker_of(client, client.init(server.write_model("hangs", fault(1, "hang"))));
  client.run_async("llm-1", kEndless);
  await_running(client);
  const auto begun = std::chrono::steady_clock::now();
  server.process().signal(SIGTERM);
  CHECK(server.process().wait() == 0);
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
  CHECK_FALSE(exists(worker));
}

TEST_CASE("an error of the runtime carries what the library has printed", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  const Json error = client.call("rkllm_init", {{"param", {{"model_path", "/nowhere.rkllm"}}}})["error"];
  CHECK(error["code"] == 4001);
  CHECK(error["data"]["log"].size() == 1);
  CHECK(error["data"]["log"][0].get<std::string>().starts_with("E rkllm: "));
  CHECK(server.process().wait_for_error_text(error["data"]["log"][0].get<std::string>()));
}

TEST_CASE("no socket of the server is open in a worker", "[worker]") {
  LiveServer server(with_workers());
  RpcClient client(server.connect(Transport::kTcp));
  const pid_t worker = worker_of(client, client.init(shipped_model("fast")));
  const auto sockets_of = [](pid_t process) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/fd")) {
      std::error_code gone;
      const std::string name = std::filesystem::read_symlink(entry.path(), gone).string();
      if (name.starts_with("socket:")) names.insert(name);
    }
    return names;
  };
  const auto of_server = sockets_of(server.process().pid());
  for (const std::string& name : sockets_of(worker)) CHECK(of_server.count(name) == 0);
}

}  // namespace rkllm_mcp::test
