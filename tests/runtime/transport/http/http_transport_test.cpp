#include "transport/http/http_transport.hpp"

#include "../echo.hpp"
#include "../loop_thread.hpp"
#include "support/catch.hpp"
#include "support/raw_socket.hpp"
#include "support/usual_limits.hpp"

#include <httplib.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <new>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;
using namespace std::chrono_literals;

namespace {

// A server whose paths do one thing each:
//   /echo   answers with the request's body at once       /wait    keeps the exchange in `waiting`
//   /sse    streams, by `waiting` too                     /flood   streams numbered events as fast as they are taken
//   /drop   lets go of the exchange unanswered            /split   tries to split the response
//   /fault  throws                                        /sse_fault  throws when it has begun to stream
struct Server {
  explicit Server(const http::Options& options = usual_limits<http::Options>())
      : http(loop, options, handler(), websockets.accept(loop)) {}

  std::uint16_t port() {
    return http.call([](auto& transport) { return transport.port(); });
  }
  // The exchange that the next request to /wait or /sse leaves.
  std::shared_ptr<http::Exchange> next_waiting() {
    REQUIRE(loop.eventually([&] { return !waiting.empty(); }));
    return loop.call([&] {
      auto exchange = waiting.front();
      waiting.erase(waiting.begin());
      return exchange;
    });
  }

  std::vector<std::shared_ptr<http::Exchange>> waiting;  // on the loop
  std::size_t requests = 0;
  std::function<void()> on_first_request;
  Echo websockets;
  LoopThread loop;
  OnLoop<http::Transport> http;

