// What the commands for people ask a server over HTTP, of one that answers what the test has written.
#include "cli/people/server_link.hpp"

#include "client/connection.hpp"
#include "runtime/client/one_shot_server.hpp"
#include "server/cli/link_bench.hpp"
#include "support/catch.hpp"
#include "support/web_server.hpp"
#include "version.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/socket.h>

namespace rkllm_mcp::test {
namespace {

using LinkTexts = std::vector<std::string>;

std::string json_answer(const std::string& body, const std::string& status = "200 OK") {
  return web_answer(body, "application/json", "", status);
}

bool link_is_never_stopped() { return false; }

// How a link's question ends that the server refuses.
ServerRefuses link_refusal(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const ServerRefuses& refusal) {
    return refusal;
  }
  throw std::logic_error("it was not refused");
}
ServerRefuses refusal_of_get(const std::string& answer) {
  const LinkBench bench(answer);
  return link_refusal([&] { bench.link().get("/x"); });
}
// The words with which a question fails that has no right answer.
std::string link_complaint(const std::function<void()>& ask) {
  try {
    ask();
  } catch (const client::ConnectionError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("not as it is promised: ") + error.what();
  }
  throw std::logic_error("it has not failed");
}
std::string complaint_of_health(const Json& health) {
  const LinkBench bench(json_answer(health.dump()));
  return link_complaint([&] { bench.link().health(); });
}

}  // namespace

TEST_CASE("a link gets JSON with the access token, and what is none is no server of ours") {
  const LinkBench bench(json_answer(R"({"a": [1]})"));
  CHECK(bench.link("secret").get("/v1/models") == Json{{"a", {1}}});
  CHECK_THAT(bench.head(), has_text("GET /v1/models HTTP/1.1\r\n") && has_text("Authorization: Bearer secret\r\n"));
  CHECK_THAT(bench.head(), has_text("Accept: application/json\r\n"));

  const LinkBench other(web_answer("<html>"));
  CHECK(link_complaint([&] { other.link().get("/x"); }) == other.url() + "/x is no JSON: is this an rkllm-mcp server?");
}

TEST_CASE("why a server refuses is told in its own words, in whichever form it has them") {
  const auto refusal = refusal_of_get(json_answer(R"({"error": {"message": "no such model"}})", "404 Not Found"));
  CHECK(refusal.status() == 404);
  CHECK(refusal.code() == 0);
  CHECK(refusal.what() == std::string("no such model"));
  CHECK(refusal_of_get(json_answer(R"({"error": "as Ollama says it"})", "400 Bad Request")).what() ==
        std::string("as Ollama says it"));
  CHECK(refusal_of_get(
            json_answer(R"({"error": {"message": "init failed", "data": {"log": ["a", "E x: no room"]}}})", "500 No"))
            .what() == std::string("init failed; the runtime's last word: E x: no room"));
}

TEST_CASE("a refusal without words of the server's is told by its status, and by the beginning of what it says") {
  CHECK(refusal_of_get(web_answer("", "text/plain", "", "404 Not Found")).what() ==
        std::string("this server has nothing at that address"));
  CHECK(refusal_of_get(web_answer("", "text/plain", "", "503 No")).what() == std::string("HTTP status 503"));
  CHECK(refusal_of_get(web_answer("  busy\n", "text/plain", "", "503 No")).what() ==
        std::string("HTTP status 503: busy"));
  CHECK(refusal_of_get(web_answer(std::string(300, 'x'), "text/plain", "", "503 No")).what() ==
        "HTTP status 503: " + std::string(200, 'x'));
  CHECK(refusal_of_get(json_answer(R"({"error": {"message": 5}})", "503 No")).what() ==
        std::string(R"(HTTP status 503: {"error": {"message": 5}})"));
  CHECK_THAT(refusal_of_get(json_answer(R"({"error": "no"})", "401 Unauthorized")).what(),
             has_text("an access token is needed: --token"));
}

