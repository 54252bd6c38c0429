// Bytes that are no message, messages that are no request, and messages in pieces: each transport answers what the
// protocol says, and goes on. (What is wrong inside a well-formed message is in the transcripts.)
#include "support/catch.hpp"
#include "support/client_frames.hpp"
#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/raw_socket.hpp"
#include "support/raw_websocket.hpp"
#include "support/rpc_client.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr std::size_t kNineMegabytes = std::size_t{9} << 20U;
constexpr std::size_t kLimit = std::size_t{8} << 20U;

std::string ping(int id) { return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"ping"})"; }
std::string pong(int id) { return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{}})"; }

std::string long_message(std::size_t bytes) {
  std::string message = R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":")";
  message.append(bytes - message.size() - 3, 'x');
  return message + "\"}}";
}

int code_of(const Json& message) {
  INFO(message);
  REQUIRE(message.contains("error"));
  return message["error"]["code"].get<int>();
}

std::string http_request(const std::string& body) {
  return "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

void send_in_three(RawSocket& socket, std::string_view bytes) {
  const auto third = bytes.size() / 3;
  socket.send(bytes.substr(0, third));
  socket.send(bytes.substr(third, third));
  socket.send(bytes.substr(2 * third));
}

// What is not JSON at all.
const std::vector<std::string> kNotJson{
    R"({"jsonrpc":"2.0","id":1,"method":"ping")",    // the first half of a message
    R"({"jsonrpc":"2.0","id":1,"method":"ping"}})",  // more than a message
    ping(1) + ping(2),                               // two messages without what separates them
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi" + std::string(1, '\0') + "ng\"}",
    R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}})",
    R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e999}})",
    R"({"jsonrpc":"2.0","id":01,"method":"ping"})",
    R"({"jsonrpc":"2.0","id":1,"method":"\ud800"})",  // half of a surrogate pair
    "hello",
};

const std::vector<std::string> kNotUtf8{
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xff\"}",
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\xc0\xaf\"}",    // overlong
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xed\xa0\x80\"}",  // a surrogate
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xf0\x9f\x98\"}",  // an unfinished character
};

}  // namespace

TEST_CASE("what is not JSON gets a parse error with id null, and the connection goes on") {
  LiveServer server(LiveServer::with_stdio());
  for (const Transport transport : kAllTransports) {
    RpcClient client(server.connect(transport));
    for (const auto& text : kNotJson) {
      INFO(name_of(transport) << ": " << text);
      client.send_text(text);
      const Json message = client.receive_or_throw();
      CHECK(code_of(message) == -32700);
      CHECK(message["id"].is_null());
      CHECK(client.call("ping")["result"] == Json::object());
    }
  }
}

TEST_CASE("invalid UTF-8 gets a parse error, and the connection goes on") {
  LiveServer server(LiveServer::with_stdio());
  for (const Transport transport : {Transport::kStdio, Transport::kTcp, Transport::kUdp, Transport::kHttp}) {
    RpcClient client(server.connect(transport));
    for (const auto& text : kNotUtf8) {
      INFO(name_of(transport) << ": " << text);
      client.send_text(text);
      const Json message = client.receive_or_throw();
      CHECK(code_of(message) == -32700);
      CHECK(message["id"].is_null());
      CHECK(client.call("ping")["result"] == Json::object());
    }
  }
}

TEST_CASE("invalid UTF-8 closes a WebSocket with 1007, as RFC 6455 demands") {
  LiveServer server;
  for (const auto& text : kNotUtf8) {
    RawSocket client(server.port(Transport::kWebSocket));
    open_websocket(client, server.endpoint(Transport::kWebSocket));
    client.send(text_frame(text));
    CHECK(receive_frame(client).substr(0, 2) == "\x03\xef");
    client.send(client_frame(kFinal | kClose, "\x03\xef"));
    CHECK(client.ends());
  }
}

