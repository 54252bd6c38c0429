// Who hears of what: changed lists and resources, log messages, tasks.
#include "mcp/protocol/agreed_names.hpp"
#include "runtime/fake_client.hpp"
#include "support/catch.hpp"

#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

void begin_session(Client& client) {
  client.say(call("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
  client.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  client.peer->sent.clear();
}

Texts listen(Client& client, const std::string& id, Json filter) {
  return client.say(call(id, "subscriptions/listen", stateless({{"notifications", std::move(filter)}})));
}

const Json kTasks{{"extensions", {{mcp::kTasksExtension, Json::object()}}}};

}  // namespace

TEST_CASE("a session hears of changed lists, and of the resources that it has subscribed to") {
  Client client;
  client.dispatcher.mcp().announce(mcp::Listed::kTools);
  CHECK(client.news().empty());
  begin_session(client);
  client.dispatcher.mcp().announce(mcp::Listed::kTools);
  CHECK(client.peer->sent == Texts{R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"});
  client.say(call("1", "resources/subscribe", R"({"uri":"a://1"})"));
  client.peer->sent.clear();
  client.dispatcher.mcp().resource_updated("a://2");
  CHECK(client.peer->sent.empty());
  client.dispatcher.mcp().resource_updated("a://1");
  CHECK(client.peer->sent ==
        Texts{R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://1"}})"});
  client.say(call("2", "resources/unsubscribe", R"({"uri":"a://1"})"));
  client.peer->sent.clear();
  client.dispatcher.mcp().resource_updated("a://1");
  CHECK(client.peer->sent.empty());
}

TEST_CASE("who has closed its connection watches nothing more, also while one of its calls takes its time to stop") {
  Client client;
  begin_session(client);
  client.say(call("1", "resources/subscribe", R"({"uri":"a://1"})"));
  client.say(call("2", "tools/call", R"({"name":"run","arguments":{"handle":"a","prompt":"b"}})"));
  REQUIRE(client.backend.calls.size() == 1);
  CHECK(client.dispatcher.mcp().is_watched("a://"));
  client.peer->close();
  client.settle();
  CHECK(client.backend.cancelled.size() == 1);
  CHECK_FALSE(client.dispatcher.mcp().is_watched("a://"));
}

TEST_CASE("who listens is told what is honoured, then only what was asked for, each with the id of the request") {
  Client client;
  const Json acknowledged =
      only(listen(client, "\"l\"", {{"promptsListChanged", true}, {"resourceSubscriptions", {"a://1"}}}));
  CHECK(acknowledged["method"] == "notifications/subscriptions/acknowledged");
  CHECK(acknowledged["params"]["notifications"] ==
        Json{{"promptsListChanged", true}, {"resourceSubscriptions", {"a://1"}}});
  CHECK(acknowledged["params"]["_meta"][mcp::kMetaSubscription] == "l");

  client.peer->sent.clear();
  client.dispatcher.mcp().announce(mcp::Listed::kTools);
  CHECK(client.peer->sent.empty());
  client.dispatcher.mcp().announce(mcp::Listed::kPrompts);
  const Json told = only(client.peer->sent);
  CHECK(told["method"] == "notifications/prompts/list_changed");
  CHECK(told["params"]["_meta"][mcp::kMetaSubscription] == "l");
  client.peer->sent.clear();
  client.dispatcher.mcp().resource_updated("a://1");
  CHECK(only(client.peer->sent)["params"]["uri"] == "a://1");

  // Cancelled: never answered, and nothing more is told.
  CHECK(client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"l"}})").empty());
  client.dispatcher.mcp().announce(mcp::Listed::kPrompts);
  client.dispatcher.mcp().resource_updated("a://1");
  CHECK(client.news().empty());
}

TEST_CASE("a session that has not said that it is ready hears of what it subscribes to all the same, and once") {
  Client client;
  client.say(call("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
  client.say(call("1", "resources/subscribe", R"({"uri":"a://1"})"));
  client.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  client.say(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  client.peer->sent.clear();
  client.dispatcher.mcp().resource_updated("a://1");
  CHECK(client.peer->sent.size() == 1);
}

TEST_CASE("nobody listens once the server is ending") {
  Client client;
  client.dispatcher.mcp().end();
  CHECK(only(listen(client, "1", {{"toolsListChanged", true}}))["error"]["code"] == -32603);
}

TEST_CASE("what becomes of a task is told to whom it belongs, and only if that knows of tasks") {
  Client client;
  client.catalogue.offers_tasks = true;
  const Json begun = only(client.say(call("1", "tools/call", stateless({{"name", "run"}}, kTasks))))["result"];
  const Json filter{{"notifications", {{"taskIds", {begun["taskId"]}}}}};
  const Json unknowing = only(client.say(call("2", "subscriptions/listen", stateless(filter))));
  CHECK(unknowing["params"]["notifications"] == Json::object());
  CHECK(only(client.say(call("3", "subscriptions/listen", stateless(filter, kTasks))))["params"]["notifications"] ==
        Json{{"taskIds", {begun["taskId"]}}});
  client.backend.finish(0);
  const Json told = only(client.news());
  CHECK(told["method"] == "notifications/tasks");
  CHECK(told["params"]["status"] == "completed");
  CHECK(told["params"]["_meta"][mcp::kMetaSubscription] == 3);
}

TEST_CASE("a server that ends answers those who listen") {
  Client client;
  listen(client, "7", {{"toolsListChanged", true}});
  client.peer->sent.clear();
  client.dispatcher.mcp().end();
  const Json answer = only(client.peer->sent);
  CHECK(answer["id"] == 7);
  CHECK(answer["result"]["resultType"] == "complete");
  CHECK(answer["result"]["_meta"][mcp::kMetaSubscription] == 7);
}

TEST_CASE("a filter of the wrong form is refused with its path") {
  Client client;
  const auto path = [&](Json filter) { return only(listen(client, "1", std::move(filter)))["error"]["data"]["path"]; };
  CHECK(path(3) == "params.notifications");
  CHECK(path({{"toolsListChanged", "yes"}}) == "params.notifications.toolsListChanged");
  CHECK(path({{"resourceSubscriptions", {1}}}) == "params.notifications.resourceSubscriptions");
}

TEST_CASE("log messages come to sessions from the level that they have set, and to requests that ask for them") {
  Client client;
  begin_session(client);
  client.dispatcher.mcp().log(mcp::Severity::kError, "runtime", "one");
  CHECK(client.peer->sent.empty());
  client.say(call("1", "logging/setLevel", R"({"level":"warning"})"));
  client.peer->sent.clear();
  client.dispatcher.mcp().log(mcp::Severity::kInfo, "runtime", "two");
  CHECK(client.peer->sent.empty());
  client.dispatcher.mcp().log(mcp::Severity::kError, "runtime", "three");
  CHECK(only(client.peer->sent)["params"] == Json{{"level", "error"}, {"logger", "runtime"}, {"data", "three"}});

  Client other;
  Json params{{"name", "plain"}, {"_meta", {{mcp::kMetaLogLevel, "info"}}}};
  CHECK(other.say(call("1", "tools/call", stateless(params))).empty());
  other.dispatcher.mcp().log(mcp::Severity::kDebug, "runtime", "four");
  CHECK(other.peer->sent.empty());
  other.dispatcher.mcp().log(mcp::Severity::kInfo, "runtime", "five");
  CHECK(only(other.peer->sent)["params"]["data"] == "five");
  other.backend.finish(0);
  other.news();
  other.dispatcher.mcp().log(mcp::Severity::kInfo, "runtime", "six");
  CHECK(other.news().empty());
  params["_meta"][mcp::kMetaLogLevel] = "loud";
  CHECK(only(other.say(call("2", "tools/call", stateless(params))))["error"]["code"] == -32602);
}

TEST_CASE("log messages are dropped while a client does not read") {
  Client client;
  begin_session(client);
  client.say(call("1", "logging/setLevel", R"({"level":"debug"})"));
  const Json params{{"name", "plain"}, {"_meta", {{mcp::kMetaLogLevel, "info"}}}};
  client.say(call("2", "tools/call", stateless(params)));
  client.peer->sent.clear();
  client.peer->takes = false;
  client.dispatcher.mcp().log(mcp::Severity::kError, "runtime", "dropped");
  CHECK(client.peer->sent.empty());
  client.peer->take_again();
  client.dispatcher.mcp().log(mcp::Severity::kError, "runtime", "told");
  CHECK(client.peer->sent.size() == 2);  // to the session, and to the request
}

TEST_CASE("a run becomes a task for who knows of tasks and does not want to follow it") {
  Client client;
  client.catalogue.offers_tasks = true;
  const Json begun = only(client.say(call("1", "tools/call", stateless({{"name", "run"}}, kTasks))))["result"];
  CHECK(begun["resultType"] == "task");
  CHECK(begun["status"] == "working");
  const Json which{{"taskId", begun["taskId"]}};
  const auto state = [&] { return only(client.say(call("2", "tasks/get", stateless(which, kTasks))))["result"]; };
  CHECK(state()["status"] == "working");
  client.backend.calls[0].observer->on_token(0, "Hello", 1);
  client.settle();
  CHECK(state()["statusMessage"].is_string());
  client.backend.finish(0);
  client.settle();
  CHECK(state()["status"] == "completed");
  CHECK(state()["result"]["content"][0]["text"] == "Hello");
  CHECK(state()["result"]["resultType"] == "complete");

  // Others wait for their answer.
  CHECK(client.say(call("3", "tools/call", stateless({{"name", "run"}}))).empty());
  const Json followed{{"name", "run"}, {"_meta", {{"progressToken", 1}}}};
  CHECK(only(client.say(call("4", "tools/call", stateless(followed, kTasks))))["method"] == "notifications/progress");
  CHECK(client.say(call("5", "tools/call", stateless({{"name", "plain"}}, kTasks))).empty());
}

TEST_CASE("a task is cancelled by its id, and is nobody else's") {
  Client client;
  client.catalogue.offers_tasks = true;
  const Json begun = only(client.say(call("1", "tools/call", stateless({{"name", "run"}}, kTasks))))["result"];
  const Json which{{"taskId", begun["taskId"]}};
  CHECK(only(client.say(call("2", "tasks/cancel", stateless(which, kTasks))))["result"]["resultType"] == "complete");
  CHECK(client.backend.cancelled.size() == 1);
  client.backend.fail(0, cancelled());
  client.settle();
  CHECK(only(client.say(call("3", "tasks/get", stateless(which, kTasks))))["result"]["status"] == "cancelled");
  CHECK(only(client.say(call("4", "tasks/cancel", stateless(which, kTasks))))["result"]["resultType"] == "complete");
  CHECK(only(client.say(call("5", "tasks/get", stateless({{"taskId", "x"}}, kTasks))))["error"]["code"] == -32602);
  CHECK(only(client.say(call("6", "tasks/get", stateless(which))))["error"]["code"] == -32021);
}

TEST_CASE("a task outlives the connection that began it") {
  Client client;
  client.catalogue.offers_tasks = true;
  const Json begun = only(client.say(call("1", "tools/call", stateless({{"name", "run"}}, kTasks))))["result"];
  client.peer->close();
  client.settle();
  CHECK(client.backend.cancelled.empty());
  const auto other = std::make_shared<FakePeer>();
  const auto receive = client.dispatcher.acceptor()(*other);
  receive(std::string_view(call("1", "tasks/get", stateless({{"taskId", begun["taskId"]}}, kTasks))));
  CHECK(only(other->sent)["result"]["status"] == "working");
  client.backend.finish(0);
  client.settle();
  other->close();
}
