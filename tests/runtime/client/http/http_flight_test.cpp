#include "client/http/http_flight.hpp"

#include "client/connection.hpp"
#include "runtime/client/one_shot_server.hpp"
#include "runtime/client/scripted_http_server.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/json.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp::client;
using namespace rkllm_mcp::test;
using rkllm_mcp::Json;
using namespace std::chrono_literals;

namespace {

using HttpAnswering = ScriptedHttpServer::Answer;

// A client of one server, whose messages fly one after the other.
struct FlyingTo {
  explicit FlyingTo(std::uint16_t at_port, const std::string& token = {})
      : port(at_port), state(Endpoint{Protocol::kHttp, "127.0.0.1", at_port, "/mcp", token}, 60s) {}

  // A flight with this message, which has not begun.
  std::unique_ptr<HttpFlight> prepare(const std::string& message) {
    return std::make_unique<HttpFlight>(state, inbox, state.connection(60s), facts_of(message), message,
                                        HttpFlight::Callbacks{.on_settled = [this] { ++settled; },
                                                              .has_company =
                                                                  [this] {
                                                                    if (has_no_memory) throw std::bad_alloc();
                                                                    return has_company;
                                                                  }});
  }
  std::unique_ptr<HttpFlight> fly(const Json& message) {
    auto flight = prepare(message.dump());
    flight->run();
    return flight;
  }
  // All that has been put into the inbox.
  std::vector<Json> came() {
    std::vector<Json> messages;
    while (const auto message = inbox.take(rkllm_mcp::Clock::now())) messages.push_back(Json::parse(*message));
    return messages;
  }
  // The error in the server's stead that is the one answer to the request 1.
  std::string complaint() {
    const auto all = came();
    if (all.size() != 1) return std::to_string(all.size()) + " messages came";
    CHECK(all[0]["id"] == 1);
    CHECK(all[0]["error"]["code"] == -32603);
    CHECK(all[0]["error"]["data"]["url"] == state.url());
    return all[0]["error"]["message"];
  }
  std::string loss() {
    try {
      inbox.throw_if_failed();
    } catch (const ConnectionError& error) {
      return error.what();
    }
    return "";
  }

  const std::uint16_t port;
  HttpServerState state;
  Inbox inbox;
  std::atomic<int> settled = 0;
  bool has_company = false;
  bool has_no_memory = false;
};

struct FlyingToServer {
  explicit FlyingToServer(HttpAnswering answer, const std::string& token = {})
      : server(std::move(answer)), client(server.port(), token) {}

  ScriptedHttpServer server;
  FlyingTo client;
};

Json flown_request(const Json& id, const std::string& method = "tools/call", const Json& params = Json::object()) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", params}};
}