 private:
  static void flood(http::Exchange& exchange, std::size_t number) {
    while (exchange.ready() && !exchange.closed() && number < 20'000) {
      exchange.write("data: " + std::to_string(number++) + "\n\n");
    }
    if (number == 20'000) return exchange.finish();
    if (!exchange.closed()) exchange.when_ready([kept = exchange.shared_from_this(), number] { flood(*kept, number); });
  }

  http::Handler handler() {
    return [this](const http::Request& request, http::Exchange& exchange) {
      if (++requests == 1 && on_first_request) on_first_request();
      if (request.path == "/echo") {
        exchange.respond({200, {{"X-Method", request.method}}, "text/plain", request.body});
      } else if (request.path == "/wait") {
        waiting.push_back(exchange.shared_from_this());
      } else if (request.path == "/sse") {
        exchange.start_stream(200, {{"Content-Type", "text/event-stream"}});
        waiting.push_back(exchange.shared_from_this());
      } else if (request.path == "/flood") {
        exchange.start_stream(200, {{"Content-Type", "text/event-stream"}});
        flood(exchange, 0);
      } else if (request.path == "/fault") {
        throw std::bad_alloc();
      } else if (request.path == "/sse_fault") {
        exchange.start_stream(200, {{"Content-Type", "text/event-stream"}});
        waiting.push_back(exchange.shared_from_this());
        throw 7;
      } else if (request.path == "/split") {
        exchange.respond({200, {{"X-Echo", "a\r\nX-Evil: 1\r\n\r\n"}}, "text/plain", ""});
      } else if (request.path != "/drop") {
        exchange.respond(http::plain_response(404, "no such path"));
      }
    };
  }
};

std::string get(const std::string& path, const std::string& headers = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n";
}

std::string post(const std::string& path, const std::string& body, const std::string& headers = "") {
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Head and body of the next response that announces its length.
struct Answer {
  int status = 0;
  std::string head;
  std::string body;
};

Answer read_answer(RawSocket& client) {
  Answer answer;
  answer.head = client.receive_until("\r\n\r\n");
  if (answer.head.substr(0, 9) != "HTTP/1.1 ") return answer;
  answer.status = std::stoi(answer.head.substr(9, 3));
  const auto length = answer.head.find("Content-Length: ");
  if (length != std::string::npos) answer.body = client.receive(std::stoul(answer.head.substr(length + 16)));
  return answer;
}

// A head without the time at which it was made, which must be there.
std::string without_date(std::string head) {
  const auto date = head.find("\r\nDate: ");
  REQUIRE(date != std::string::npos);
  return head.erase(date, head.find("\r\n", date + 2) - date);
}

struct CommandResult {
  int status;
  std::string output;
};

CommandResult run(const std::string& command) {
  CommandResult result{};
  std::FILE* pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> piece{};
  for (std::size_t count = 0; (count = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;) {
    result.output.append(piece.data(), count);
  }
  result.status = ::pclose(pipe);
  return result;
}

}  // namespace

TEST_CASE("HTTP: requests on one connection are answered one after the other") {
  Server server;
  RawSocket client(server.port());
  for (int i = 0; i < 3; ++i) {
    client.send(post("/echo", "hello"));
    const auto answer = read_answer(client);
    CHECK(answer.status == 200);
    CHECK(answer.body == "hello");
    CHECK(answer.head.find("X-Content-Type-Options: nosniff\r\n") != std::string::npos);
    CHECK(answer.head.find("Content-Type: text/plain\r\n") != std::string::npos);
  }
  client.send(get("/nowhere", "Connection: close\r\n"));
  const auto last = client.receive_rest();
  CHECK(last.substr(0, 12) == "HTTP/1.1 404");
  CHECK(last.find("Connection: close\r\n") != std::string::npos);
}

TEST_CASE("HTTP: pipelined requests are answered in order, even if the first takes longest") {
  Server server;
  RawSocket client(server.port());
  client.send(get("/wait") + post("/echo", "second") + get("/wait") + post("/echo", "fourth"));
  const auto first = server.next_waiting();
  server.loop.call([&] { first->respond({200, {}, "text/plain", "first"}); });
  CHECK(read_answer(client).body == "first");
  CHECK(read_answer(client).body == "second");
  const auto third = server.next_waiting();
  server.loop.call([&] { third->respond({200, {}, "text/plain", "third"}); });
  CHECK(read_answer(client).body == "third");
  CHECK(read_answer(client).body == "fourth");
}

TEST_CASE("HTTP: a thousand pipelined requests are answered completely") {
  Server server;
  RawSocket client(server.port());
  std::string requests = get("/wait");
  for (int i = 0; i < 1000; ++i) requests += post("/echo", std::to_string(i) + std::string(200, '.'));
  client.send(requests);
  const auto first = server.next_waiting();
  server.loop.call([&] { first->respond({204, {}, "", ""}); });
  CHECK(read_answer(client).status == 204);
  for (int i = 0; i < 1000; ++i) {
    const auto answer = read_answer(client);
    if (answer.body != std::to_string(i) + std::string(200, '.')) FAIL("answer " << i);
  }
}

TEST_CASE(
    "HTTP: who pipelines many requests leaves the loop to others after a few, and gets all answers, also at its end") {
  Server server;
  std::size_t answered_before_others = 0;
  server.loop.call([&] {
    server.on_first_request = [&] { asio::post(server.loop.io(), [&] { answered_before_others = server.requests; }); };
  });
  RawSocket client(server.port());
  constexpr std::size_t kCount = 500;
  std::string requests;
  for (std::size_t at = 0; at < kCount; ++at) requests += post("/echo", std::to_string(at));
  client.send(requests);
  client.finish_sending();
  for (std::size_t at = 0; at < kCount; ++at) {
    const auto answer = read_answer(client);
    if (answer.body != std::to_string(at)) FAIL("answer " << at);
  }
  server.loop.call([&] {
    CHECK(answered_before_others > 0);
    CHECK(answered_before_others <= 16);
  });
}

TEST_CASE("HTTP: chunked bodies, byte by byte") {
  Server server;
  RawSocket client(server.port());
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
  for (const char c : request) client.send(std::string(1, c));
  CHECK(read_answer(client).body == "hello");
}

TEST_CASE("HTTP: HEAD has the head of GET, and HTTP/1.0 closes unless asked not to") {
  Server server;
  RawSocket client(server.port());
  client.send("HEAD /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n" + get("/nowhere"));
  const auto head = client.receive_until("\r\n\r\n");
  const auto answer = read_answer(client);
  CHECK(without_date(head) == without_date(answer.head));
  CHECK_FALSE(answer.body.empty());
  client.send("GET /nowhere HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  CHECK(read_answer(client).head.find("Connection: keep-alive\r\n") != std::string::npos);
  client.send("GET /nowhere HTTP/1.0\r\n\r\n");
  CHECK(read_answer(client).head.find("Connection: close\r\n") != std::string::npos);
  CHECK(client.receive_rest() == "");
}

TEST_CASE("HTTP: who expects 100 Continue gets it") {
  Server server;
  RawSocket client(server.port());
  client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  CHECK(client.receive_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("hello");
  CHECK(read_answer(client).body == "hello");
}

TEST_CASE("HTTP: a refused request is answered, closes the connection, and reaches no handler") {
  auto options = usual_limits<http::Options>();
  options.limits.max_message_bytes = 1000;
  Server server(options);
  const std::string host = "Host: localhost\r\n";
  const std::vector<std::pair<int, std::string>> cases = {
      {400, "nonsense\r\n\r\n"},
      {400, "GET / HTTP/1.1\r\n\r\n"},
      {400, "GET / HTTP/1.1\n" + host + "\n"},
      {400, "POST /echo HTTP/1.1\r\n" + host + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"},
      {413, "POST /echo HTTP/1.1\r\n" + host + "Content-Length: 1001\r\n\r\n" + std::string(500'000, 'x')},
      {414, "GET /" + std::string(9000, 'x') + " HTTP/1.1\r\n" + host + "\r\n"},
      {431, "GET / HTTP/1.1\r\n" + host + "X: " + std::string(17'000, 'x') + "\r\n\r\n"},
      {501, "POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip\r\n\r\n"},
      {505, "GET / HTTP/3.0\r\n" + host + "\r\n"}};
  for (const auto& [status, bytes] : cases) {
    CAPTURE(status);
    RawSocket client(server.port());
    client.send(bytes + get("/echo"));
    const auto answer = client.receive_rest();
    CHECK(answer.substr(0, 12) == "HTTP/1.1 " + std::to_string(status));
    CHECK(answer.find("Connection: close\r\n") != std::string::npos);
    CHECK(answer.find("\nHTTP/1.1 ") == std::string::npos);
  }
  CHECK(server.loop.call([&] { return server.requests; }) == 0);
}

TEST_CASE("HTTP: a refused HEAD has the head of a refused GET, and no body") {
  Server server;
  const auto answer_to = [&server](const std::string& method) {
    RawSocket client(server.port());
    client.send(method + " / HTTP/1.1\r\n\r\n");
    return client.receive_rest();
  };
  const std::string of_get = without_date(answer_to("GET"));
  const std::string of_head = without_date(answer_to("HEAD"));
  CHECK(of_head.substr(0, 12) == "HTTP/1.1 400");
  CHECK(of_head == of_get.substr(0, of_get.find("\r\n\r\n") + 4));
  CHECK(of_get.size() > of_head.size());
}

TEST_CASE("HTTP: foreign origins and hosts get 403, on WebSocket handshakes too") {
  Server server;
  const std::string handshake =
      "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
      "AAAAAAAAAAAAAAAAAAAAAA==\r\n";
  RawSocket client(server.port());
  for (const std::string path : {"/echo", "/ws"}) {
    client.send(get(path, "Origin: http://evil.example\r\n" + handshake));
    CHECK(read_answer(client).status == 403);
    client.send("GET " + path + " HTTP/1.1\r\nHost: evil.example\r\n" + handshake + "\r\n");
    CHECK(read_answer(client).status == 403);
  }
  CHECK(server.loop.call([&] { return server.requests; }) == 0);
  client.send(get("/echo", "Origin: http://localhost:3000\r\n"));
  const auto answer = read_answer(client);
  CHECK(answer.status == 200);
  CHECK(answer.head.find("Access-Control") == std::string::npos);
}

TEST_CASE("HTTP: what is refused before a request is whole has the words of the protocol at its path") {
  auto options = usual_limits<http::Options>();
  options.limits.max_message_bytes = 1000;
  options.origins.allowed_origins = {"https://chat.example"};
  options.refused = [](const http::Request& request, const http::Refusal& refusal) -> std::optional<http::Response> {
    if (request.path != "/echo") return std::nullopt;
    return http::Response{refusal.status, {}, "application/json", "{\"error\":\"" + refusal.explanation + "\"}"};
  };
  Server server(options);
  const auto refused = [&server](const std::string& path, const std::string& header) {
    RawSocket client(server.port());
    client.send("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + header + "\r\n\r\n");
    return read_answer(client);
  };
  const auto too_large = refused("/echo", "Origin: https://chat.example\r\nContent-Length: 1001");
  CHECK(too_large.status == 413);
  CHECK_THAT(too_large.head, has_text("Content-Type: application/json\r\n"));
  CHECK_THAT(too_large.head, has_text("Access-Control-Allow-Origin: https://chat.example\r\n"));
  CHECK(too_large.body == "{\"error\":\"the limit is 1000 bytes\"}");
  const auto elsewhere = refused("/", "Content-Length: 1001");
  CHECK_THAT(elsewhere.head, has_text("Content-Type: text/plain"));
  CHECK_THAT(elsewhere.head, !has_text("Access-Control"));
  const auto foreign = refused("/echo", "Origin: http://evil.example");
  CHECK(foreign.status == 403);
  CHECK_THAT(foreign.body, has_text("the allowed origins"));
  CHECK(foreign.body.front() == '{');
  CHECK_THAT(foreign.head, !has_text("Access-Control"));
}

TEST_CASE("HTTP: a listed origin's page may ask beforehand, and may read answers, refusals included") {
  auto options = usual_limits<http::Options>();
  options.origins.allowed_origins = {"https://chat.example"};
  Server server(options);
  RawSocket client(server.port());
  client.send(
      "OPTIONS /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: https://chat.example\r\nAccess-Control-Request-Method: "
      "POST\r\n\r\n");
  const auto preflight = read_answer(client);
  CHECK(preflight.status == 204);
  CHECK(preflight.head.find("Access-Control-Allow-Origin: https://chat.example\r\n") != std::string::npos);
  CHECK(preflight.head.find("Access-Control-Allow-Methods: GET, POST, DELETE\r\n") != std::string::npos);
  client.send(get("/nowhere", "Origin: https://chat.example\r\n"));
  const auto answer = read_answer(client);
  CHECK(answer.status == 404);
  CHECK(answer.head.find("Access-Control-Allow-Origin: https://chat.example\r\n") != std::string::npos);
}

TEST_CASE("HTTP: a stream arrives piece by piece, and the connection goes on after it") {
  Server server;
  RawSocket client(server.port());
  client.send(get("/sse"));
  const auto exchange = server.next_waiting();
  const auto head = client.receive_until("\r\n\r\n");
  CHECK(head.find("Transfer-Encoding: chunked\r\n") != std::string::npos);
  CHECK(head.find("Content-Type: text/event-stream\r\n") != std::string::npos);
  for (const std::string text : {"data: one\n\n", "data: two\n\n"}) {
    server.loop.call([&] { exchange->write(text); });
    CHECK(client.receive_until(text + "\r\n") == "b\r\n" + text + "\r\n");
  }
  server.loop.call([&] {
    exchange->write("");  // nothing, and not the end
    exchange->finish();
    exchange->finish();
    exchange->write("too late");
  });
  CHECK(client.receive(5) == "0\r\n\r\n");
  client.send(post("/echo", "next"));
  CHECK(read_answer(client).body == "next");
}

TEST_CASE("HTTP: a stream to HTTP/1.0 is not chunked and ends with the connection") {
  Server server;
  RawSocket client(server.port());
  client.send("GET /sse HTTP/1.0\r\n\r\n");
  const auto exchange = server.next_waiting();
  server.loop.call([&] {
    exchange->write("data: one\n\n");
    exchange->finish();
  });
  const auto answer = client.receive_rest();
  CHECK(answer.substr(answer.find("\r\n\r\n")) == "\r\n\r\ndata: one\n\n");
}

TEST_CASE("HTTP: a client that leaves is noticed, whether it streams or waits") {
  Server server;
  for (const std::string path : {"/sse", "/wait"}) {
    CAPTURE(path);
    RawSocket client(server.port());
    client.send(get(path));
    const auto exchange = server.next_waiting();
    const Event gone;
    server.loop.call([&] { exchange->when_closed([gone] { gone.happen(); }); });
    client.close();
    CHECK(gone.happens());
    server.loop.call([&] {
      CHECK(exchange->closed());
      exchange->write("into the void");
      exchange->respond({200, {}, "", ""});
      exchange->finish();
    });
  }
}

TEST_CASE("HTTP: an answered exchange does not report the client's leaving") {
  Server server;
  RawSocket client(server.port());
  client.send(get("/wait"));
  const auto exchange = server.next_waiting();
  bool reported = false;
  server.loop.call([&] {
    exchange->when_closed([&reported] { reported = true; });
    exchange->respond({200, {}, "text/plain", "done"});
  });
  CHECK(read_answer(client).body == "done");
  client.close();
  REQUIRE(server.http.eventually([](auto& http) { return http.connection_count() == 0; }));
  CHECK_FALSE(server.loop.call([&] { return reported; }));
}

TEST_CASE("HTTP: an exchange that is dropped is answered with 500") {
  Server server;
  RawSocket client(server.port());
  client.send(get("/drop") + post("/echo", "next"));
  CHECK(read_answer(client).status == 500);
  CHECK(read_answer(client).body == "next");
}

TEST_CASE("HTTP: a stream that is dropped does not look complete") {
  Server server;
  RawSocket client(server.port());
  client.send(get("/sse"));
  auto exchange = server.next_waiting();
  server.loop.call([&] { exchange.reset(); });
  const auto answer = client.receive_rest();
  CHECK(answer.find("0\r\n\r\n") == std::string::npos);
}

TEST_CASE("HTTP: no header value can add a header") {
  Server server;
  RawSocket client(server.port());
  client.send(get("/split"));
  const auto answer = read_answer(client);
  CHECK(answer.head.find("X-Echo: a  X-Evil: 1    \r\n") != std::string::npos);
}

TEST_CASE("HTTP: a stream waits for a slow reader and loses nothing, one that never reads is closed") {
  auto options = usual_limits<http::Options>();
  options.limits.send_queue_bytes = 16 * 1024;
  options.limits.kernel_send_bytes = 16 * 1024;
  options.limits.stall = 1500ms;
  Server server(options);
  RawSocket client(server.port(), 4096);
  client.send(get("/flood"));
  client.receive_until("\r\n\r\n");
  for (std::size_t i = 0; i < 20'000; ++i) {
    const auto event = "data: " + std::to_string(i) + "\n\n";
    client.receive_until(event + "\r\n");
  }
  CHECK(client.receive(5) == "0\r\n\r\n");

  RawSocket stuck(server.port(), 4096);
  stuck.send(get("/flood"));
  CHECK(server.http.eventually([](auto& http) { return http.connection_count() == 2; }));
  CHECK(server.http.eventually([](auto& http) { return http.connection_count() == 1; }));
}

TEST_CASE("HTTP: clients beyond the limit get 503") {
  auto options = usual_limits<http::Options>();
  options.limits.max_connections = 1;
  Server server(options);
  RawSocket first(server.port());
  first.send(post("/echo", "x"));
  REQUIRE(read_answer(first).status == 200);
  RawSocket second(server.port());
  second.send(get("/echo"));
  const auto answer = second.receive_rest();
  CHECK(answer.substr(0, 12) == "HTTP/1.1 503");
}

TEST_CASE("HTTP: cpp-httplib's client agrees") {
  Server server;
  httplib::Client client("127.0.0.1", server.port());
  client.set_keep_alive(true);
  client.set_tcp_nodelay(true);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.Post("/echo", "hello", "text/plain");
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(answer->body == "hello");
    CHECK(answer->get_header_value("X-Method") == "POST");
  }
  const auto chunked = client.Post(
      "/echo",
      [](std::size_t, httplib::DataSink& sink) {
        sink.write("chunk", 5);
        sink.write("ed", 2);
        sink.done();
        return true;
      },
      "text/plain");
  REQUIRE(chunked);
  CHECK(chunked->body == "chunked");
  const auto large = std::string(5'000'000, 'x');
  CHECK(client.Post("/echo", large, "text/plain")->body == large);
  CHECK(client.Get("/nowhere")->status == 404);
  CHECK(client.Head("/nowhere")->status == 404);
  std::string events;
  const auto flood = client.Get("/flood", [&events](const char* bytes, std::size_t count) {
    events.append(bytes, count);
    return true;
  });
  REQUIRE(flood);
  CHECK(events.substr(0, 22) == "data: 0\n\ndata: 1\n\ndata");
  CHECK(events.substr(events.size() - 13) == "data: 19999\n\n");
}

TEST_CASE("HTTP: curl agrees") {
  Server server;
  const auto url = "http://127.0.0.1:" + std::to_string(server.port());
  const std::string curl = "curl --silent --show-error --max-time 20 --noproxy '*' ";
  CHECK(run(curl + "-d hello " + url + "/echo").output == "hello");
  CHECK(run(curl + "-d one " + url + "/echo --next --silent -d two " + url + "/echo").output == "onetwo");
  CHECK(run(curl + "-H 'Transfer-Encoding: chunked' -d chunked " + url + "/echo").output == "chunked");
  CHECK(run(curl + "-H 'Expect: 100-continue' -d patient " + url + "/echo").output == "patient");
  CHECK(run(curl + "-0 -d old " + url + "/echo").output == "old");
  CHECK(run(curl + "-o /dev/null -w '%{http_code}' -I " + url + "/nowhere").output == "404");
  CHECK(run(curl + "-o /dev/null -w '%{http_code}' -H 'Origin: http://evil.example' " + url + "/echo").output == "403");
  const auto flood = run(curl + "-N " + url + "/flood | tail -n 2");
  CHECK(flood.output == "data: 19999\n\n");
  CHECK(flood.status == 0);
}

TEST_CASE("HTTP: a WebSocket client on /ws becomes a peer of the same port") {
  Server server;
  RawSocket client(server.port());
  const std::string handshake =
      "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  // A pipelined request before it and a frame ("hi", masked with zeros) right behind it.
  client.send(post("/echo", "first") + get("/ws", handshake) + std::string("\x81\x82\0\0\0\0hi", 8));
  CHECK(read_answer(client).body == "first");
  const auto answer = read_answer(client);
  CHECK(answer.status == 101);
  CHECK(answer.head.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n") != std::string::npos);
  CHECK(client.receive(4) == "\x81\x02hi");
  CHECK(server.http.call([](auto& http) { return http.connection_count(); }) == 1);
  client.close();
  CHECK(server.loop.eventually([&] { return server.websockets.closed == 1; }));
  CHECK(server.http.eventually([](auto& http) { return http.connection_count() == 0; }));
}

TEST_CASE("HTTP: what a handler throws is answered with 500, and its connection goes on") {
  Server server;
  server.loop.expect_faults();
  RawSocket client(server.port());
  client.send(get("/fault") + post("/echo", "next"));
  CHECK(read_answer(client).status == 500);
  CHECK(read_answer(client).body == "next");
  CHECK(server.loop.has_faults(1));
}

TEST_CASE("HTTP: a stream whose handler throws breaks off, so that it does not look complete") {
  Server server;
  server.loop.expect_faults();
  RawSocket client(server.port());
  client.send(get("/sse_fault"));
  const auto answer = client.receive_rest();
  CHECK(answer.find("\r\n0\r\n") == std::string::npos);
  CHECK(server.loop.has_faults(1));
  CHECK(server.http.eventually([](auto& http) { return http.connection_count() == 0; }));
  server.loop.call([&] { server.waiting.clear(); });
}