TEST_CASE("nesting is limited, however deep a message goes") {
  LiveServer server(LiveServer::with_stdio());
  for (const Transport transport : kAllTransports) {
    RpcClient client(server.connect(transport));
    for (const std::size_t depth : {std::size_t{63}, std::size_t{30'000}}) {
      INFO(name_of(transport) << ", " << depth << " levels");
      client.send_text(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":)" + std::string(depth, '[') +
                       std::string(depth, ']') + "}}");
      const Json message = client.receive_or_throw();
      CHECK(code_of(message) == -32600);
      CHECK(message["error"]["message"] == "invalid request: nested deeper than 64 levels");
      CHECK(client.call("ping")["result"] == Json::object());
    }
    client.send_text(R"({"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":)" + std::string(62, '[') +
                     std::string(62, ']') + "}}");
    CHECK(client.receive_or_throw().contains("result"));
  }
}

TEST_CASE("a message of 9 MB gets error 4006, and the connection goes on") {
  LiveServer server(LiveServer::with_stdio());
  const std::string message = long_message(kNineMegabytes);
  for (const Transport transport : {Transport::kStdio, Transport::kTcp, Transport::kWebSocket}) {
    INFO(name_of(transport));
    RpcClient client(server.connect(transport));
    client.send_text(message);
    const Json answer = client.receive_or_throw();
    CHECK(code_of(answer) == 4006);
    CHECK(answer["id"].is_null());
    CHECK(answer["error"]["data"]["limit"] == kLimit);
    CHECK(answer["error"]["data"]["bytes"].get<std::size_t>() > kLimit);
    CHECK(client.call("ping")["result"] == Json::object());
    client.send_text(long_message(kLimit));
    CHECK(client.receive_or_throw().contains("result"));
  }
}

TEST_CASE("a body of 9 MB gets status 413 and error 4006") {
  LiveServer server;
  const auto answer = HttpClient(server.endpoint(Transport::kHttp)).post("/jsonrpc", long_message(kNineMegabytes));
  CHECK(answer.status == 413);
  CHECK(code_of(answer.json()) == 4006);
  CHECK(answer.json()["error"]["data"]["limit"] == kLimit);
  CHECK(HttpClient(server.endpoint(Transport::kHttp)).post("/jsonrpc", ping(1)).body == pong(1));
}

TEST_CASE("a datagram longer than the limit gets error 4006") {
  LiveServer::Options options;
  options.set = {"limits.max_message_bytes=2048"};
  LiveServer server(options);
  RpcClient client(server.connect(Transport::kUdp));
  client.send_text(long_message(2049));
  const Json answer = client.receive_or_throw();
  CHECK(code_of(answer) == 4006);
  CHECK(answer["error"]["data"] == Json{{"bytes", 2049}, {"limit", 2048}});
  CHECK(client.call("ping")["result"] == Json::object());
}

TEST_CASE("TCP messages may come in pieces, or several at once") {
  LiveServer server;
  RawSocket client(server.port(Transport::kTcp));
  SECTION("half a message, then the rest") {
    const std::string message = ping(1) + "\n";
    client.send(message.substr(0, 20));
    // Another client's exchange shows that the server has had its turn.
    CHECK(RpcClient(server.connect(Transport::kTcp)).call("ping").contains("result"));
    client.send(message.substr(20));
    CHECK(client.receive_until("\n") == pong(1) + "\n");
  }
  SECTION("two messages in one packet, with either end of line") {
    client.send(ping(1) + "\n" + ping(2) + "\r\n");
    CHECK(client.receive_until("\n") == pong(1) + "\n");
    CHECK(client.receive_until("\n") == pong(2) + "\n");
  }
  SECTION("one message in three packets") {
    send_in_three(client, ping(1) + "\n");
    CHECK(client.receive_until("\n") == pong(1) + "\n");
  }
  SECTION("empty lines say nothing") {
    client.send("\n\r\n" + ping(1) + "\n\n");
    CHECK(client.receive_until("\n") == pong(1) + "\n");
  }
}

TEST_CASE("messages on standard input may come in pieces, or several at once") {
  LiveServer server(LiveServer::with_stdio());
  Process& process = server.process();
  process.write(ping(1).substr(0, 20));
  CHECK(RpcClient(server.connect(Transport::kTcp)).call("ping").contains("result"));
  process.write(ping(1).substr(20) + "\n");
  CHECK(process.read_line() == pong(1));
  process.write(ping(2) + "\n" + ping(3) + "\r\n");
  CHECK(process.read_line() == pong(2));
  CHECK(process.read_line() == pong(3));
}

TEST_CASE("WebSocket messages may come in pieces, in fragments, or several at once") {
  LiveServer server;
  RawSocket client(server.port(Transport::kWebSocket));
  open_websocket(client, server.endpoint(Transport::kWebSocket));
  send_in_three(client, text_frame(ping(1)));
  CHECK(receive_frame(client) == pong(1));
  client.send(text_frame(ping(2)) + text_frame(ping(3)));
  CHECK(receive_frame(client) == pong(2));
  CHECK(receive_frame(client) == pong(3));
  const std::string message = ping(4);
  client.send(client_frame(kText, message.substr(0, 5)));
  client.send(client_frame(kContinuation, message.substr(5, 5)));
  client.send(client_frame(kFinal | kContinuation, message.substr(10)));
  CHECK(receive_frame(client) == pong(4));
}

TEST_CASE("HTTP requests may come in pieces, or several at once") {
  LiveServer server;
  RawSocket client(server.port(Transport::kHttp));
  send_in_three(client, http_request(ping(1)));
  CHECK(client.receive_until(pong(1)).starts_with("HTTP/1.1 200 OK\r\n"));
  client.send(http_request(ping(2)) + http_request(ping(3)));
  client.receive_until(pong(2));
  client.receive_until(pong(3));
}

TEST_CASE("a datagram is a message, neither half of one nor two") {
  LiveServer server;
  RpcClient client(server.connect(Transport::kUdp));
  for (const std::string& text : {ping(1).substr(0, 20), ping(1).substr(20), ping(1) + "\n" + ping(2)}) {
    client.send_text(text);
    CHECK(code_of(client.receive_or_throw()) == -32700);
  }
  CHECK(client.call("ping").contains("result"));
}

TEST_CASE("an id that no number type can hold comes back digit by digit, also on chunks") {
  const std::string id = "-123456789012345678901234567890.50";
  LiveServer server;
  RawSocket client(server.port(Transport::kTcp));
  client.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})" + "\n");
  CHECK(client.receive_until("\n") == R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})" + "\n");
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  client.send(R"({"jsonrpc":"2.0","id":)" + id +
              R"(,"method":"rkllm_run_async","params":{"rkllm_input":{"prompt_input":"@n=3"}}})" + "\n");
  CHECK(client.receive_until("\n").starts_with(R"({"jsonrpc":"2.0","id":)" + id +
                                               R"(,"method":"rkllm_run_async","result":{"chunk":{"seq":0,)"));
}

