#include "client/http/streamable_http_connection.hpp"

#include "runtime/client/one_shot_server.hpp"
#include "runtime/client/scripted_http_server.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/no_more_threads.hpp"
#include "support/process.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace rkllm_mcp::client;
using rkllm_mcp::Clock;
using rkllm_mcp::Json;
using rkllm_mcp::test::eventually;
using rkllm_mcp::test::NoMoreThreads;
using rkllm_mcp::test::OneShotServer;
using rkllm_mcp::test::read_file;
using rkllm_mcp::test::ScriptedHttpServer;
using namespace std::chrono_literals;

namespace {

Clock::time_point in(std::chrono::milliseconds time) { return std::chrono::steady_clock::now() + time; }

std::unique_ptr<StreamableHttpConnection> connect_to(const ScriptedHttpServer& server) {
  return std::make_unique<StreamableHttpConnection>(Endpoint{Protocol::kHttp, "127.0.0.1", server.port(), "/mcp"},
                                                    in(20s));
}

Json receive(Connection& connection) {
  auto message = connection.receive(in(20s));
  if (!message) throw std::runtime_error("no message came");
  return Json::parse(*message);
}

std::string request(const Json& id, const std::string& method, const Json& params = Json::object()) {
  return Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}}.dump();
}

std::string modern(const Json& id, const std::string& method, Json params = Json::object()) {
  params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
  return request(id, method, params);
}

std::string cancellation(const Json& id) {
  return Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", id}}}}.dump();
}

const std::string kInitialized = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";

Json answer_to(const Json& id) { return {{"jsonrpc", "2.0"}, {"id", id}, {"result", "done"}}; }

std::string event(const Json& message, const std::string& id = {}) {
  return (id.empty() ? "" : "id: " + id + "\n") + "data: " + message.dump() + "\n\n";
}

void send_json(httplib::Response& response, const Json& message, int status = 200) {
  response.status = status;
  response.set_content(message.dump(), "application/json");
}

// A response of events that ends well, or breaks off.
enum class Ending { kWell, kBroken };
void send_events(httplib::Response& response, std::string events, Ending ending) {
  response.set_chunked_content_provider("text/event-stream",
                                        [events = std::move(events), ending](std::size_t, httplib::DataSink& sink) {
                                          sink.write(events.data(), events.size());
                                          if (ending == Ending::kBroken) return false;
                                          sink.done();
                                          return true;
                                        });
}

// Answers `initialize` with a session, and notifications; whether it was one of these.
bool serve_session(const httplib::Request& asked, httplib::Response& response, const Json& message) {
  if (asked.method == "DELETE") return true;
  if (asked.method == "GET") return false;
  if (message.value("method", "") == "initialize") {
    response.set_header("Mcp-Session-Id", "session-1");
    send_json(response, {{"jsonrpc", "2.0"},
                         {"id", message["id"]},
                         {"result", {{"protocolVersion", "2025-06-18"}, {"capabilities", Json::object()}}}});
    return true;
  }
  if (asked.method == "POST" && !message.contains("id")) {
    response.status = 202;
    return true;
  }
  return false;
}

Json body_of(const httplib::Request& asked) { return Json::parse(asked.body, nullptr, false); }

}  // namespace

TEST_CASE("a modern request is repeated in headers, with what no header can carry in base64") {
  ScriptedHttpServer server(
      [](const auto& asked, auto& response) { send_json(response, answer_to(body_of(asked)["id"])); });
  const auto connection = connect_to(server);
  connection->send(modern(1, "tools/call", {{"name", "rkllm_run"}}));
  CHECK(receive(*connection) == answer_to(1));
  connection->send(modern(2, "resources/read", {{"uri", "gr\xC3\xBC\xC3\x9F"}}));
  CHECK(receive(*connection) == answer_to(2));
  connection->send(request(3, "tools/list"));
  CHECK(receive(*connection) == answer_to(3));
  const auto asked = server.asked(3);
  CHECK(asked[0].get_header_value("MCP-Protocol-Version") == "2026-07-28");
  CHECK(asked[0].get_header_value("Mcp-Method") == "tools/call");
  CHECK(asked[0].get_header_value("Mcp-Name") == "rkllm_run");
  CHECK(asked[0].get_header_value("Content-Type") == "application/json");
  CHECK(asked[0].get_header_value("Accept") == "application/json, text/event-stream");
  CHECK(asked[0].body == modern(1, "tools/call", {{"name", "rkllm_run"}}));
  CHECK(asked[1].get_header_value("Mcp-Name") == "=?base64?Z3LDvMOf?=");
  CHECK_FALSE(asked[2].has_header("Mcp-Method"));
  CHECK_FALSE(asked[2].has_header("MCP-Protocol-Version"));
}