TEST_CASE("an access token that is refused is told apart from none, in the server's words where it has some") {
  const LinkBench silent(web_answer("", "text/plain", "", "401 Unauthorized"));
  CHECK(link_refusal([&] { silent.link("wrong").get("/x"); }).what() ==
        std::string("the server refuses the access token, which comes from --token, or RKLLM_MCP_TOKEN in the "
                    "environment"));
  const LinkBench speaking(json_answer(
      R"({"error": {"code": 4007, "message": "unauthorized: later", "data": {"reason": "later"}}})", "401 No"));
  CHECK_THAT(link_refusal([&] { speaking.link("wrong").call("x", Json::object()); }).what(),
             has_text("refuses the access token") && has_text("environment: later"));
  CHECK_THAT(link_refusal([&] { speaking.link().call("x", Json::object()); }).what(),
             has_text("an access token is needed") && !has_text("later"));
  for (const char* const body : {R"({"error": "too many"})", R"({"error": {"message": "too many"}})"}) {
    const LinkBench chat(json_answer(body, "401 Unauthorized"));
    CHECK_THAT(link_refusal([&] { chat.link("wrong").get("/x"); }).what(), has_text("environment: too many"));
  }
}

TEST_CASE("a server's health is what it tells whoever may know, and else what is missing is said") {
  const LinkBench well(json_answer(R"({"status": "ok", "models": []})"));
  CHECK(well.link().health()["status"] == "ok");

  const LinkBench closed(json_answer(R"({"status": "ok"})"));
  auto refusal = link_refusal([&] { closed.link().health(); });
  CHECK(refusal.status() == 401);
  CHECK_THAT(refusal.what(), has_text("the server is ok; to see more, an access token is needed"));
  refusal = link_refusal([&] { closed.link("wrong").health(); });
  CHECK_THAT(refusal.what(), has_text("the server refuses the access token, which comes from --token") &&
                                 has_text("; without one it says that it is ok"));

  CHECK_THAT(complaint_of_health(Json{{"status", "ok"}, {"version", kProgramVersion}}), has_text("only services"));
  CHECK_THAT(complaint_of_health(Json{{"status", "ok"}, {"version", "0.0.1"}}), has_text("of an older version"));
}

TEST_CASE("what no server of ours says of its health is told as that, whatever it is") {
  for (const Json& health :
       {Json::array(), Json("ok"), Json(nullptr), Json{{"status", 5}}, Json{{"status", "ok"}, {"version", 5}}}) {
    INFO(health);
    CHECK_THAT(complaint_of_health(health), has_text("is this an rkllm-mcp server?"));
  }
}

TEST_CASE("a call by a link is one of JSON-RPC, with its result or with its error's code and words") {
  const LinkBench bench(json_answer(R"({"jsonrpc": "2.0", "id": 1, "result": null})"));
  CHECK(bench.link().call("rkllm_is_running", Json{{"handle", "7"}}) == nullptr);
  CHECK_THAT(bench.head(), has_text("POST /jsonrpc HTTP/1.1\r\n"));
  CHECK(Json::parse(bench.body()) == Json::parse(R"({"jsonrpc": "2.0", "id": 1, "method": "rkllm_is_running",
                                                     "params": {"handle": "7"}})"));
  const auto refusal_of_call = [](const std::string& answer) {
    const LinkBench server(answer);
    return link_refusal([&] { server.link().call("x", Json::object()); });
  };
  auto refusal = refusal_of_call(json_answer(R"({"id": 1, "error": {"code": 4002, "message": "no handle 7"}})"));
  CHECK(refusal.status() == 200);
  CHECK(refusal.code() == 4002);
  CHECK(refusal.what() == std::string("no handle 7"));
  refusal = refusal_of_call(json_answer(R"({"error": {"code": "4002"}})", "500 No"));
  CHECK(refusal.status() == 500);
  CHECK(refusal.code() == 0);
  for (const std::string answer : {"[]", "no JSON", "", R"({"error": "busy"})"}) {
    CHECK(refusal_of_call(json_answer(answer)).code() == 0);
  }
}

