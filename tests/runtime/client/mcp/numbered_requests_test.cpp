#include "client/mcp/numbered_requests.hpp"

#include "runtime/client/scripted_connection.hpp"
#include "support/catch.hpp"
#include "support/no_more_threads.hpp"

#include <cstddef>
#include <future>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

using namespace rkllm_mcp::client;
using rkllm_mcp::Clock;
using rkllm_mcp::Json;
using rkllm_mcp::test::has_text;
using rkllm_mcp::test::NoMoreThreads;
using rkllm_mcp::test::Script;
using rkllm_mcp::test::ScriptedConnection;
using namespace std::chrono_literals;

namespace {

constexpr auto kRequestPatience = 60s;

std::unique_ptr<Connection> connected(Script& script) { return std::make_unique<ScriptedConnection>(script); }

// The end of a request, waited for.
class EndOfRequest {
 public:
  NumberedRequests::Callbacks callbacks() {
    return {.on_end = [this](Outcome outcome) { promise_.set_value(std::move(outcome)); }};
  }
  Outcome outcome() {
    if (end_.wait_for(kRequestPatience) != std::future_status::ready) throw std::runtime_error("no end");
    return end_.get();
  }

 private:
  std::promise<Outcome> promise_;
  std::future<Outcome> end_ = promise_.get_future();
};

// A connection that some messages do not fit on, those with "long" in them, and for some there is no memory, those with
// "huge" in them, whoever sends them.
class NarrowConnection final : public Connection {
 public:
  explicit NarrowConnection(Script& script) : wide_(script) {}

  void send(std::string_view message) override {
    if (message.find("long") != std::string_view::npos) throw std::invalid_argument("too long for a datagram");
    if (message.find("huge") != std::string_view::npos) throw std::bad_alloc();
    wide_.send(message);
  }
  std::optional<std::string> receive(Clock::time_point deadline) override {
    auto message = wide_.receive(deadline);
    if (message && message->find("huge") != std::string::npos) throw std::bad_alloc();
    return message;
  }
  void interrupt() override { wide_.interrupt(); }

 private:
  ScriptedConnection wide_;
};

}  // namespace

TEST_CASE("requests are numbered, have their parameters, and their answers are what the server has said") {
  Script script;
  NumberedRequests requests(connected(script), {});
  EndOfRequest first;
  EndOfRequest second;
  const auto one = requests.request("a", {{"x", 1}}, first.callbacks());
  const auto two = requests.request("b", Json::object(), second.callbacks());
  CHECK(one != two);
  CHECK(Json::parse(script.sent(2)[0]) ==
        Json{{"jsonrpc", "2.0"}, {"id", one}, {"method", "a"}, {"params", {{"x", 1}}}});
  script.inbox.put(Json::array({{{"id", two}, {"result", 2}}, {{"id", one}, {"result", nullptr}}}).dump());
  CHECK(std::get<Json>(first.outcome()) == nullptr);
  CHECK(std::get<Json>(second.outcome()) == 2);
}

TEST_CASE("an answer that nobody waits for is passed over") {
  Script script;
  NumberedRequests requests(connected(script), {});
  EndOfRequest ending;
  const auto id = requests.request("a", Json::object(), ending.callbacks());
  script.result({{"id", id + 1}}, "another's");
  script.result({{"id", std::to_string(id)}}, "a text's");
  script.result({{"id", id}}, "own");
  script.result({{"id", id}}, "twice");
  CHECK(std::get<Json>(ending.outcome()) == "own");
  CHECK(requests.call("b", Json::object(), 1ms) == std::nullopt);  // the second answer has harmed nobody
}

