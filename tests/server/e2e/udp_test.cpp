// What is special about datagrams: they come again, they are short, and nobody knows who sent them.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/live_server.hpp"
#include "support/paths.hpp"
#include "support/rpc_client.hpp"

#include <chrono>
#include <set>
#include <string>

#include <sys/stat.h>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

std::string request_text(int id, const std::string& method, const Json& params) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump();
}

std::string receive_text(Connection& connection) {
  auto text = connection.receive(Clock::now() + RpcClient::kPatience);
  if (!text) throw std::runtime_error("no datagram came in time");
  return *std::move(text);
}

// All of a list, however many pages it takes.
Json whole_list(RpcClient& client, const std::string& method, const std::string& name) {
  Json list = Json::array();
  Json params = Json::object();
  for (;;) {
    const Json page = client.result(method, params);
    list.insert(list.end(), page[name].begin(), page[name].end());
    if (!page.contains("nextCursor")) return list;
    params["cursor"] = page["nextCursor"];
  }
}

}  // namespace

TEST_CASE("UDP: a request that arrives again is not executed again, and gets the same answer") {
  LiveServer server;
  const auto connection = server.connect(Transport::kUdp);
  const std::string init = request_text(1, "rkllm_init", {{"param", {{"model_path", shipped_model("fast")}}}});
  connection->send(init);
  const std::string answer = receive_text(*connection);
  CHECK(Json::parse(answer)["result"]["handle"] == "llm-1");
  for (int i = 0; i < 3; ++i) {
    connection->send(init);
    CHECK(receive_text(*connection) == answer);
  }
  // The id with another request, and the request from another client, are new.
  connection->send(request_text(1, "ping", Json::object()));
  CHECK(Json::parse(receive_text(*connection))["result"] == Json::object());
  const auto other = server.connect(Transport::kUdp);
  other->send(init);
  CHECK(Json::parse(receive_text(*other))["result"]["handle"] == "llm-2");
}

TEST_CASE("UDP: a stream whose request arrives again is sent again, and runs once") {
  LiveServer server;
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  const auto connection = server.connect(Transport::kUdp);
  Json params = run_params("llm-1", "@n=5");
  params["include"] = {"token_id"};
  for (const bool announced : {false, true}) {
    if (announced) params["stream"] = true;
    const std::string run = request_text(announced ? 2 : 1, "rkllm_run_async", params);
    const int messages = announced ? 7 : 6;  // five tokens, the end, perhaps the stream's id
    std::vector<std::string> first;
    connection->send(run);
    for (int i = 0; i < messages; ++i) first.push_back(receive_text(*connection));
    connection->send(run);
    for (const auto& message : first) CHECK(receive_text(*connection) == message);
  }
  CHECK(server.recorded_runs().size() == 2);
}

TEST_CASE("UDP: no datagram of a stream is longer than 1,200 bytes, however long the request's id is") {
  LiveServer server;
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  const auto connection = server.connect(Transport::kUdp);
  const std::string prompt = "@n=5000";
  const Json id(std::string(250, 'i'));
  connection->send(
      Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "rkllm_run_async"}, {"params", run_params("llm-1", prompt)}}
          .dump());
  StreamCheck stream(id, "rkllm_run_async", StreamCheck::Delivery::kLossy);
  std::size_t longest = 0;
  while (!stream.ended()) {
    const std::string text = receive_text(*connection);
    longest = std::max(longest, text.size());
    stream.take(Json::parse(text));
  }
  CHECK(longest <= 1200);
  CHECK(difference(server, stream, prompt, 5000) == "");
}