TEST_CASE("a resource is the JSON of its first text, and what is none is no server of ours") {
  const auto server = [](const Json& result) {
    return std::make_unique<LinkBench>(json_answer(Json{{"id", 1}, {"result", result}}.dump()));
  };
  const auto good = server(Json{{"contents", {{{"text", R"({"a": 1})"}}}}});
  CHECK(good->link().resource("rkllm://settings") == Json{{"a", 1}});
  CHECK(Json::parse(good->body())["params"] == Json{{"uri", "rkllm://settings"}});
  for (const Json& result :
       {Json::object(), Json::array(), Json("x"), Json{{"contents", Json::array()}},
        Json{{"contents", {{"text", "1"}}}}, Json{{"contents", {1}}}, Json{{"contents", {{{"text", 5}}}}},
        Json{{"contents", {{{"text", "no JSON"}}}}}, Json{{"contents", {{{"blob", "AAAA"}}}}}}) {
    INFO(result);
    const auto bad = server(result);
    CHECK(link_complaint([&] { bad->link().resource("x:y"); }) ==
          bad->url() + ": x:y is no JSON: is this an rkllm-mcp server?");
  }
}

TEST_CASE("what is sent by a link is answered with JSON or with nothing") {
  const LinkBench empty(json_answer(""));
  CHECK(empty.link().send("DELETE", "/api/delete", Json{{"model", "a"}}) == nullptr);
  CHECK_THAT(empty.head(), has_text("DELETE /api/delete HTTP/1.1\r\n"));
  CHECK(Json::parse(empty.body()) == Json{{"model", "a"}});
  const LinkBench full(json_answer("[1]"));
  CHECK(full.link().send("POST", "/x", Json::object()) == Json{1});
  const LinkBench wrong(json_answer("[1"));
  CHECK_THAT(link_complaint([&] { wrong.link().send("POST", "/x", Json::object()); }), has_text("/x is no JSON"));
  const LinkBench no(json_answer(R"({"error": "no"})", "409 Conflict"));
  CHECK(link_refusal([&] { no.link().send("POST", "/x", Json::object()); }).status() == 409);
}

TEST_CASE("a stream's events are handed over as they come, and one that has no end at the answer's end is none") {
  const std::string events = "data: one\n\ndata: two\ndata: lines\n\ndata: open";
  LinkTexts told;
  const LinkBench bench(web_answer(events, "text/event-stream"));
  // A text of somebody's terminal need not be UTF-8.
  CHECK(bench.link().stream(
      "/v1/x", Json{{"q", "\xff"}}, [&](const std::string& data) { told.push_back(data); }, link_is_never_stopped));
  CHECK(told == LinkTexts{"one", "two\nlines"});
  CHECK_THAT(bench.head(), has_text("POST /v1/x HTTP/1.1\r\n") && has_text("Accept: text/event-stream\r\n"));
  CHECK(Json::parse(bench.body()) == Json{{"q", "\xEF\xBF\xBD"}});
}

TEST_CASE("the lines of an answer are handed over as they come, also the last one, which need not have an end") {
  const auto lines_of = [](const std::string& answer) {
    const LinkBench bench(web_answer(answer, "application/x-ndjson"));
    LinkTexts told;
    CHECK(bench.link().lines(
        "/x", Json::object(), [&](const std::string& line) { told.push_back(line); }, link_is_never_stopped));
    return told;
  };
  CHECK(lines_of("one\n\ntwo\n") == LinkTexts{"one", "", "two"});
  CHECK(lines_of("one\ntwo") == LinkTexts{"one", "two"});
  CHECK(lines_of("").empty());
}

TEST_CASE("what a refused stream says is its refusal, and no event or line of it") {
  const LinkBench words(json_answer("{\"error\": \"no such model\"}\n\n", "404 Not Found"));
  const auto must_not = [](const std::string&) { FAIL("nothing of it is told"); };
  auto refusal = link_refusal([&] { words.link().lines("/x", Json::object(), must_not, link_is_never_stopped); });
  CHECK(refusal.status() == 404);
  CHECK(refusal.what() == std::string("no such model"));
  refusal = link_refusal([&] { words.link().stream("/x", Json::object(), must_not, link_is_never_stopped); });
  CHECK(refusal.what() == std::string("no such model"));
}

