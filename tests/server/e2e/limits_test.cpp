// Every limit tells whoever comes up against it, and is counted.
#include "arrived_whole.hpp"
#include "support/catch.hpp"
#include "support/http_client.hpp"
#include "support/lines.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/rpc_client.hpp"

#include <sys/stat.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

// How often a limit was reached, as GET /metrics has it.
std::string reached(const LiveServer& server, const std::string& setting) {
  const std::string text = HttpClient(server.endpoint(Transport::kHttp)).get("/metrics").body;
  const std::string begin = "rkllm_mcp_limit_reached_total{limit=\"" + setting + "\"} ";
  const auto at = text.find(begin);
  if (at == std::string::npos) return "not counted";
  return text.substr(at + begin.size(), text.find('\n', at) - at - begin.size());
}

std::string await_reached(const LiveServer& server, const std::string& setting, const std::string& count) {
  const auto deadline = std::chrono::steady_clock::now() + Process::kPatience;
  std::string now = reached(server, setting);
  while (now != count && std::chrono::steady_clock::now() < deadline) now = reached(server, setting);
  return now;
}

Json error_in(const std::string& text) {
  INFO(text);
  return Json::parse(text).at("error");
}

const std::string kPingLine = R"({"jsonrpc":"2.0","id":1,"method":"ping"})";

}  // namespace

TEST_CASE("a TCP client beyond limits.max_connections is told so, and the others go on") {
  LiveServer server({.set = {"limits.max_connections=2"}});
  RawSocket one(server.port(Transport::kTcp));
  RawSocket two(server.port(Transport::kTcp));
  for (RawSocket* each : {&one, &two}) {
    each->send(kPingLine + "\n");
    each->receive_until("\n");
  }
  RawSocket three(server.port(Transport::kTcp));
  const Json error = error_in(three.receive_rest());
  CHECK(error["code"] == 4004);
  CHECK(error["data"] == Json{{"queued", 2}, {"limit", 2}, {"setting", "limits.max_connections"}});
  one.send(kPingLine + "\n");
  CHECK(one.receive_until("\n").find("result") != std::string::npos);
  CHECK(reached(server, "limits.max_connections") == "1");
  one.close();
  // The place is free as soon as the server has noticed.
  std::string answer;
  while (answer.find("result") == std::string::npos) {
    try {
      RawSocket again(server.port(Transport::kTcp));
      again.send(kPingLine + "\n");
      answer = again.receive_until("\n");
    } catch (const std::exception&) {  // still one too many: reset before the ping was read
    }
  }
}

TEST_CASE("one client machine gets limits.max_connections_per_peer on each transport") {
  LiveServer server({.set = {"limits.max_connections_per_peer=1"}});
  RawSocket tcp(server.port(Transport::kTcp));
  tcp.send(kPingLine + "\n");
  tcp.receive_until("\n");
  const Json error = error_in(RawSocket(server.port(Transport::kTcp)).receive_rest());
  CHECK(error["data"]["setting"] == "limits.max_connections_per_peer");

  RawSocket http(server.port(Transport::kHttp));
  http.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  http.receive_until("\r\n\r\n");
  CHECK(RawSocket(server.port(Transport::kHttp)).receive_until("\r\n") == "HTTP/1.1 429 Too Many Requests\r\n");

  RpcClient ws(server.connect(Transport::kWebSocket));
  ws.result("ping");
  CHECK(RawSocket(server.port(Transport::kWebSocket)).receive_until("\r\n") == "HTTP/1.1 429 Too Many Requests\r\n");

  RpcClient local(server.connect(Transport::kUnix));
  local.result("ping");
  RpcClient second(server.connect(Transport::kUnix));
  CHECK(second.receive_or_throw()["error"]["data"]["setting"] == "limits.max_connections_per_peer");

  http.close();
  std::string count = "not counted";  // until its place is free again, this is refused as well
  while (count == "not counted") count = reached(server, "limits.max_connections_per_peer");
  CHECK(std::stoi(count) >= 4);
}

TEST_CASE("UDP remembers limits.max_connections_per_peer clients of one machine, the latest") {
  LiveServer server({.set = {"limits.max_connections_per_peer=2"}});
  std::vector<std::unique_ptr<RpcClient>> clients;
  for (int each = 0; each < 5; ++each) {
    clients.push_back(std::make_unique<RpcClient>(server.connect(Transport::kUdp)));
    clients.back()->result("ping");
  }
  CHECK(server.health()["transports"]["udp"]["connections"] == 2);
  CHECK(reached(server, "limits.max_connections_per_peer") == "3");
  clients.front()->result("ping");  // who comes again is welcome again
}

