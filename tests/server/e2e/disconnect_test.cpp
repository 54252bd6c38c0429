// Whoever leaves stops his own run within 100 ms, and nobody else's.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/raw_websocket.hpp"
#include "support/rpc_client.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kTokensPerSecond = 100;
constexpr std::chrono::milliseconds kWithin{5000};  // it is done at once, but a machine may be busy; else it never is
const std::string kShort = "@n=60 @seed=2";

std::string request(int id, const std::string& handle, const std::string& prompt) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "rkllm_run_async"}, {"params", run_params(handle, prompt)}}
      .dump();
}

// Somebody else's run on llm-2 goes on undisturbed while `leave` ends the client whose run is on llm-1.
void check_leaving(LiveServer& server, const std::function<void()>& leave) {
  RpcClient other(server.connect(Transport::kTcp));
  StreamCheck stream(other.run_async("llm-2", kShort), "rkllm_run_async");
  other.read_stream(stream, [&stream] { return stream.chunks() > 0; });
  // What waits for llm-1 is answered when the run there has ended.
  RpcClient observer(server.connect(Transport::kTcp));
  const int waiting = observer.send("rkllm_get_kv_cache_size", {{"handle", "llm-1"}});
  REQUIRE(observer.result("rkllm_is_running", {{"handle", "llm-1"}})["running"] == true);

  leave();
  const auto left = Clock::now();
  REQUIRE(observer.answer(waiting).contains("result"));
  CHECK(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - left) <= kWithin);

  const RecordedRun stopped = run_of(server, kEndless);
  CHECK(stopped.aborted);
  CHECK(stopped.tokens < 100'000);
  other.read_stream(stream, [&stream] { return stream.ended(); });
  CHECK(difference(server, stream, kShort, 60) == "");
}

void init_two(LiveServer& server) {
  RpcClient client(server.connect(Transport::kTcp));
  client.init(server.paced_model(kTokensPerSecond));
  client.init(server.paced_model(kTokensPerSecond));
}

}  // namespace

TEST_CASE("a TCP client that closes its connection stops its own run only") {
  LiveServer server;
  init_two(server);
  RawSocket client(server.port(Transport::kTcp));
  client.send(request(1, "llm-1", kEndless) + "\n");
  client.receive_until("\n");
  check_leaving(server, [&] { client.close(); });
}

TEST_CASE("a TCP client whose connection is reset stops its own run only") {
  LiveServer server;
  init_two(server);
  RawSocket client(server.port(Transport::kTcp));
  client.send(request(1, "llm-1", kEndless) + "\n");
  client.receive_until("\n");
  check_leaving(server, [&] { client.reset(); });
}

TEST_CASE("a WebSocket client that closes its connection stops its own run only") {
  LiveServer server;
  init_two(server);
  auto client = std::make_unique<RpcClient>(server.connect(Transport::kWebSocket));
  client->run_async("llm-1", kEndless);
  client->receive_or_throw();
  check_leaving(server, [&] { client.reset(); });
}

TEST_CASE("a WebSocket client that vanishes without a close frame stops its own run only") {
  LiveServer server;
  init_two(server);
  RawSocket client(server.port(Transport::kWebSocket));
  open_websocket(client, server.endpoint(Transport::kWebSocket));
  client.send(text_frame(request(1, "llm-1", kEndless)));
  client.receive(2);
  check_leaving(server, [&] { client.reset(); });
}

TEST_CASE("an HTTP client that leaves its events stops its own run only") {
  LiveServer server;
  init_two(server);
  std::promise<void> started;
  std::promise<void> leave;
  auto client = std::async(std::launch::async, [&] {
    int events = 0;
    HttpClient(server.endpoint(Transport::kHttp))
        .post_for_events("/mcp", request(1, "llm-1", kEndless), [&](std::string_view) {
          if (++events > 1) return false;
          started.set_value();
          leave.get_future().wait();
          return true;  // the next event finds nobody
        });
  });
  REQUIRE(started.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  check_leaving(server, [&] {
    leave.set_value();
    client.get();
  });
}

TEST_CASE("an HTTP client that breaks off waiting for rkllm_run stops its own run only") {
  LiveServer server;
  init_two(server);
  RawSocket client(server.port(Transport::kHttp));
  const std::string body =
      Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "rkllm_run"}, {"params", run_params("llm-1", kEndless)}}.dump();
  client.send("POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  RpcClient observer(server.connect(Transport::kTcp));
  while (observer.result("rkllm_is_running", {{"handle", "llm-1"}})["running"] == false) {
  }
  check_leaving(server, [&] { client.close(); });
}

