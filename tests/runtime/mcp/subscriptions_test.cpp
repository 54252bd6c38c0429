#include "mcp/lists/subscriptions.hpp"

#include "auth/access_tokens.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/revisions.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A client with a session of its own.
struct Watcher {
  Watcher(const std::shared_ptr<RequestTable>& requests, const Principal* principal, PeerFacts facts = {})
      : peer(std::make_shared<FakePeer>(std::move(facts))), session(std::make_shared<Session>(requests)) {
    session->principal = principal;
  }

  // As its handshake leaves it.
  void shake_hands() {
    session->handshake = std::make_shared<mcp::Handshake>(mcp::Handshake{.revision = mcp::find_revision("2025-11-25")});
    session->handshake->outlet = peer;
    session->handshake->principal = session->principal;
  }
  std::shared_ptr<Reply> listen(mcp::Subscriptions& subscriptions, Json filter, const std::string& id = "1",
                                Json capabilities = Json::object()) {
    const auto reply = std::make_shared<Reply>(*peer, id);
    const mcp::ClientContext client{mcp::find_revision("2026-07-28"), std::move(capabilities), std::nullopt};
    subscriptions.listen({{"notifications", std::move(filter)}}, client, *session, *reply);
    return reply;
  }
  std::vector<Json> heard() {
    std::vector<Json> messages;
    for (const auto& text : std::exchange(peer->sent, {})) messages.push_back(Json::parse(text));
    return messages;
  }

  std::shared_ptr<FakePeer> peer;
  std::shared_ptr<Session> session;
};

struct Watched {
  Watcher watcher(const Principal* principal, PeerFacts facts = {}) { return {requests, principal, std::move(facts)}; }

  const Principal owner{"owner", true, true};
  const Principal other{"other", true, true};
  const Json knows_tasks{{"extensions", {{mcp::kTasksExtension, Json::object()}}}};
  std::shared_ptr<RequestTable> requests = std::make_shared<RequestTable>();
  std::optional<mcp::Subscriptions> subscriptions{Json{{"name", "fake"}, {"version", "1"}}};
};

ErrorCode refusal_of(Watcher& watcher, mcp::Subscriptions& subscriptions, const Json& filter, std::string& path) {
  try {
    watcher.listen(subscriptions, filter);
    return ErrorCode{};
  } catch (const RpcError& error) {
    path = error.data().is_object() ? error.data().value("path", "") : "";
    return error.code();
  }
}

}  // namespace

TEST_CASE("a change of a resource is told to those who may hear of it, of whichever era") {
  Watched watched;
  auto mine = watched.watcher(&watched.owner);
  auto others = watched.watcher(&watched.other);
  auto strangers = watched.watcher(nullptr);
  for (Watcher* const each : {&mine, &others, &strangers}) {
    each->shake_hands();
    each->session->handshake->resources.insert("a://1");
    watched.subscriptions->add(*each->session);
  }
  auto listening = watched.watcher(&watched.owner);
  auto others_listening = watched.watcher(&watched.other);
  auto strangers_listening = watched.watcher(nullptr);
  for (Watcher* const each : {&listening, &others_listening, &strangers_listening}) {
    each->listen(*watched.subscriptions, {{"resourceSubscriptions", {"a://1"}}});
    each->heard();
  }
  watched.subscriptions->resource_updated("a://1",
                                          [&](const Principal& principal) { return &principal == &watched.owner; });
  CHECK(mine.heard().size() == 1);
  CHECK(listening.heard().size() == 1);
  for (Watcher* const each : {&others, &strangers, &others_listening, &strangers_listening}) {
    CHECK(each->heard().empty());
  }
  watched.subscriptions->resource_updated("a://1");
  for (Watcher* const each : {&mine, &others, &strangers, &listening, &others_listening, &strangers_listening}) {
    CHECK(each->heard().size() == 1);
  }
}

TEST_CASE("one client may listen several times, and each time is told by its own id, as it was written or not") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner);
  watcher.listen(*watched.subscriptions, {{"toolsListChanged", true}, {"promptsListChanged", false}}, "7");
  watcher.listen(*watched.subscriptions, {{"toolsListChanged", true}, {"resourceSubscriptions", {"a://1"}}},
                 R"("\u006c")");
  watcher.heard();
  watched.subscriptions->list_changed(mcp::Listed::kTools);
  const auto told = watcher.heard();
  REQUIRE(told.size() == 2);
  CHECK(told[0]["params"]["_meta"][mcp::kMetaSubscription] == 7);
  CHECK(told[1]["params"]["_meta"][mcp::kMetaSubscription] == "l");
  watched.subscriptions->list_changed(mcp::Listed::kPrompts);
  watched.subscriptions->list_changed(mcp::Listed::kResources);
  CHECK(watcher.heard().empty());
}