TEST_CASE("a stream ends when it is to stop, though its server says nothing, and what has come was told") {
  const LinkBench bench([](WebServer::Socket& socket) {
    WebServer::send(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: one\n\n");
    WebServer::await_end(socket);
  });
  std::atomic<bool> is_told{false};
  LinkTexts told;
  CHECK_FALSE(bench.link().stream(
      "/x", Json::object(),
      [&](const std::string& data) {
        told.push_back(data);
        is_told = true;
      },
      [&] { return is_told.load(); }));
  CHECK(told == LinkTexts{"one"});
}

TEST_CASE("what is thrown where an event is taken comes out of the stream that it came with") {
  const LinkBench bench(web_answer("data: one\n\ndata: two\n\n", "text/event-stream"));
  int told = 0;
  const auto take = [&](const std::string&) {
    ++told;
    throw std::domain_error("the listener's own");
  };
  CHECK_THROWS_AS(bench.link().stream("/x", Json::object(), take, link_is_never_stopped), std::domain_error);
  CHECK(told == 1);
}

TEST_CASE("an answer that breaks off is no whole one, and where nobody is nobody is reached") {
  const LinkBench bench("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\ndata: one\n\n");
  CHECK_THAT(link_complaint([&] { bench.link().get("/x"); }),
             has_text(bench.url()) && has_text("is that the HTTP port of an rkllm-mcp server?"));
  LinkTexts told;
  const auto take = [&](const std::string& data) { told.push_back(data); };
  CHECK_THAT(link_complaint([&] { bench.link().stream("/x", Json::object(), take, link_is_never_stopped); }),
             has_text("rkllm-mcp settings --settings "));
  CHECK(told == LinkTexts{"one"});

  std::string gone;
  {
    const WebServer web("");
    gone = web.url("");
  }
  CHECK_THROWS_AS(bench.link_to(gone).get("/x"), client::Unreachable);
}

TEST_CASE("a link knows its server by its address alone, and whether that is the one of the settings") {
  const LinkBench bench("");
  const ServerLink other = bench.link_to("http://127.0.0.1:9001/some/path");
  CHECK(other.url() == "http://127.0.0.1:9001");
  CHECK(other.place().path == "/");
  CHECK_FALSE(other.is_of_settings());
  CHECK_THAT(other.where(), has_text("--to http://127.0.0.1:9001"));
  CHECK_THAT(other.settings_options(), has_text("--settings "));
  CHECK(bench.link_to("http://127.0.0.1:9000").is_of_settings());
  const ServerLink own = bench.link_to("");
  CHECK(own.url() == "http://127.0.0.1:9000");
  CHECK(own.is_of_settings());
  CHECK(own.settings().http.port == 9000);
}

TEST_CASE("whoever names another port of a server is told its HTTP port, by the server or else by the settings here") {
  const LinkBench bench("");
  const auto complaint = [&](const std::string& text) {
    const OneShotServer server([text](int client) {
      char bytes[1000];
      ::recv(client, bytes, sizeof bytes, 0);  // the request
      const Json answer{{"id", 1}, {"result", {{"contents", {{{"text", text}}}}}}};
      OneShotServer::send(client, answer.dump() + "\n");
    });
    const std::string to = "tcp://127.0.0.1:" + std::to_string(server.port());
    try {
      bench.link_to(to);
    } catch (const std::invalid_argument& error) {
      CHECK_THAT(error.what(), has_text(to + " is not the server's HTTP port, which this command needs: "));
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  const auto settings = [](bool enabled, bool tls, const Json& port) {
    return Json{
        {"values",
         {{"http.enabled", {{"value", enabled}}}, {"http.tls", {{"value", tls}}}, {"http.port", {{"value", port}}}}}}
        .dump();
  };
  CHECK_THAT(complaint(settings(true, false, 8123)), has_text("needs: --to http://127.0.0.1:8123"));
  CHECK_THAT(complaint(settings(true, true, 8123)), has_text("needs: --to https://127.0.0.1:8123"));
  for (const std::string& text :
       {settings(false, false, 8123), settings(true, false, 0), settings(true, false, "x"), std::string("no JSON")}) {
    CHECK_THAT(complaint(text), has_text("by the settings of this machine --to http://127.0.0.1:9000"));
  }
}

}  // namespace rkllm_mcp::test