TEST_CASE("a client that does not present its token in time loses its place, and one that says too much, too") {
  const TemporaryDirectory place;
  const std::string tokens = place / "tokens";
  std::ofstream(tokens) << "somebody a-token-of-some-length\n";
  REQUIRE(::chmod(tokens.c_str(), 0600) == 0);
  LiveServer server({.set = {"auth.tokens=" + tokens, "auth.timeout_s=1"}});
  for (const Transport transport : {Transport::kTcp, Transport::kWebSocket, Transport::kUnix}) {
    INFO(name_of(transport));
    RpcClient client(server.connect(transport));
    CHECK(client.receive_or_throw()["error"]["code"] == 4007);
    CHECK_THROWS(client.receive_or_throw());
  }
  RawSocket talkative(server.port(Transport::kTcp));
  talkative.send(std::string(20'000, '{'));
  CHECK(error_in(talkative.receive_rest())["code"] == 4007);
  RawSocket http(server.port(Transport::kHttp));
  http.send("POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000\r\n\r\n");  // and no body
  CHECK(http.receive_until("\r\n") == "HTTP/1.1 401 Unauthorized\r\n");
  CHECK(http.receive_until("\r\n\r\n").find("WWW-Authenticate: Bearer") != std::string::npos);

  // Who has presented one may stay, and say as much as anybody.
  RawSocket known(server.port(Transport::kTcp));
  known.send(R"({"jsonrpc":"2.0","id":1,"method":"auth","params":{"token":"a-token-of-some-length"}})"
             "\n");
  known.receive_until("\n");
  RpcClient late(server.connect(Transport::kTcp));
  late.receive_or_throw();  // its time is over, and so would be the other's
  known.send(R"({"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{"x":")" + std::string(20'000, 'x') +
             "\"}}}\n");
  CHECK(known.receive_until("\n") == R"({"jsonrpc":"2.0","id":2,"result":{}})"
                                     "\n");
}

TEST_CASE("a client that asks without reading is asked to read first, whatever its requests are answered with") {
  const Transport transport = GENERATE(Transport::kTcp, Transport::kHttp, Transport::kWebSocket);
  INFO(name_of(transport));
  constexpr int kRequests = 2'000;
  LiveServer server({.set = {"limits.send_queue_bytes=65536"}});
  std::string requests;
  if (transport == Transport::kWebSocket) {
    requests =
        "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
  }
  const std::string list = R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"rkllm://api"}})";
  for (int each = 0; each < kRequests; ++each) {
    switch (transport) {
      case Transport::kHttp:
        requests += "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: " + std::to_string(list.size()) +
                    "\r\n\r\n" + list;
        break;
      case Transport::kWebSocket:
        requests += "\x81" + std::string(1, static_cast<char>(0x80 | list.size())) + std::string(4, '\0') + list;
        break;
      default: requests += list + "\n";
    }
  }
  const std::size_t before = server.peak_resident_bytes();
  RawSocket client(server.port(transport));
  client.send(requests.substr(0, 60'000));  // more than is answered while nobody reads, less than a socket holds
  for (int each = 0; each < 20; ++each) {
    CHECK(server.health()["status"] == "healthy");  // nobody waits for the answers of another
  }
  // Without pacing they would be about 700 answers of 100 kB each.
  CHECK(server.peak_resident_bytes() - before < 24u << 20u);
  std::size_t answers = 0;
  const std::size_t complete = 60'000 / (requests.size() / kRequests) - 3;
  while (answers < complete) {
    client.receive_until(R"("jsonrpc":"2.0")");
    ++answers;
  }
  CHECK(answers == complete);
}

TEST_CASE("while stream.memory_bytes is used up, streams that nobody polls end with error 4006, and others go on") {
  LiveServer server({.set = {"stream.memory_bytes=65536", "stream.buffer_bytes=1048576"}});
  RpcClient hoarder(server.connect(Transport::kHttp));
  RpcClient reader(server.connect(Transport::kTcp));
  const std::string one = hoarder.init(shipped_model("fast"));
  const std::string two = reader.init(shipped_model("fast"));
  const std::string stream = hoarder.result("rkllm_run_async", run_params(one, kEndless))["stream_id"];
  CHECK(await_reached(server, "stream.memory_bytes", "1") == "1");
  const std::string prompt = "@n=3000 @seed=7";
  CHECK(difference(server, reader.stream(reader.run_async(two, prompt)), prompt, 3000).empty());
  CHECK(reader.result("rkllm_run", run_params(two, "@n=2000"))["status"] == 0);  // each is guaranteed a little
  const Json long_answer = reader.call("rkllm_run", run_params(two, "@n=100000"))["error"];
  CHECK(long_answer["code"] == 4006);
  CHECK(long_answer["message"] == "the memory of all streams (stream.memory_bytes) is used up");
  CHECK(reached(server, "stream.memory_bytes") == "2");
  CHECK(hoarder.result("poll", {{"stream_id", stream}})["chunk"]["delta"].get<std::string>().size() > 10'000);
  const Json error = hoarder.call("poll", {{"stream_id", stream}})["error"];
  CHECK(error["code"] == 4006);
  CHECK(error["data"]["limit"] == 65536);
}

TEST_CASE("limits of messages, requests, the queue and handles are counted where they are reached") {
  LiveServer server(
      {.set = {"limits.max_message_bytes=2000", "limits.max_requests_per_connection=2", "queue.max_per_handle=1",
               "limits.max_handles=1", "http.header_bytes=1024", "limits.idle_s=1"}});
  RpcClient client(server.connect(Transport::kTcp));
  client.init(server.paced_model(50));
  CHECK(client.call("rkllm_init", {{"param", {{"model_path", "x"}}}})["error"]["code"] == 4004);
  CHECK(reached(server, "limits.max_handles") == "1");
  StreamCheck running(client.run_async("llm-1", kEndless), "rkllm_run_async");
  client.read_stream(running, [&] { return running.chunks() > 0; });
  client.run_async("llm-1", "waits");
  client.run_async("llm-1", "one too many");
  CHECK(await_reached(server, "limits.max_requests_per_connection", "1") == "1");
  RpcClient other(server.connect(Transport::kWebSocket));
  CHECK(other.call("rkllm_clear_kv_cache", {{"keep_system_prompt", 0}})["error"]["code"] == 4004);
  CHECK(reached(server, "queue.max_per_handle") == "1");

  other.send_text(R"({"jsonrpc":"2.0","id":")" + std::string(300, 'x') + R"(","method":"ping"})");
  CHECK(other.receive_or_throw()["error"]["code"] == -32600);
  CHECK(reached(server, "limits.max_id_bytes") == "1");
  other.send_text(std::string(100, '['));
  CHECK(other.receive_or_throw()["error"]["code"] == -32600);
  CHECK(reached(server, "limits.max_depth") == "1");

  RawSocket long_line(server.port(Transport::kTcp));
  long_line.send(std::string(3000, '{') + "\n");
  CHECK(error_in(long_line.receive_until("\n"))["code"] == 4006);
  RawSocket long_body(server.port(Transport::kHttp));
  long_body.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3000\r\n\r\n");
  CHECK(long_body.receive_until("\r\n").find(" 413 ") != std::string::npos);
  CHECK(reached(server, "limits.max_message_bytes") == "2");
  RawSocket long_head(server.port(Transport::kHttp));
  long_head.send("GET / HTTP/1.1\r\nX: " + std::string(2000, 'x'));
  CHECK(long_head.receive_until("\r\n").find(" 431 ") != std::string::npos);
  CHECK(reached(server, "http.header_bytes") == "1");
  RawSocket quiet(server.port(Transport::kTcp));
  CHECK(quiet.ends());
  CHECK(reached(server, "limits.idle_s") != "0");
}

TEST_CASE("requests that are no calls have their line in the log, and calls have one only") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kTcp));
  client.result("tools/list");
  client.call("no_such_method");
  client.send_text("{");
  client.receive_or_throw();
  client.call("rkllm_is_running");  // refused by the backend: a call
  client.call("tools/call", {{"name", "rkllm_is_running"}});
  client.call("poll");
  REQUIRE(server.process().wait_for_error_text("method=poll"));
  const std::string log = server.process().error_text();
  INFO(log);
  const auto count = [&log](const std::string& what) {
    std::size_t times = 0;
    for (auto at = log.find(what); at != std::string::npos; at = log.find(what, at + 1)) ++times;
    return times;
  };
  CHECK(count("request id=1 transport=tcp peer=127.0.0.1:") == 1);
  CHECK(count(" method=tools/list total_ms=") == 1);
  CHECK(count("request id=null transport=tcp") == 1);
  CHECK(count("method=null total_ms=0.0 outcome=-32700") == 1);
  CHECK(count("method=no_such_method") == 1);
  CHECK(count(" outcome=-32601") == 1);
  CHECK(count("method=rkllm_is_running") == 2);
  CHECK(count("request id=") == 4);
  CHECK(count("call id=") == 2);
}

}  // namespace rkllm_mcp::test