TEST_CASE("a malformed error is an error all the same") {
  Script script;
  NumberedRequests requests(connected(script), {});
  const auto error_for = [&](const Json& error) {
    EndOfRequest ending;
    const auto id = requests.request("a", Json::object(), ending.callbacks());
    script.say({{"id", id}, {"error", error}});
    return std::get<RemoteError>(ending.outcome());
  };
  CHECK(error_for("no").code == kInternalError);
  CHECK_THAT(error_for("no").message, has_text("malformed"));
  CHECK(error_for("no").data == "no");
  CHECK(error_for({{"code", 4004}}).code == 4004);
  CHECK(error_for({{"code", 4004}}).message == R"({"code":4004})");
  CHECK(error_for({{"code", "4004"}, {"message", "text"}}).code == kInternalError);
  CHECK(error_for({{"code", -1}, {"message", 5}}).code == -1);
  CHECK(error_for({{"code", 1}, {"message", "m"}, {"data", {1, 2}}}).data == Json{1, 2});
  CHECK_FALSE(error_for({{"code", 1}}).is_lost);
}

TEST_CASE("what the server asks may be taken, and answered later, also with an error") {
  Script script;
  std::promise<void> asked;
  std::vector<std::string> taken;
  NumberedRequests requests(connected(script),
                            {.on_request = [&](const Json& id, const std::string& method, const Json& params) {
                              taken.push_back(id.dump() + " " + method + " " + params.dump());
                              if (taken.size() == 2) asked.set_value();
                              return method != "other";
                            }});
  script.say({{"id", "q"}, {"method", "roots/list"}, {"params", {{"x", 1}}}});
  script.say({{"id", 8}, {"method", "other"}});
  REQUIRE(asked.get_future().wait_for(kRequestPatience) == std::future_status::ready);
  CHECK(taken == std::vector<std::string>{R"("q" roots/list {"x":1})", "8 other null"});
  CHECK(Json::parse(script.sent(1)[0])["error"]["code"] == kMethodNotFound);  // of the one that nobody has taken
  requests.respond("q", Json{{"roots", Json::array()}});
  requests.respond("r", RemoteError{-32000, "no", nullptr});
  requests.respond("s", RemoteError{-32000, "no", {{"why", 1}}});
  const auto sent = script.sent(4);
  CHECK(Json::parse(sent[1]) == Json{{"jsonrpc", "2.0"}, {"id", "q"}, {"result", {{"roots", Json::array()}}}});
  CHECK(Json::parse(sent[2])["error"] == Json{{"code", -32000}, {"message", "no"}});
  CHECK(Json::parse(sent[3])["error"]["data"] == Json{{"why", 1}});
}

TEST_CASE("a request of the server whose id can be no id is passed over") {
  Script script;
  bool is_asked = false;
  NumberedRequests requests(connected(script), {.on_request = [&](const Json&, const std::string&, const Json&) {
                              is_asked = true;
                              return false;
                            }});
  for (const Json& id : {Json(nullptr), Json(true), Json::array(), Json::object()}) {
    script.say({{"id", id}, {"method", "roots/list"}});
  }
  script.say({{"id", "p"}, {"method", "ping"}});
  CHECK(Json::parse(script.sent(1)[0])["id"] == "p");
  CHECK_FALSE(is_asked);
}

TEST_CASE("a message that does not fit on the connection is refused, and the others go on") {
  Script script;
  NumberedRequests requests(std::make_unique<NarrowConnection>(script), {});
  bool has_ended = false;
  CHECK_THROWS_AS(requests.request("long", Json::object(), {.on_end = [&](const Outcome&) { has_ended = true; }}),
                  std::invalid_argument);
  requests.respond("long", Json::object());
  script.say({{"id", "p"}, {"method", "ping"}});
  CHECK(Json::parse(script.sent(1)[0])["id"] == "p");
  script.inbox.fail("the end");
  CHECK_THROWS_AS(requests.call("a", Json::object(), kRequestPatience), ConnectionError);
  CHECK_FALSE(has_ended);
}

TEST_CASE("a request may be made and cancelled from a callback") {
  Script script;
  NumberedRequests* made = nullptr;
  std::promise<void> done;
  NumberedRequests requests(connected(script), {.on_notification = [&](const std::string&, const Json&) {
                              made->cancel(made->request("a", Json::object(), {.on_end = [](const Outcome&) {}}), {});
                              done.set_value();
                            }});
  made = &requests;
  script.say({{"method", "notifications/x"}});
  REQUIRE(done.get_future().wait_for(kRequestPatience) == std::future_status::ready);
  const auto sent = script.sent(2);
  CHECK(Json::parse(sent[1])["method"] == "notifications/cancelled");
  CHECK_FALSE(Json::parse(sent[1])["params"].contains("reason"));
}