TEST_CASE("annotated arguments of a modern call are repeated in headers, once the tool has been listed") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    const Json message = body_of(asked);
    if (message["method"] != "tools/list") return send_json(response, answer_to(message["id"]));
    const Json properties = {
        {"region", {{"x-mcp-header", "Region"}}},
        {"dry", {{"x-mcp-header", "Dry"}}},
        {"absent", {{"x-mcp-header", "Absent"}}},
        {"evil", {{"x-mcp-header", "Evil\r\nX: "}}},
        {"nested", {{"properties", {{"count", {{"x-mcp-header", "Count"}}}, {"none", {{"x-mcp-header", "None"}}}}}}}};
    const Json tool = {{"name", "t"}, {"inputSchema", {{"type", "object"}, {"properties", properties}}}};
    send_json(response, {{"id", message["id"]}, {"result", {{"tools", {tool}}}}});
  });
  const auto connection = connect_to(server);
  const Json arguments = {
      {"region", "gr\xC3\xBC\xC3\x9F"}, {"dry", true}, {"evil", "x"}, {"nested", {{"count", 7}, {"none", nullptr}}}};
  int id = 0;
  const auto ask = [&](const std::string& message) {
    connection->send(message);
    receive(*connection);
  };
  const std::string call = modern(++id, "tools/call", {{"name", "t"}, {"arguments", arguments}});
  ask(call);
  ask(modern(++id, "tools/list"));
  ask(call);
  ask(modern(++id, "tools/call", {{"name", "other"}, {"arguments", arguments}}));
  const auto asked = server.asked(4);
  const auto params_of = [](const httplib::Request& request) {
    std::set<std::string> params;
    for (const auto& [name, value] : request.headers) {
      if (name.starts_with("Mcp-Param-")) params.insert(name.substr(10) + "=" + value);
    }
    return params;
  };
  CHECK(params_of(asked[0]).empty());
  CHECK(params_of(asked[2]) == std::set<std::string>{"Region==?base64?Z3LDvMOf?=", "Dry=true", "Count=7"});
  CHECK(params_of(asked[3]).empty());
}

TEST_CASE("a session is named in every legacy request after initialize, and deleted at the end") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    const Json message = body_of(asked);
    if (serve_session(asked, response, message)) return;
    if (asked.method == "GET") {
      response.status = 405;
    } else {
      send_json(response, answer_to(message["id"]));
    }
  });
  {
    const auto connection = connect_to(server);
    connection->send(request(1, "initialize"));
    connection->send(kInitialized);
    connection->send(request(2, "tools/list"));
    CHECK(receive(*connection)["id"] == 1);
    CHECK(receive(*connection)["id"] == 2);
    connection->send(modern(3, "tools/list"));
    CHECK(receive(*connection)["id"] == 3);
    server.asked(5);  // the GET too
  }
  const auto all = server.asked(6);
  std::set<std::string> methods;
  for (const auto& asked : all) {
    methods.insert(asked.method);
    const Json message = body_of(asked);
    const bool is_modern = asked.has_header("Mcp-Method");
    const bool is_first = message.is_object() && message.value("method", "") == "initialize";
    CHECK(asked.get_header_value("Mcp-Session-Id") == (is_first || is_modern ? "" : "session-1"));
    if (!is_first && !is_modern) CHECK(asked.get_header_value("MCP-Protocol-Version") == "2025-06-18");
  }
  CHECK(methods == std::set<std::string>{"POST", "GET", "DELETE"});
  CHECK(all.back().method == "DELETE");
}