TEST_CASE("ids come back byte for byte, over every transport") {
  LiveServer server(LiveServer::with_stdio());
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  for (const Transport transport : kAllTransports) {
    const auto connection = server.connect(transport);
    for (const std::string id : {"-0", "1e2", "1.0", R"("\u00e9")", "98765432109876543210987654321"}) {
      INFO(name_of(transport) << ": " << id);
      for (const std::string method : {"ping", "no_such_method", "rkllm_is_running", "rkllm_run_async"}) {
        const std::string params = method == "rkllm_run_async" ? R"({"rkllm_input":{"prompt_input":"@n=1"}})" : "{}";
        connection->send(R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + R"(,"id":)" + id +
                         "}");
        const auto answer = connection->receive(std::chrono::steady_clock::now() + RpcClient::kPatience);
        CHECK(answer.value_or("").starts_with(R"({"jsonrpc":"2.0","id":)" + id + ","));
        if (method != "rkllm_run_async" || transport == Transport::kHttp) continue;
        for (std::string chunk = answer.value_or(""); chunk.find(R"("end":true)") == std::string::npos;) {
          chunk =
              connection->receive(std::chrono::steady_clock::now() + RpcClient::kPatience).value_or(R"("end":true)");
          CHECK(chunk.starts_with(R"({"jsonrpc":"2.0","id":)" + id + ","));
        }
      }
    }
  }
}

TEST_CASE("a web page cannot speak to the TCP port: it is told so once, and its messages are not executed") {
  LiveServer server;
  RpcClient(server.connect(Transport::kTcp)).init(shipped_model("fast"));
  const std::string destroy = R"({"jsonrpc":"2.0","id":1,"method":"rkllm_destroy","params":{"handle":"llm-1"}})";
  for (const std::string start : {"POST", "patch", "FOO", "PROPFIND", "\r\n get"}) {
    INFO(start);
    RawSocket client(server.port(Transport::kTcp));
    client.send(start + " / HTTP/1.1\r\nHost: localhost\r\n\r\n" + destroy + "\n");
    const std::string answer = client.receive_rest();
    CHECK(answer.starts_with(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,)"));
    CHECK(answer.find('\n') == answer.size() - 1);
  }
  CHECK(server.health()["runtime"]["handles"].size() == 1);
}

}  // namespace rkllm_mcp::test