TEST_CASE("UDP: lists come in pages that fit a datagram, and what cannot fit names other transports") {
  LiveServer server;
  RpcClient tcp(server.connect(Transport::kTcp));
  RpcClient udp(server.connect(Transport::kUdp));
  CHECK(whole_list(udp, "tools/list", "tools") == whole_list(tcp, "tools/list", "tools"));
  const Json resources = whole_list(tcp, "resources/list", "resources");
  CHECK(whole_list(udp, "resources/list", "resources") == resources);

  udp.init(shipped_model("fast"));
  const Json error = udp.call("rkllm_run", run_params("llm-1", "@n=20000"))["error"];
  CHECK(error["code"] == 4006);
  CHECK(error["message"].get<std::string>().find("ask over tcp, http or ws") != std::string::npos);
  CHECK(error["data"]["limit"] == 65'507);
  CHECK(error["data"]["bytes"].get<std::size_t>() > 65'507);
}

TEST_CASE("UDP: who is silent for udp.idle_s is forgotten") {
  LiveServer::Options options;
  options.set = {"udp.idle_s=1"};
  LiveServer server(options);
  RpcClient client(server.connect(Transport::kUdp));
  REQUIRE(client.call("ping").contains("result"));
  const auto connections = [&] { return server.health()["transports"]["udp"]["connections"].get<int>(); };
  CHECK(connections() == 1);
  const auto deadline = Clock::now() + Process::kPatience;
  while (connections() > 0 && Clock::now() < deadline) {
  }
  CHECK(connections() == 0);
  CHECK(client.call("ping").contains("result"));
}

TEST_CASE("UDP: where tokens are asked for, a datagram without one gets one short error at most") {
  TemporaryDirectory directory;
  const std::string file = directory / "tokens";
  const std::string token = "a-token-for-everything";
  write_file(file, "everything " + token + "\n");
  REQUIRE(chmod(file.c_str(), 0600) == 0);
  LiveServer::Options options;
  options.set = {"auth.tokens=" + file};
  LiveServer server(options);

  const auto stranger = server.connect(Transport::kUdp);
  std::size_t sent = 0;
  const auto send = [&](const std::string& text) {
    stranger->send(text);
    sent += text.size();
  };
  constexpr int kRequests = 20;
  for (int id = 1; id <= kRequests; ++id) {
    send(request_text(id, id % 2 == 0 ? "ping" : "tools/list", Json::object()));
    send("?");
  }
  // With a token it is served without such bounds. Datagrams are answered in their order: this one comes last.
  stranger->send(request_text(99, "tools/list", {{"_meta", {{"token", token}}}}));
  std::size_t received = 0;
  std::size_t answers = 0;
  std::set<Json> ids;
  for (Json message;; ++answers) {
    const std::string text = receive_text(*stranger);
    message = Json::parse(text);
    if (message["id"] == 99) {
      CHECK(message["result"]["tools"].size() > 1);
      CHECK(text.size() > 3 * sent);
      break;
    }
    CHECK(message["error"]["code"] == 4007);
    CHECK(text.size() <= 256);
    if (!message["id"].is_null()) CHECK(ids.insert(message["id"]).second);
    received += text.size();
  }
  CHECK(answers > 0);
  CHECK(answers <= 2 * kRequests);
  CHECK(received <= 3 * sent + 256);
}

TEST_CASE("newcomers push out nobody who waits for an answer") {
  LiveServer server({.set = {"limits.max_connections_per_peer=4"}});
  RpcClient owner(server.connect(Transport::kHttp));
  owner.init(server.paced_model(50));
  RpcClient waiting(server.connect(Transport::kUdp));
  const int run = waiting.send("rkllm_run", run_params("llm-1", "@n=30"));
  while (owner.result("rkllm_is_running")["running"] == false) {
  }
  for (int newcomer = 0; newcomer < 100; ++newcomer) {
    CHECK(RpcClient(server.connect(Transport::kUdp)).call("ping").contains("result"));
  }
  CHECK(waiting.answer(run)["result"]["status"] == 0);
  REQUIRE(server.recorded_runs().size() == 1);
  CHECK_FALSE(server.recorded_runs()[0].aborted);
}

}  // namespace rkllm_mcp::test