TEST_CASE("a server without sessions is not asked to delete one") {
  ScriptedHttpServer server(
      [](const auto& asked, auto& response) { send_json(response, answer_to(body_of(asked)["id"])); });
  {
    const auto connection = connect_to(server);
    connection->send(request(1, "initialize"));
    receive(*connection);
  }
  CHECK(server.asked().size() == 1);
}

TEST_CASE("an answer of events brings its notifications first, JSON over several lines comes on one") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    if (body_of(asked)["id"] == 2)
      return response.set_content("{\n\"jsonrpc\":\"2.0\",\r\n\"id\":2,\"result\":\"done\"}\n", "application/json");
    send_events(
        response,
        ": hello\n\n" + event({{"method", "notifications/progress"}}) + "data: {\"id\":1,\ndata: \"result\":3}\n\n",
        Ending::kWell);
  });
  const auto connection = connect_to(server);
  connection->send(request(1, "tools/call"));
  CHECK(receive(*connection)["method"] == "notifications/progress");
  CHECK(connection->receive(in(20s)).value() == "{\"id\":1, \"result\":3}");
  connection->send(request(2, "tools/call"));
  const std::string line = connection->receive(in(20s)).value();
  CHECK(line.find_first_of("\r\n") == std::string::npos);
  CHECK(Json::parse(line) == answer_to(2));
}

TEST_CASE("what the server says without being asked comes on the stream of a GET") {
  std::atomic<bool> first = true;
  ScriptedHttpServer server([&](const auto& asked, auto& response) {
    if (serve_session(asked, response, body_of(asked))) return;
    if (!first.exchange(false)) return server.send_until_closed(response, "");
    send_events(response, "retry: 60\n\n" + event({{"method", "notifications/a"}}, "e1"), Ending::kWell);
  });
  const auto connection = connect_to(server);
  connection->send(request(1, "initialize"));
  receive(*connection);
  connection->send(kInitialized);
  CHECK(receive(*connection)["method"] == "notifications/a");
  const auto asked = server.asked(4);  // it connects again when the stream ends, and says from where
  CHECK(asked[3].method == "GET");
  CHECK(asked[3].get_header_value("Last-Event-ID") == "e1");
}

TEST_CASE("cancelling a modern request closes its response, and posts nothing") {
  ScriptedHttpServer server([&](const auto&, auto& response) {
    server.send_until_closed(response, event({{"method", "notifications/progress"}}));
  });
  const auto connection = connect_to(server);
  connection->send(modern(1, "tools/call"));
  receive(*connection);
  connection->send(cancellation(1));
  server.await_closed(1);
  CHECK(server.asked().size() == 1);
  CHECK_FALSE(connection->receive(in(50ms)));
}

TEST_CASE("cancelling a legacy request is posted, and then closes its response") {
  ScriptedHttpServer server([&](const auto& asked, auto& response) {
    if (serve_session(asked, response, body_of(asked))) return;
    server.send_until_closed(response, event({{"method", "notifications/progress"}}, "e1"));
  });
  const auto connection = connect_to(server);
  connection->send(request("x", "tools/call"));
  receive(*connection);
  connection->send(cancellation("x"));
  server.await_closed(1);
  const auto asked = server.asked();
  CHECK(asked.size() == 2);
  CHECK(asked[1].body == cancellation("x"));
  CHECK_FALSE(connection->receive(in(50ms)));
}

TEST_CASE("a legacy response that breaks off is resumed from its last event, as often as it takes") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    const std::string last = asked.get_header_value("Last-Event-ID");
    if (asked.method == "POST") return send_events(response, "retry: 60\nid: s-1\ndata:\n\n", Ending::kBroken);
    if (last == "s-1")
      return send_events(response, event({{"method", "notifications/progress"}}, "s-2"), Ending::kWell);
    CHECK(last == "s-2");
    send_events(response, event(answer_to(1), "s-3"), Ending::kWell);
  });
  const auto connection = connect_to(server);
  connection->send(request(1, "tools/call"));
  CHECK(receive(*connection)["method"] == "notifications/progress");
  CHECK(receive(*connection) == answer_to(1));
  CHECK(server.asked().size() == 3);
}