TEST_CASE("whether anybody watches is known by the beginning of an address, as long as somebody does") {
  Watched watched;
  auto& subscriptions = *watched.subscriptions;
  CHECK_FALSE(subscriptions.is_watched(""));
  auto with_handshake = watched.watcher(&watched.owner);
  with_handshake.shake_hands();
  with_handshake.session->handshake->resources = {"a://2", "c://1"};
  subscriptions.add(*with_handshake.session);
  auto listening = watched.watcher(&watched.owner);
  listening.listen(subscriptions, {{"resourceSubscriptions", {"memory://x/1"}}});

  CHECK(subscriptions.is_watched(""));
  CHECK(subscriptions.is_watched("a://"));
  CHECK(subscriptions.is_watched("c://1"));
  CHECK(subscriptions.is_watched("memory://x/"));
  for (const char* const none : {"a://1", "a://20", "a://3", "b", "c://10", "memory://x/10", "memory://y", "z"}) {
    INFO(none);
    CHECK_FALSE(subscriptions.is_watched(none));
  }
  with_handshake.session->handshake->resources.clear();
  CHECK_FALSE(subscriptions.is_watched("a://"));
  listening.session->cancel_all();
  CHECK_FALSE(subscriptions.is_watched(""));
}

TEST_CASE("a session that has ended is told of nothing any more, and watches nothing") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner);
  watcher.shake_hands();
  watcher.session->handshake->resources.insert("a://1");
  watched.subscriptions->add(*watcher.session);
  watcher.session.reset();
  CHECK_FALSE(watched.subscriptions->is_watched("a://1"));
  watched.subscriptions->list_changed(mcp::Listed::kTools);
  watched.subscriptions->resource_updated("a://1");
  watched.subscriptions->log(mcp::Severity::kEmergency, "x", "y");
  CHECK(watcher.heard().empty());
}

TEST_CASE("an address is watched up to a length, and a longer one is refused with its path") {
  CHECK(mcp::watchable(std::string(2048, 'a'), "params.uri") == std::string(2048, 'a'));
  CHECK(mcp::watchable("", "params.uri").empty());
  CHECK_THROWS_WITH(mcp::watchable(std::string(2049, 'a'), "params.uri"), has_text("params.uri"));
  CHECK_THROWS_AS(mcp::watchable(std::string(2049, 'a'), "params.uri"), InvalidParams);
}

TEST_CASE("who asks to hear of too much, or in the wrong form, is told where, and hears of nothing") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner);
  const std::string at = "params.notifications";
  const auto names = [](std::size_t count) {
    Json array = Json::array();
    for (std::size_t number = 0; number < count; ++number) array.push_back("a://" + std::to_string(number));
    return array;
  };
  const std::vector<std::pair<Json, std::string>> cases{
      {Json(nullptr), at},
      {Json::array(), at},
      {Json("all"), at},
      {{{"toolsListChanged", 1}}, at + ".toolsListChanged"},
      {{{"toolsListChanged", true}, {"promptsListChanged", nullptr}}, at + ".promptsListChanged"},
      {{{"resourcesListChanged", "true"}}, at + ".resourcesListChanged"},
      {{{"resourceSubscriptions", "a://1"}}, at + ".resourceSubscriptions"},
      {{{"resourceSubscriptions", {"a://1", nullptr}}}, at + ".resourceSubscriptions"},
      {{{"resourceSubscriptions", names(257)}}, at + ".resourceSubscriptions"},
      {{{"resourceSubscriptions", {std::string(2049, 'a')}}}, at + ".resourceSubscriptions"},
      {{{"taskIds", names(257)}}, at + ".taskIds"},
      {{{"taskIds", {5}}}, at + ".taskIds"}};
  for (const auto& [filter, where] : cases) {
    INFO(filter.dump().substr(0, 100));
    std::string path;
    CHECK(refusal_of(watcher, *watched.subscriptions, filter, path) == ErrorCode::kInvalidParams);
    CHECK(path == where);
  }
  CHECK(watcher.session->active() == 0);
  watched.subscriptions->list_changed(mcp::Listed::kTools);
  CHECK(watcher.heard().empty());
  watcher.listen(*watched.subscriptions, {{"resourceSubscriptions", names(256)}, {"unknown", 5}});
  CHECK(watcher.heard().at(0)["params"]["notifications"] == Json{{"resourceSubscriptions", names(256)}});
}

