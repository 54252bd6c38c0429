// What clients are told unasked: models that come and run, what the library prints, a runtime that is installed while
// the server runs.
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/rpc_client.hpp"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

namespace rkllm_mcp::test {
namespace {

// A client with a handshake, in the newest revision that has one.
void shake_hands(RpcClient& client) {
  client.result("initialize", {{"protocolVersion", "2025-11-25"}, {"capabilities", Json::object()}});
  client.send_text(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
}

Json next_notification(RpcClient& client, const std::string& method) {
  for (;;) {
    Json message = client.receive_or_throw();
    if (message.value("method", "") == method) return message;
  }
}

}  // namespace

TEST_CASE("who watches the handles hears of a model that is loaded, runs and goes") {
  LiveServer server;
  RpcClient watcher(server.connect(Transport::kTcp));
  shake_hands(watcher);
  watcher.result("resources/subscribe", {{"uri", "rkllm://handles"}});
  RpcClient other(server.connect(Transport::kTcp));
  const std::string handle = other.init(server.paced_model(500));
  const Json told = next_notification(watcher, "notifications/resources/updated");
  CHECK(told["params"]["uri"] == "rkllm://handles");

  watcher.result("resources/unsubscribe", {{"uri", "rkllm://handles"}});
  watcher.result("resources/subscribe", {{"uri", "rkllm://handles/" + handle}});
  const int run = other.run_async(handle, "@n=200 Go on.");
  next_notification(watcher, "notifications/resources/updated");  // it runs
  other.stream(run);
  next_notification(watcher, "notifications/resources/updated");  // it has ended
  other.result("rkllm_destroy", {{"handle", handle}});
  for (;;) {
    next_notification(watcher, "notifications/resources/updated");
    const Json gone = watcher.call("resources/read", {{"uri", "rkllm://handles/" + handle}});
    if (gone.contains("error")) break;
  }
}

TEST_CASE("what the library prints reaches clients that ask for it", "[worker]") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  shake_hands(client);
  client.result("logging/setLevel", {{"level", "info"}});
  client.init(server.paced_model(500));
  const Json told = next_notification(client, "notifications/message");
  CHECK(told["params"]["logger"] == "runtime");
  CHECK(told["params"]["data"]["text"].get<std::string>().find("rkllm") != std::string::npos);
}

TEST_CASE("a runtime that is installed while the server runs is served after SIGHUP, and clients are told") {
  const TemporaryDirectory place;
  const std::string library = place.path() + "/librkllmrt.so";
  LiveServer server({.runtime = {"--library", library}});
  RpcClient client(server.connect(Transport::kTcp));
  shake_hands(client);
  CHECK(client.call("rkllm_createDefaultParam")["error"]["code"] == 4005);

  std::filesystem::copy_file(std::filesystem::canonical(kSimulator), library);
  ::kill(server.process().pid(), SIGHUP);
  next_notification(client, "notifications/tools/list_changed");
  CHECK(client.result("rkllm_createDefaultParam")["max_new_tokens"] == 512);
}

// (A library that has been loaded into the server itself stays there.)
TEST_CASE("a runtime that is removed is served no more after SIGHUP, and clients are told", "[worker]") {
  const TemporaryDirectory place;
  const std::string library = place.path() + "/librkllmrt.so";
  std::filesystem::copy_file(std::filesystem::canonical(kSimulator), library);
  LiveServer server({.runtime = {"--library", library}});
  RpcClient client(server.connect(Transport::kTcp));
  shake_hands(client);
  CHECK(client.result("rkllm_createDefaultParam")["max_new_tokens"] == 512);
  std::filesystem::remove(library);
  ::kill(server.process().pid(), SIGHUP);
  next_notification(client, "notifications/tools/list_changed");
  CHECK(client.call("rkllm_createDefaultParam")["error"]["code"] == 4005);
}

TEST_CASE("a runtime that hangs as it starts holds up nobody but its calls, nor the end of the server", "[worker]") {
  LiveServer server({.runtime = {"--library", built_library("test_hanging")}});
  RpcClient client(server.connect(Transport::kTcp));
  CHECK(server.health()["runtime"]["state"] == "starting");
  client.send("rkllm_createDefaultParam");
  CHECK(client.call("ping").contains("result"));
  ::kill(server.process().pid(), SIGHUP);
  CHECK(client.call("ping").contains("result"));
  server.process().signal(SIGTERM);
  CHECK(server.process().wait() == 0);
}

TEST_CASE("a runtime that hangs whenever it is tried out, but has loaded a model, is ready", "[worker]") {
  const TemporaryDirectory place;
  LiveServer server({.set = {"runtime.hang_s=8"},
                     .runtime = {"--library", built_library("test_late")},
                     .env = {{"LATE_LIBRARY_STARTS", place.path()}}});
  REQUIRE(wait_for_file(place / "1"));
  CHECK(server.health()["runtime"]["state"] == "starting");
  RpcClient client(server.connect(Transport::kTcp));
  const Json fast{{"param", {{"model_path", shipped_model("fast")}}}};
  const int one = client.send("rkllm_init", fast);
  const int other = client.send("rkllm_init", fast);
  Json loaded = client.answer(one);  // one of them gets the worker that is being tried out
  Json failed = client.answer(other);
  if (loaded.contains("error")) std::swap(loaded, failed);
  CHECK(failed["error"]["code"] == 4005);
  const std::string handle = loaded["result"]["handle"];
  server.await_runtime("ready");
  CHECK(std::filesystem::exists(place / "3"));  // the other one that was tried out
  CHECK(client.result("rkllm_run", run_params(handle, "@n=3"))["status"] == 0);
  client.result("rkllm_destroy", {{"handle", handle}});
  CHECK(server.health()["runtime"]["state"] == "ready");
  CHECK(client.call("rkllm_init", fast).contains("result"));
}

TEST_CASE("after SIGHUP the runtime goes on serving while the next one starts", "[worker]") {
  const TemporaryDirectory place;
  const std::string library = place.path() + "/librkllmrt.so";
  std::filesystem::copy_file(std::filesystem::canonical(kSimulator), library);
  LiveServer server({.set = {"runtime.hang_s=3"}, .runtime = {"--library", library}});
  server.await_runtime("ready");
  std::filesystem::copy_file(built_library("test_hanging"), place.path() + "/new");
  std::filesystem::rename(place.path() + "/new", library);
  ::kill(server.process().pid(), SIGHUP);
  server.await_runtime("replacing");
  RpcClient client(server.connect(Transport::kTcp));
  CHECK(client.result("rkllm_createDefaultParam")["max_new_tokens"] == 512);
  server.await_runtime("gone");
  CHECK(client.call("rkllm_createDefaultParam")["error"]["code"] == 4005);
}

TEST_CASE("SIGHUP leaves a model alone that is being loaded", "[worker]") {
  const TemporaryDirectory place;
  const std::string library = place.path() + "/librkllmrt.so";
  std::filesystem::copy_file(std::filesystem::canonical(kSimulator), library);
  LiveServer server({.runtime = {"--library", library}});
  server.await_runtime("ready");
  RpcClient client(server.connect(Transport::kTcp));
  const Json hangs{{"faults", {{{"when", "init"}, {"what", "hang"}}}}};
  const int loading = client.send("rkllm_init", {{"param", {{"model_path", server.write_model("hangs", hangs)}}}});
  REQUIRE(client.call("ping").contains("result"));
  std::filesystem::remove(library);
  ::kill(server.process().pid(), SIGHUP);
  CHECK(server.process().wait_for_error_text("stays, since a model is loaded or being loaded"));
  CHECK(server.health()["runtime"]["state"] == "ready");
  client.send_text(
      Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", loading}}}}.dump());
  CHECK(client.answer(loading)["error"]["code"] == 4009);
}

}  // namespace rkllm_mcp::test