TEST_CASE("a response that breaks off for good gets an error in the server's stead, and the others go on") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    const Json message = body_of(asked);
    if (asked.method == "GET") {
      response.status = 404;
    } else if (message["method"] == "no ids") {
      send_events(response, event({{"method", "notifications/progress"}}), Ending::kBroken);
    } else if (message["method"] == "refused" || message["method"] == "modern") {
      send_events(response, "retry: 60\n" + event({{"method", "notifications/progress"}}, "e1"), Ending::kBroken);
    } else {
      send_json(response, answer_to(message["id"]));
    }
  });
  const auto connection = connect_to(server);
  for (const std::string& message : {request(1, "no ids"), request(2, "refused"), modern(3, "modern")}) {
    connection->send(message);
    CHECK(receive(*connection)["method"] == "notifications/progress");
    const Json error = receive(*connection);
    CHECK(error["id"] == Json::parse(message)["id"]);
    CHECK(error["error"]["code"] == -32603);
    CHECK(error["error"]["data"]["url"] == "http://127.0.0.1:" + std::to_string(server.port()) + "/mcp");
  }
  connection->send(request(4, "fine"));
  CHECK(receive(*connection) == answer_to(4));
  CHECK(server.asked().size() == 5);  // one GET: the modern response was not resumed
}

TEST_CASE("404 for a session ends the connection, and says why, for a modern request it is an answer") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    const Json message = body_of(asked);
    if (serve_session(asked, response, message)) return;
    const Json error = {{"jsonrpc", "2.0"}, {"id", nullptr}, {"error", {{"code", -32601}, {"message", "gone"}}}};
    send_json(response, error, 404);
  });
  const auto connection = connect_to(server);
  connection->send(request(1, "initialize"));
  receive(*connection);
  connection->send(modern(2, "ping"));
  const Json answer = receive(*connection);
  CHECK(answer["id"] == 2);
  CHECK(answer["error"]["code"] == -32601);
  connection->send(request(3, "tools/list"));
  CHECK_THROWS_WITH(connection->receive(in(20s)), rkllm_mcp::test::has_text("ended the session"));
  CHECK_THROWS_AS(connection->send(request(4, "tools/list")), ConnectionError);
}

TEST_CASE("a status that refuses becomes an error of the request, 401 ends the connection") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    const std::string method = body_of(asked)["method"];
    if (method == "plain") {
      response.status = 503;
      response.set_content("later", "text/plain");
    } else if (method == "json") {
      send_json(response,
                {{"jsonrpc", "2.0"}, {"error", {{"code", -32022}, {"message", "no"}, {"data", {{"requested", "x"}}}}}},
                400);
    } else if (method == "taken") {
      response.status = 202;
    } else if (method == "odd") {
      response.set_content("<html>", "text/html");
    } else {
      response.status = 401;
    }
  });
  const auto connection = connect_to(server);
  connection->send(request(1, "plain"));
  const Json plain = receive(*connection);
  CHECK(plain["error"]["code"] == -32603);
  CHECK(plain["error"]["data"]["status"] == 503);
  connection->send(request(2, "json"));
  const Json json = receive(*connection);
  CHECK(json["id"] == 2);
  CHECK(json["error"]["code"] == -32022);
  CHECK(json["error"]["data"]["requested"] == "x");
  connection->send(request(3, "taken"));
  CHECK(receive(*connection)["error"]["data"]["status"] == 202);
  connection->send(request(4, "odd"));
  CHECK(receive(*connection)["error"]["code"] == -32603);
  connection->send(request(5, "unauthorized"));
  CHECK_THROWS_WITH(connection->receive(in(20s)), rkllm_mcp::test::has_text("an access token is needed"));
}