TEST_CASE("who can be told nothing but an answer cannot listen") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner, {.transport = TransportKind::kHttp, .takes_messages = false});
  std::string path;
  CHECK(refusal_of(watcher, *watched.subscriptions, Json::object(), path) == ErrorCode::kInvalidRequest);
  CHECK(watcher.session->active() == 0);
  CHECK(watcher.heard().empty());
}

TEST_CASE("who asks for nothing is acknowledged, and answered when the server ends") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner);
  const auto reply = watcher.listen(*watched.subscriptions, Json::object());
  const auto told = watcher.heard();
  REQUIRE(told.size() == 1);
  CHECK(told[0]["params"]["notifications"] == Json::object());
  CHECK_FALSE(reply->answered());
  CHECK(watcher.session->active() == 1);
  watched.subscriptions->end();
  CHECK(reply->answered());
  CHECK(watcher.heard().at(0)["result"]["_meta"][mcp::kMetaServer] == Json{{"name", "fake"}, {"version", "1"}});
}

TEST_CASE("a server that ends answers everybody before their connections may close") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner);
  watcher.listen(*watched.subscriptions, Json::object(), "1");
  watcher.listen(*watched.subscriptions, Json::object(), "2");
  watcher.heard();
  std::size_t answers_when_idle = 0;
  watcher.session->when_idle([&] { answers_when_idle = watcher.peer->sent.size(); });
  watched.subscriptions->end();
  CHECK(watcher.heard().size() == 2);
  CHECK(answers_when_idle == 2);
  CHECK(watcher.session->active() == 0);
}

TEST_CASE("who has been answered as the server ended hears of nothing more, and is not answered again") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner);
  watcher.listen(*watched.subscriptions, {{"toolsListChanged", true}});
  watched.subscriptions->end();
  watcher.heard();
  watched.subscriptions->list_changed(mcp::Listed::kTools);
  watched.subscriptions->end();
  watcher.session->cancel_all();
  watched.subscriptions.reset();
  CHECK(watcher.heard().empty());
}

TEST_CASE("a client that goes listens no more, and is not answered") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner);
  auto stays = watched.watcher(&watched.owner);
  const auto reply = watcher.listen(*watched.subscriptions, {{"toolsListChanged", true}});
  stays.listen(*watched.subscriptions, {{"toolsListChanged", true}});
  watcher.heard();
  stays.heard();
  watcher.session->client_gone();
  CHECK(watcher.session->active() == 0);
  CHECK(reply->answered());
  watched.subscriptions->list_changed(mcp::Listed::kTools);
  watched.subscriptions->end();
  CHECK(watcher.heard().empty());
  CHECK(stays.heard().size() == 2);
}

TEST_CASE("a session that only listens lives as long as it does so") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner);
  watcher.listen(*watched.subscriptions, {{"toolsListChanged", true}});
  watcher.heard();
  const std::weak_ptr<Session> weak = watcher.session;
  watcher.session.reset();
  REQUIRE_FALSE(weak.expired());
  watched.subscriptions->list_changed(mcp::Listed::kTools);
  CHECK(watcher.heard().size() == 1);
  SECTION("its exchange breaks") { weak.lock()->exchange_gone(*watcher.peer); }
  SECTION("the server ends") { watched.subscriptions->end(); }
  SECTION("the subscriptions are gone") { watched.subscriptions.reset(); }
  CHECK(weak.expired());
}

TEST_CASE("subscriptions that are gone have left nothing with the sessions that listened") {
  Watched watched;
  auto watcher = watched.watcher(&watched.owner);
  watcher.listen(*watched.subscriptions, {{"toolsListChanged", true}});
  watcher.heard();
  watched.subscriptions.reset();
  CHECK(watcher.session->active() == 0);
  watcher.session->client_gone();
  CHECK(watcher.heard().empty());
}

TEST_CASE("what becomes of a task is told to listeners of its owner that have named it") {
  Watched watched;
  auto mine = watched.watcher(&watched.owner);
  auto others = watched.watcher(&watched.other);
  for (Watcher* const each : {&mine, &others}) {
    each->listen(*watched.subscriptions, {{"taskIds", {"t-1", "t-2"}}}, "1", watched.knows_tasks);
    each->heard();
  }
  watched.subscriptions->task_changed(&watched.owner, "t-1", {{"status", "working"}});
  watched.subscriptions->task_changed(&watched.owner, "t", {{"status", "working"}});
  const auto told = mine.heard();
  REQUIRE(told.size() == 1);
  CHECK(told[0]["params"]["status"] == "working");
  CHECK(told[0]["params"]["_meta"][mcp::kMetaSubscription] == 1);
  CHECK(others.heard().empty());
}