TEST_CASE("a client on standard input and output that goes away stops its own run only") {
  LiveServer server(LiveServer::with_stdio());
  init_two(server);
  RpcClient client(server.connect(Transport::kStdio));
  client.run_async("llm-1", kEndless);
  client.receive_or_throw();
  check_leaving(server, [&] {
    server.process().close_input();
    server.process().close_output();
  });
}

namespace {

// `leave` ends a client whose run waits behind another's on the same handle.
void check_leaving_the_queue(LiveServer& server, RpcClient& running, const std::function<void()>& leave) {
  StreamCheck stream(running.run_async("llm-1", kShort), "rkllm_run_async");
  running.read_stream(stream, [&stream] { return stream.chunks() > 0; });
  leave();
  running.read_stream(stream, [&stream] { return stream.ended(); });
  CHECK(difference(server, stream, kShort, 60) == "");
  CHECK(running.result("rkllm_get_kv_cache_size").contains("cache_sizes"));  // the handle is free again
}

}  // namespace

TEST_CASE("a WebSocket client that leaves the queue leaves the run before it alone, and its own never begins") {
  LiveServer server;
  RpcClient running(server.connect(Transport::kWebSocket));
  running.init(server.paced_model(kTokensPerSecond));
  check_leaving_the_queue(server, running, [&] {
    RpcClient queued(server.connect(Transport::kWebSocket));
    queued.run_async("llm-1", kEndless);
    REQUIRE(queued.call("ping").contains("result"));  // the run before it has been taken in
  });
  CHECK(server.recorded_runs().size() == 1);
}

TEST_CASE("a TCP client that is reset in the queue leaves the run before it alone, and its own never begins") {
  LiveServer server;
  RpcClient running(server.connect(Transport::kTcp));
  running.init(server.paced_model(kTokensPerSecond));
  check_leaving_the_queue(server, running, [&] {
    RawSocket queued(server.port(Transport::kTcp));
    queued.send(request(1, "llm-1", kEndless) + "\n" + R"({"jsonrpc":"2.0","id":2,"method":"ping"})" + "\n");
    queued.receive_until("\n");
    queued.reset();
  });
  CHECK(server.recorded_runs().size() == 1);
}

namespace {

// What a client may ask for whose answer comes only at the end, so that nothing that is sent meanwhile finds him gone.
std::vector<std::string> silent_requests(const std::string& handle) {
  Json unstreamed = run_params(handle, kEndless);
  unstreamed["stream"] = false;
  const auto text = [](const char* method, Json params) {
    return Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}}.dump() + "\n";
  };
  return {text("rkllm_run", run_params(handle, kEndless)), text("rkllm_run_async", unstreamed),
          text("tools/call", {{"name", "rkllm_run"},
                              {"arguments", run_params(handle, kEndless)},
                              {"_meta",
                               {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                                {"io.modelcontextprotocol/clientInfo", {{"name", "t"}, {"version", "1"}}},
                                {"io.modelcontextprotocol/clientCapabilities", Json::object()}}}})};
}

std::unique_ptr<RawSocket> open_line(LiveServer& server, Transport transport) {
  if (transport == Transport::kUnix) return std::make_unique<RawSocket>(server.endpoint(transport).path);
  return std::make_unique<RawSocket>(server.port(transport));
}