TEST_CASE("a notification is with the server before what is sent behind it") {
  std::atomic<bool> is_answered = false;
  std::atomic<bool> overtaken = false;
  ScriptedHttpServer server([&](const auto& asked, auto& response) {
    const Json message = body_of(asked);
    if (message.contains("id")) {
      overtaken = !is_answered;
      return send_json(response, answer_to(message["id"]));
    }
    server.hold();
    response.status = 202;
    is_answered = true;
  });
  const auto connection = connect_to(server);
  connection->send(kInitialized);
  connection->send(request(1, "tools/list"));
  server.asked(1);
  CHECK_FALSE(connection->receive(in(50ms)));
  server.release();
  CHECK(receive(*connection)["id"] == 1);
  CHECK_FALSE(overtaken);
}

TEST_CASE("requests run beside each other, as many as allowed, the rest wait, and one that waits can be cancelled") {
  ScriptedHttpServer server([&](const auto& asked, auto& response) {
    server.hold();
    send_json(response, answer_to(body_of(asked)["id"]));
  });
  const auto connection = connect_to(server);
  constexpr int kMost = static_cast<int>(StreamableHttpConnection::kMostInFlight);
  for (int id = 0; id < kMost; ++id) {
    connection->send(request(id, "tools/call"));
    server.asked(static_cast<std::size_t>(id) + 1);  // its backlog is 5
  }
  for (int id = kMost; id < kMost + 3; ++id) connection->send(request(id, "tools/call"));
  connection->send(cancellation(kMost + 1));
  CHECK_FALSE(connection->receive(in(50ms)));
  CHECK(server.asked().size() == kMost);
  server.release();
  std::set<int> answered;
  for (int i = 0; i < kMost + 2; ++i) answered.insert(receive(*connection)["id"].get<int>());
  CHECK(answered.size() == kMost + 2);
  CHECK_FALSE(answered.contains(kMost + 1));
}

TEST_CASE("a response that stays open after its answer is closed, and holds up nothing") {
  ScriptedHttpServer server([&](const auto& asked, auto& response) {
    const Json message = body_of(asked);
    server.send_until_closed(response, message.contains("id") ? event(answer_to(message["id"])) : ":\n");
  });
  const auto connection = connect_to(server);
  connection->send(request(0, "initialize"));
  connection->send(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"none"}})");
  connection->send(request(1, "tools/list"));
  CHECK(receive(*connection)["id"] == 0);
  CHECK(receive(*connection)["id"] == 1);
  constexpr int kMost = static_cast<int>(StreamableHttpConnection::kMostInFlight);
  for (int id = 2; id < kMost + 5; ++id) {
    connection->send(modern(id, "tools/call"));
    CHECK(receive(*connection)["id"] == id);
  }
  server.await_closed(kMost);
}

TEST_CASE("a connection that is refused is an error of its request while another is under way") {
  std::optional<OneShotServer> server;
  std::promise<void> deaf;
  std::promise<void> refused;
  auto is_refused = refused.get_future();
  server.emplace([&](int look) {
    ::shutdown(look, SHUT_RDWR);  // of the constructor; it is closed at the end
    const int client = server->accept();
    server->stop_listening();
    deaf.set_value();
    is_refused.wait();
    std::array<char, 4096> request_bytes;  // what is left unread would make of the end a reset
    ::recv(client, request_bytes.data(), request_bytes.size(), 0);
    const std::string body = answer_to(1).dump();
    OneShotServer::send(client, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
                                    std::to_string(body.size()) + "\r\n\r\n" + body);
    ::close(client);
  });
  StreamableHttpConnection connection({Protocol::kHttp, "127.0.0.1", server->port(), "/mcp"}, in(20s));
  connection.send(request(1, "tools/call"));
  deaf.get_future().wait();
  connection.send(request(2, "tools/call"));
  const Json error = receive(connection);
  refused.set_value();
  CHECK(error["id"] == 2);
  CHECK(error["error"]["code"] == -32603);
  CHECK(receive(connection) == answer_to(1));
}