TEST_CASE("whoever waits for an answer is told what kind of loss it was") {
  Script script;
  NumberedRequests requests(connected(script), {});
  auto answer = std::async(std::launch::async, [&requests] {
    return requests.call("a", Json::object(), std::chrono::duration_cast<std::chrono::milliseconds>(kRequestPatience));
  });
  script.sent(1);
  script.inbox.fail(Loss(UntrustedServer("its certificate has expired")));
  CHECK_THROWS_AS(answer.get(), UntrustedServer);
}

TEST_CASE("where a thread cannot be started there is no client, and the thread that there is ends") {
  const std::size_t left = GENERATE(0U, 1U);
  Script script;
  const NoMoreThreads none(left);
  CHECK_THROWS_AS(NumberedRequests(connected(script), {}), std::system_error);
}

TEST_CASE("what there is no memory to send is not asked, and nobody hears of its end") {
  Script script;
  std::promise<void> lost;
  NumberedRequests requests(std::make_unique<NarrowConnection>(script),
                            {.on_lost = [&lost](const std::string&) { lost.set_value(); }});
  bool has_ended = false;
  CHECK_THROWS_AS(requests.request("huge", Json::object(), {.on_end = [&](const Outcome&) { has_ended = true; }}),
                  std::bad_alloc);
  EndOfRequest other;
  const auto id = requests.request("a", Json::object(), other.callbacks());
  script.result({{"id", id}}, "own");
  CHECK(std::get<Json>(other.outcome()) == "own");
  script.inbox.fail("the end");
  REQUIRE(lost.get_future().wait_for(kRequestPatience) == std::future_status::ready);
  CHECK_FALSE(has_ended);
}

TEST_CASE("what there is no memory to take ends the connection, and nothing else") {
  Script script;
  std::promise<std::string> lost;
  NumberedRequests requests(std::make_unique<NarrowConnection>(script),
                            {.on_lost = [&lost](const std::string& reason) { lost.set_value(reason); }});
  EndOfRequest ending;
  requests.request("a", Json::object(), ending.callbacks());
  SECTION("by the thread that reads") { script.result({{"id", 1}}, "huge"); }
  SECTION("by the thread that answers") { requests.respond("huge", Json::object()); }
  CHECK(std::get<RemoteError>(ending.outcome()).is_lost);
  auto reason = lost.get_future();
  REQUIRE(reason.wait_for(kRequestPatience) == std::future_status::ready);
  CHECK_FALSE(reason.get().empty());
}

TEST_CASE("a callback that fails ends the connection, and whoever else waits hears of it") {
  Script script;
  std::promise<void> lost;
  NumberedRequests requests(connected(script), {.on_lost = [&lost](const std::string&) { lost.set_value(); }});
  const NumberedRequests::Callbacks failing{.on_end = [](const Outcome&) { throw std::bad_alloc(); }};
  const auto first = requests.request("a", Json::object(), failing);
  requests.request("b", Json::object(), failing);
  EndOfRequest ending;
  requests.request("c", Json::object(), ending.callbacks());
  script.result({{"id", first}}, "own");
  CHECK(std::get<RemoteError>(ending.outcome()).is_lost);
  CHECK(lost.get_future().wait_for(kRequestPatience) == std::future_status::ready);
}

TEST_CASE("what the server has answered counts, also where it has closed the connection since") {
  Script script;
  NumberedRequests requests(connected(script), {});
  auto answer = std::async(std::launch::async, [&requests] {
    return requests.call("a", Json::object(), std::chrono::duration_cast<std::chrono::milliseconds>(kRequestPatience));
  });
  const Json id = Json::parse(script.sent(1)[0])["id"];
  script.say({{"id", id}, {"error", {{"code", 4007}, {"message", "an access token is required"}}}});
  script.inbox.fail("the server has closed the connection");
  const auto outcome = answer.get();
  REQUIRE(outcome);
  CHECK(std::get<RemoteError>(*outcome).code == 4007);
}