// `leave` ends a client of `client`, who waits for the answer to `request`.
void check_leaving_in_silence(LiveServer& server, RawSocket& client, const std::string& request,
                              const std::function<void()>& leave) {
  RpcClient observer(server.connect(Transport::kTcp));
  const std::size_t runs = server.recorded_runs().size();
  client.send(request);
  while (observer.result("rkllm_is_running", {{"handle", "llm-1"}})["running"] == false) {
  }
  const int waiting = observer.send("rkllm_get_kv_cache_size", {{"handle", "llm-1"}});
  leave();
  REQUIRE(observer.answer(waiting).contains("result"));  // the endless run has ended
  REQUIRE(server.recorded_runs().size() == runs + 1);
  CHECK(server.recorded_runs().back().aborted);
}

}  // namespace

TEST_CASE("a client of lines that closes while it waits for an answer stops its run, whatever it had asked for") {
  LiveServer server;
  init_two(server);
  for (const Transport transport : {Transport::kTcp, Transport::kUnix}) {
    for (const std::string& request : silent_requests("llm-1")) {
      INFO(name_of(transport) << ": " << request);
      const auto client = open_line(server, transport);
      check_leaving_in_silence(server, *client, request, [&] { client->close(); });
    }
  }
}

TEST_CASE("a client of lines that closes after it had stopped sending stops its run") {
  LiveServer server;
  init_two(server);
  for (const Transport transport : {Transport::kTcp, Transport::kUnix}) {
    const auto client = open_line(server, transport);
    check_leaving_in_silence(server, *client, silent_requests("llm-1").front(), [&] {
      client->finish_sending();
      // Nothing is left unread: TCP would tell of that.
      if (transport == Transport::kTcp) CHECK(client->receive(1) == " ");
      client->close();
    });
  }
}

TEST_CASE("a client of lines that closes in the queue leaves the run before it alone, and its own never begins") {
  LiveServer server;
  RpcClient running(server.connect(Transport::kTcp));
  running.init(server.paced_model(kTokensPerSecond));
  const int first = running.run_async("llm-1", kEndless);
  StreamCheck stream = running.watch(first);
  running.read_stream(stream, [&stream] { return stream.chunks() > 0; });
  for (const Transport transport : {Transport::kTcp, Transport::kUnix}) {
    const auto queued = open_line(server, transport);
    queued->send(silent_requests("llm-1").front() + R"({"jsonrpc":"2.0","id":2,"method":"ping"})" + "\n");
    queued->receive_until("\n");
    REQUIRE(server.health()["runtime"]["handles"][0]["queue"].size() == 1);
    queued->close();
    const auto deadline = Clock::now() + RpcClient::kPatience;
    while (!server.health()["runtime"]["handles"][0]["queue"].empty()) REQUIRE(Clock::now() < deadline);
  }
  running.send_text(
      Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", first}}}}.dump());
  running.read_stream(stream, [&stream] { return stream.ended(); });
  CHECK(server.recorded_runs().size() == 1);
}

TEST_CASE("a client that has said all it will say still gets its answers") {
  LiveServer server;
  RpcClient(server.connect(Transport::kTcp)).init(server.paced_model(kTokensPerSecond));
  RawSocket client(server.port(Transport::kTcp));
  client.send(request(1, "llm-1", kShort) + "\n");
  client.finish_sending();
  client.receive_until("\"end\":true");
  CHECK(client.ends());
  CHECK_FALSE(run_of(server, kShort).aborted);
}

TEST_CASE("a poll that waits is answered to a client that has said all it will say") {
  LiveServer server;
  RpcClient(server.connect(Transport::kTcp))
      .init(server.write_model("slow", {{"npu_cores", 1}, {"decode_tokens_per_s", 4}}));
  HttpClient starter(server.endpoint(Transport::kHttp));
  const Json announced = starter.post("/jsonrpc", request(1, "llm-1", kEndless)).json();
  RawSocket client(server.port(Transport::kTcp));
  const Json params{{"stream_id", announced["result"]["stream_id"]}, {"wait_ms", 20'000}};
  const auto poll = [&](int id) {
    client.send(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "poll"}, {"params", params}}.dump() + "\n");
  };
  poll(1);
  client.receive_until("\n");
  poll(2);  // waits a quarter of a second for the next token
  client.finish_sending();
  CHECK(client.receive_until("\n").find(R"("id":2)") != std::string::npos);
  CHECK(client.ends());
}

}  // namespace rkllm_mcp::test