TEST_CASE("a sender that waits for room is woken by the end of the connection") {
  ScriptedHttpServer server([&](const auto&, auto&) { server.hold(); });
  const auto connection = connect_to(server);
  connection->send(request(1, "initialize"));  // what is behind it waits
  for (std::size_t i = 0; i < StreamableHttpConnection::kMostWaiting; ++i) connection->send(request(i, "ping"));
  const auto began = std::chrono::steady_clock::now();
  bool has_slept = false;  // the sender: there is no room
  std::thread other([&connection, &has_slept, sender = ::gettid()] {
    const std::string state = "/proc/self/task/" + std::to_string(sender) + "/stat";
    has_slept = eventually([&] { return read_file(state).find(") S ") != std::string::npos; });
    connection->interrupt();
  });
  CHECK_THROWS_AS((connection->send(request("x", "ping")), connection->send(request("y", "ping"))), ConnectionError);
  other.join();
  CHECK(has_slept);
  CHECK(std::chrono::steady_clock::now() - began < 10s);
}

TEST_CASE("a revision that nobody knows gets into no header") {
  ScriptedHttpServer server([](const auto& asked, auto& response) {
    const Json message = body_of(asked);
    if (message["method"] != "initialize") return send_json(response, answer_to(message["id"]));
    send_json(response, {{"id", message["id"]}, {"result", {{"protocolVersion", "2025-11-25 and more"}}}});
  });
  const auto connection = connect_to(server);
  for (const char* method : {"initialize", "tools/list"}) {
    connection->send(request(1, method));
    receive(*connection);
  }
  CHECK_FALSE(server.asked(2)[1].has_header("MCP-Protocol-Version"));
}

TEST_CASE("destroying a connection does not wait for a server that does not answer") {
  ScriptedHttpServer server([&](const auto& asked, auto& response) {
    if (serve_session(asked, response, body_of(asked))) return;
    if (asked.method == "GET") return server.send_until_closed(response, "");
    server.hold();
  });
  const auto began = std::chrono::steady_clock::now();
  {
    const auto connection = connect_to(server);
    connection->send(request(1, "initialize"));
    receive(*connection);
    connection->send(kInitialized);
    connection->send(request(2, "tools/call"));
    connection->send(modern(3, "tools/call"));
    server.asked(5);
  }
  CHECK(std::chrono::steady_clock::now() - began < 10s);  // the server would be silent for 20
}

TEST_CASE("a server that goes away ends the connection") {
  std::optional<ScriptedHttpServer> server;
  server.emplace([&](const auto& asked, auto& response) {
    server->hold();
    send_json(response, answer_to(body_of(asked)["id"]));
  });
  const auto connection = connect_to(*server);
  const Endpoint endpoint{Protocol::kHttp, "127.0.0.1", server->port(), "/mcp"};
  connection->send(request(1, "tools/call"));
  server->asked(1);
  server->stop();
  connection->receive(in(20s));  // the answer may still have come
  CHECK_THROWS_AS((connection->send(request(2, "tools/call")), connection->receive(in(20s))), ConnectionError);
  CHECK_THROWS_WITH(StreamableHttpConnection(endpoint, in(20s)), rkllm_mcp::test::has_text("Connection refused"));
}

TEST_CASE("a message for which no thread can be started ends the connection, and nothing else") {
  const ScriptedHttpServer server(
      [](const auto& asked, auto& response) { send_json(response, answer_to(body_of(asked)["id"])); });
  const auto connection = connect_to(server);
  const NoMoreThreads none;
  connection->send(request(1, "a"));
  CHECK_THROWS_AS(receive(*connection), ConnectionError);
}

TEST_CASE("where no thread can be started to listen, the connection ends, and nothing else") {
  std::optional<NoMoreThreads> none;
  const ScriptedHttpServer server([&none](const auto& asked, auto& response) {
    if (asked.method == "POST") none.emplace();  // while the message has its thread already
    serve_session(asked, response, body_of(asked));
  });
  const auto connection = connect_to(server);
  connection->send(kInitialized);
  CHECK_THROWS_AS(receive(*connection), ConnectionError);
}