Json modern_request(const std::string& method) {
  return flown_request(1, method, {{"_meta", {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"}}}});
}

const Json kFlownNotification = {{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}};

Json flown_answer(const Json& id, const Json& result = "done") {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"result", result}};
}

Json flown_error(const Json& id) {
  return {{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", -32601}, {"message", "no"}}}};
}

std::string as_event(const Json& message) { return "data: " + message.dump() + "\n\n"; }

// Always the same answer.
HttpAnswering answering(const std::string& body, const std::string& type = "application/json", int status = 200) {
  return [body, type, status](const auto&, auto& response) {
    response.status = status;
    response.set_content(body, type);
  };
}

// Events of a response that breaks off.
void break_off_after(httplib::Response& response, std::string events) {
  response.set_chunked_content_provider("text/event-stream",
                                        [events = std::move(events)](std::size_t, httplib::DataSink& sink) {
                                          sink.write(events.data(), events.size());
                                          return false;
                                        });
}

}  // namespace

TEST_CASE("an answer is put where all messages are, on one line, and its connection may be used again") {
  FlyingToServer flying(answering("{\"jsonrpc\":\"2.0\",\r\n\"id\":1,\n\"result\":\"gr\xC3\xBC\xC3\x9F\"}"));
  const auto flight = flying.client.prepare(flown_request(1).dump());
  flight->run();
  const auto text = flying.client.inbox.take(rkllm_mcp::Clock::now());
  REQUIRE(text);
  CHECK(text->find_first_of("\r\n") == std::string::npos);
  CHECK(Json::parse(*text) == flown_answer(1, "gr\xC3\xBC\xC3\x9F"));
  CHECK(flying.client.came().empty());
  CHECK(flying.client.settled == 1);
  CHECK(flight->was_accepted());
  CHECK(flight->take_reusable_trip() != nullptr);
  CHECK(flying.server.asked().at(0).body == flown_request(1).dump());
}

TEST_CASE("what comes as events is put in its order, of which one may be the answer") {
  FlyingToServer flying(answering(as_event({{"method", "notifications/progress"}}) + as_event(flown_answer(1)) +
                                      as_event({{"method", "notifications/message"}}),
                                  "text/event-stream"));
  const auto flight = flying.client.fly(flown_request(1));
  CHECK(flying.client.came() == std::vector<Json>{{{"method", "notifications/progress"}},
                                                  flown_answer(1),
                                                  {{"method", "notifications/message"}}});
  CHECK(flying.client.settled == 1);
  CHECK(flight->take_reusable_trip() != nullptr);
}

TEST_CASE("a notification is settled when the server has said whether it takes it, and has no answer") {
  for (const int status : {200, 202, 204}) {
    CAPTURE(status);
    FlyingToServer taking([status](const auto&, auto& response) { response.status = status; });
    const auto taken = taking.client.fly(kFlownNotification);
    CHECK(taken->was_accepted());
    CHECK(taking.client.settled == 1);
    CHECK(taking.client.came().empty());
  }

  FlyingToServer refusing(answering("no", "text/plain", 400));
  CHECK_FALSE(refusing.client.fly(kFlownNotification)->was_accepted());
  CHECK(refusing.client.settled == 1);
  CHECK(refusing.client.came().empty());
  CHECK(refusing.client.loss().empty());
}

TEST_CASE("the answer to initialize tells the session and the revision, another or a refusal does not") {
  const auto with_session = [](int status) {
    return [status](const auto&, auto& response) {
      response.status = status;
      response.set_header("Mcp-Session-Id", "session-1");
      response.set_content(flown_answer(1, {{"protocolVersion", "2025-06-18"}}).dump(), "application/json");
    };
  };
  const auto revisions_told = [](const FlyingTo& client) {
    return client.state.get("").headers.count("MCP-Protocol-Version");
  };
  FlyingToServer greeting(with_session(200));
  greeting.client.fly(flown_request(1, "initialize"));
  CHECK(greeting.client.state.has_id());
  CHECK(revisions_told(greeting.client) == 1);

  FlyingToServer other(with_session(200));
  other.client.fly(flown_request(1, "tools/list"));
  CHECK_FALSE(other.client.state.has_id());
  CHECK(revisions_told(other.client) == 0);

  FlyingToServer refusing(with_session(400));
  refusing.client.fly(flown_request(1, "initialize"));
  CHECK_FALSE(refusing.client.state.has_id());
}

TEST_CASE("each request of a batch gets one answer, an error where the server gives none") {
  FlyingToServer flying(answering(Json::array({flown_answer(3), flown_answer("one")}).dump()));
  flying.client.fly(Json::array({flown_request("one"), flown_request(2), flown_request(3), kFlownNotification}));
  const auto came = flying.client.came();
  REQUIRE(came.size() == 2);
  CHECK(came[0] == Json::array({flown_answer(3), flown_answer("one")}));
  CHECK(came[1]["id"] == 2);
  CHECK_THAT(came[1]["error"]["message"].get<std::string>(), has_text("the answer is not as expected"));
}

TEST_CASE("an answer that is none becomes an error with the status and the place") {
  for (const std::string& wrong : {std::string("no JSON"), std::string("[1"), flown_answer(2).dump(),
                                   flown_answer("1").dump(), std::string("{}"), std::string("\xFF")}) {
    CAPTURE(wrong);
    FlyingToServer flying(answering(wrong, "application/json", 201));
    flying.client.fly(flown_request(1));
    const auto came = flying.client.came();
    REQUIRE_FALSE(came.empty());
    CHECK(came.back()["id"] == 1);
    CHECK(came.back()["error"]["data"] == Json{{"url", flying.client.state.url()}, {"status", 201}});
    CHECK(came.back()["error"]["message"] == flying.client.state.url() + ": the answer is not as expected");
  }
  FlyingToServer silent([](const auto&, auto& response) { response.status = 202; });
  silent.client.fly(flown_request(1));
  CHECK_THAT(silent.client.complaint(), has_text("has taken the request but does not answer it"));
}

TEST_CASE(
    "a refusal in words of HTTP is an error, one in JSON-RPC the answer, to the request that it names or to all") {
  FlyingToServer plain(answering("later", "text/plain", 503));
  CHECK_FALSE(plain.client.fly(flown_request(1))->was_accepted());
  CHECK_THAT(plain.client.complaint(), has_text("HTTP status 503"));

  FlyingToServer naming(answering(flown_error(1).dump(), "application/json", 400));
  naming.client.fly(flown_request(1));
  CHECK(naming.client.came() == std::vector<Json>{flown_error(1)});

  for (const Json& nobody : {flown_error(nullptr), Json{{"error", {{"code", -32601}, {"message", "no"}}}}}) {
    FlyingToServer to_all(answering(nobody.dump(), "application/json", 400));
    to_all.client.fly(Json::array({flown_request(1), flown_request("two")}));
    const auto came = to_all.client.came();
    REQUIRE(came.size() == 2);
    CHECK(came[0]["id"] == 1);
    CHECK(came[1]["id"] == "two");
    for (const auto& each : came) CHECK(each["error"]["code"] == -32601);
  }

  FlyingToServer naming_another(answering(flown_error(2).dump(), "application/json", 400));
  naming_another.client.fly(flown_request(1));
  const auto came = naming_another.client.came();
  REQUIRE(came.size() == 2);
  CHECK(came[0] == flown_error(2));
  CHECK(came[1]["id"] == 1);
}

TEST_CASE("a server that refuses the access token, or has ended the session, is lost") {
  FlyingToServer refusing(answering(flown_error(1).dump(), "application/json", 401));
  refusing.client.fly(flown_request(1));
  CHECK_THAT(refusing.client.loss(), has_text("an access token is needed (HTTP status 401)"));
  FlyingToServer guessed(answering(flown_error(1).dump(), "application/json", 401), "a guess");
  guessed.client.fly(flown_request(1));
  CHECK_THAT(guessed.client.loss(), has_text("the server refuses the access token (HTTP status 401)"));

  FlyingToServer forgetting(answering("", "text/plain", 404));
  forgetting.client.fly(flown_request(1));
  CHECK_THAT(forgetting.client.complaint(), has_text("HTTP status 404"));  // there was no session
  forgetting.client.state.take_id("session-1");
  forgetting.client.fly(modern_request("tools/list"));
  CHECK_THAT(forgetting.client.complaint(), has_text("HTTP status 404"));  // it is not of the session
  forgetting.client.fly(flown_request(1));
  CHECK_THAT(forgetting.client.loss(), has_text("the server has ended the session (HTTP status 404); connect again"));
}

TEST_CASE("a response that breaks off is resumed where the server has numbered its events, and is answered once") {
  FlyingToServer flying([](const auto& asked, auto& response) {
    if (asked.method == "POST") return break_off_after(response, "retry: 0\nid: a\ndata: {\"method\":\"x\"}\n\n");
    CHECK(asked.get_header_value("Last-Event-ID") == "a");
    response.set_content(as_event(flown_answer(1)), "text/event-stream");
  });
  const auto flight = flying.client.fly(flown_request(1));
  CHECK(flying.client.came() == std::vector<Json>{{{"method", "x"}}, flown_answer(1)});
  CHECK(flying.client.settled == 1);
  CHECK(flight->take_reusable_trip() == nullptr);
}

TEST_CASE("a response that breaks off and is not resumed becomes an error, and so does one that cannot be") {
  const std::string numbered = "retry: 0\nid: a\ndata: {\"method\":\"x\"}\n\n";
  const auto last_of = [](FlyingToServer& flying, const Json& message) {
    flying.client.fly(message);
    const auto came = flying.client.came();
    REQUIRE(came.size() == 2);
    CHECK(came[1]["id"] == 1);
    return came[1]["error"]["message"].get<std::string>();
  };
  const auto resumed_by = [&numbered](HttpAnswering resume) {
    return [&numbered, resume = std::move(resume)](const auto& asked, auto& response) {
      if (asked.method == "POST") return break_off_after(response, numbered);
      resume(asked, response);
    };
  };
  FlyingToServer refusing(resumed_by(answering("", "text/plain", 405)));
  CHECK_THAT(last_of(refusing, flown_request(1)), has_text("the server does not resume it (HTTP status 405)"));
  FlyingToServer saying_otherwise(resumed_by(answering("<p>hello", "text/html")));
  CHECK_THAT(last_of(saying_otherwise, flown_request(1)), has_text("the server does not resume it (HTTP status 200)"));

  FlyingToServer modern(resumed_by(answering("", "text/plain", 500)));
  CHECK_THAT(last_of(modern, modern_request("tools/call")), has_text("the response ended before the answer"));
  CHECK(modern.server.asked().size() == 1);
  FlyingToServer without_numbers(
      [](const auto&, auto& response) { break_off_after(response, "data: {\"method\":\"x\"}\n\n"); });
  CHECK_THAT(last_of(without_numbers, flown_request(1)), has_text("the response ended before the answer"));
  FlyingToServer ending_well(answering("data: {\"method\":\"x\"}\n\n", "text/event-stream"));
  CHECK_THAT(last_of(ending_well, flown_request(1)), has_text("the response ended before the answer"));
}

TEST_CASE("where nobody accepts connections the server is lost, unless others are under way") {
  const OneShotServer nobody([](int) {});
  nobody.stop_listening();
  FlyingTo alone(nobody.port());
  alone.fly(flown_request(1));
  CHECK(alone.loss() == alone.state.url() + ": cannot connect");

  FlyingTo in_company(nobody.port());
  in_company.has_company = true;
  in_company.fly(flown_request(1));
  CHECK(in_company.complaint() == in_company.state.url() + ": cannot connect");
  CHECK(in_company.loss().empty());
}

TEST_CASE("a request that fails on this side for want of memory has its answer, too") {
  const OneShotServer nobody([](int) {});
  nobody.stop_listening();
  FlyingTo flying(nobody.port());
  flying.has_no_memory = true;
  flying.fly(flown_request(1));
  CHECK_THAT(flying.complaint(), has_text("bad_alloc"));
  CHECK(flying.loss().empty());
}

TEST_CASE("a message that fails on this side for want of memory, with nobody to tell, says so to who sends it") {
  const OneShotServer nobody([](int) {});
  nobody.stop_listening();
  FlyingTo flying(nobody.port());
  flying.has_no_memory = true;
  CHECK_THROWS_AS(flying.fly(kFlownNotification), std::bad_alloc);
  CHECK(flying.came().empty());
}

TEST_CASE("an answer that is longer than a message may be becomes an error, however it comes") {
  const std::string too_long = R"({"jsonrpc":"2.0","id":1,"result":")" + std::string(kLongestMessage, 'x') + "\"}";
  FlyingToServer plain(answering(too_long));
  plain.client.fly(flown_request(1));
  CHECK_THAT(plain.client.complaint(), has_text(kTooLong));
  FlyingToServer of_events(answering("data: " + too_long + "\n\n", "text/event-stream"));
  of_events.client.fly(flown_request(1));
  CHECK_THAT(of_events.client.complaint(), has_text(kTooLong));
}

TEST_CASE("of what is stopped nothing comes any more, and it ends") {
  std::optional<FlyingToServer> flying;
  flying.emplace([&flying](const auto&, auto& response) { flying->server.send_until_closed(response, ""); });
  const auto flight = flying->client.prepare(flown_request(1).dump());
  std::atomic<bool> has_ended = false;
  const auto running = std::async(std::launch::async, [&] {
    flight->run();
    has_ended = true;
  });
  flying->server.asked(1);
  while (!has_ended) flight->stop();
  running.wait();
  CHECK(flying->client.came().empty());
  CHECK(flying->client.loss().empty());
  CHECK(flying->client.settled == 0);
  CHECK(flight->take_reusable_trip() == nullptr);
}
