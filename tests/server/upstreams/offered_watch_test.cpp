#include "upstreams/offered_watch.hpp"

#include "client/mcp/mcp_client.hpp"
#include "server/upstreams/scripted_upstream.hpp"
#include "support/catch.hpp"
#include "support/waiting_loop.hpp"

#include <asio/post.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr auto kNothingDue = Clock::time_point::max();

// A watch of a server that answers as the test wants, on the test's thread, and what it tells.
class WatchedUpstream {
 public:
  using Answer = std::function<void(Script&, const Json&)>;

  explicit WatchedUpstream(ScriptedEra era, Answer answer, Offered kind = Offered::kTools,
                           const Json& capabilities = {{"tools", Json::object()}, {"resources", Json::object()}})
      : script(greeting(era, std::move(answer), capabilities)),
        client(std::make_unique<ScriptedConnection>(script),
               {.era = era == ScriptedEra::kModern ? client::EraChoice::kModern : client::EraChoice::kLegacy,
                .client_info = {{"name", "test"}, {"version", "1"}}}),
        watch(std::make_shared<OfferedWatch>(
            client,
            OfferedWatch::Events{
                .on_list = [this](std::vector<Json> entries) { lists.push_back(std::move(entries)); },
                .on_warning = [this](const std::string& warning) { warnings.push_back(warning); },
                .post = [this](std::function<void()> action) { asio::post(loop.loop(), std::move(action)); }},
            kind)) {}
  WatchedUpstream(const WatchedUpstream&) = delete;
  WatchedUpstream& operator=(const WatchedUpstream&) = delete;

  // Does what is due until that is so.
  void work_until(const std::function<bool()>& is_so) {
    loop.until(
        [&] {
          if (!is_so() && Clock::now() >= watch->due()) watch->work();
          return is_so();
        },
        "it has not come");
  }
  void work_until_listed(std::size_t times) {
    work_until([this, times] { return lists.size() >= times; });
  }

  Script script;
  WaitingLoop loop;
  std::vector<std::vector<Json>> lists;
  std::vector<std::string> warnings;
  client::McpClient client;
  std::shared_ptr<OfferedWatch> watch;
};

// Answers a list with these, and refuses what else is asked.
WatchedUpstream::Answer with_tools(std::vector<Json> tools, const std::string& method = "tools/list",
                                   const std::string& member = "tools") {
  return [tools = std::move(tools), method, member](Script& script, const Json& message) {
    if (message["method"] != method) return script.error(message, -32601);
    script.result(message, {{member, tools}, {"resultType", "complete"}});
  };
}

}  // namespace

TEST_CASE("pauses between tries grow to half a minute, and begin anew after what was well for longer than that") {
  Backoff backoff;
  std::vector<long> told;
  for (int time = 0; time < 9; ++time)
    told.push_back(static_cast<long>(backoff.after(std::chrono::seconds(1)).count()));
  CHECK(told == std::vector<long>{250, 500, 1000, 2000, 4000, 8000, 16000, 30000, 30000});
  CHECK(backoff.after(std::chrono::seconds(30)).count() == 30000);
  CHECK(backoff.after(std::chrono::seconds(31)).count() == 250);
  CHECK(backoff.after(std::chrono::seconds(1)).count() == 500);
}

TEST_CASE("a list of tools is told once, when all of its pages are there, and then nothing is due") {
  WatchedUpstream upstream(ScriptedEra::kLegacy, [](Script& script, const Json& message) {
    const bool is_first = message["params"].value("cursor", "") != "2";
    Json page{{"tools", {plain_tool(is_first ? "a" : "b")}}};
    if (is_first) page["nextCursor"] = "2";
    script.result(message, page);
  });
  CHECK(upstream.watch->due() <= Clock::now());
  upstream.work_until_listed(1);
  CHECK(upstream.lists == std::vector<std::vector<Json>>{{plain_tool("a"), plain_tool("b")}});
  CHECK(upstream.warnings.empty());
  CHECK(upstream.watch->due() == kNothingDue);
  CHECK(upstream.script.count_of("tools/list") == 2);
  CHECK(std::string(upstream.watch->notification()) == "notifications/tools/list_changed");
}

TEST_CASE("a server that says that it has no tools has none, and is not asked") {
  WatchedUpstream upstream(ScriptedEra::kLegacy, with_tools({plain_tool("a")}), Offered::kTools, Json::object());
  upstream.watch->work();
  upstream.watch->work();
  CHECK(upstream.lists == std::vector<std::vector<Json>>{{}});
  CHECK(upstream.watch->due() == kNothingDue);
  CHECK(upstream.script.count_of("tools/list") == 0);
}

TEST_CASE("a list that is cut short is told, with a warning") {
  WatchedUpstream upstream(ScriptedEra::kLegacy, [](Script& script, const Json& message) {
    script.result(message, {{"tools", {plain_tool("a")}}, {"nextCursor", "again"}});
  });
  upstream.work_until_listed(1);
  CHECK(upstream.lists[0] == std::vector<Json>{plain_tool("a"), plain_tool("a")});
  CHECK(upstream.warnings.size() == 1);
}

TEST_CASE("a first list of tools that fails is the end of the connection") {
  WatchedUpstream upstream(ScriptedEra::kLegacy,
                           [](Script& script, const Json& message) { script.error(message, -32603); });
  CHECK_THROWS_AS(upstream.work_until_listed(1), client::ConnectionError);
  CHECK(upstream.lists.empty());
}

TEST_CASE("a first list of anything else that fails costs nothing, and is asked for again later") {
  WatchedUpstream upstream(ScriptedEra::kLegacy, with_tools({}), Offered::kTemplates);
  upstream.watch->work();
  CHECK(upstream.script.count_of("resources/templates/list") == 1);
  const auto page_due = upstream.watch->due();
  upstream.work_until([&] { return upstream.watch->due() != page_due; });
  CHECK(upstream.lists.empty());
  CHECK(upstream.warnings.empty());
  CHECK(upstream.watch->due() != kNothingDue);
}

TEST_CASE("a later list that fails leaves the tools as they were, with a warning, and is asked for again") {
  bool fails = false;
  WatchedUpstream upstream(ScriptedEra::kLegacy, [&fails](Script& script, const Json& message) {
    if (fails) return script.error(message, -32603);
    script.result(message, {{"tools", {plain_tool("a")}}});
  });
  upstream.work_until_listed(1);
  fails = true;
  upstream.watch->note_change();
  upstream.work_until([&] { return !upstream.warnings.empty(); });
  CHECK_THAT(upstream.warnings.at(0), Catch::Matchers::EndsWith("; the tools stay as they were"));
  CHECK(upstream.lists.size() == 1);
  CHECK(upstream.watch->due() != kNothingDue);
  fails = false;
  upstream.watch->note_change();
  upstream.work_until_listed(2);
}

TEST_CASE("after a change the list is asked for again, once for all changes until then") {
  WatchedUpstream upstream(ScriptedEra::kLegacy, with_tools({plain_tool("a")}));
  upstream.work_until_listed(1);
  upstream.watch->note_change();
  upstream.watch->note_change();
  CHECK(upstream.watch->due() != kNothingDue);
  upstream.work_until_listed(2);
  CHECK(upstream.watch->due() == kNothingDue);
  CHECK(upstream.script.count_of("tools/list") == 2);
}

TEST_CASE("a change while the list comes leads to another list, and one before the first list to none") {
  WatchedUpstream upstream(ScriptedEra::kLegacy, with_tools({plain_tool("a")}));
  upstream.watch->note_change();
  SECTION("before") {
    upstream.work_until_listed(1);
    CHECK(upstream.watch->due() == kNothingDue);
  }
  SECTION("meanwhile") {
    upstream.watch->work();
    upstream.watch->note_change();
    upstream.work_until_listed(1);
    CHECK(upstream.watch->due() != kNothingDue);
    upstream.work_until_listed(2);
    CHECK(upstream.watch->due() == kNothingDue);
  }
}

TEST_CASE("a modern server is asked to tell of changes before it is asked for the list, and a legacy one is not") {
  const auto silent = [](Script& script, const Json& message) {
    if (message["method"] == "tools/list") {
      script.result(message, {{"tools", Json::array()}, {"resultType", "complete"}});
    }
  };
  WatchedUpstream modern(ScriptedEra::kModern, silent);
  modern.watch->work();
  const auto sent = modern.script.sent(3);
  CHECK(Json::parse(sent[1])["method"] == "subscriptions/listen");
  CHECK(Json::parse(sent[1])["params"]["notifications"] == Json{{"toolsListChanged", true}});
  CHECK(Json::parse(sent[2])["method"] == "tools/list");
  modern.work_until_listed(1);
  CHECK(modern.watch->due() == kNothingDue);

  WatchedUpstream legacy(ScriptedEra::kLegacy, silent);
  legacy.work_until_listed(1);
  CHECK(legacy.script.count_of("subscriptions/listen") == 0);
}

TEST_CASE("changes of templates are told by the subscription to resources, so that there is none of their own") {
  WatchedUpstream upstream(ScriptedEra::kModern, with_tools({}, "resources/templates/list", "resourceTemplates"),
                           Offered::kTemplates);
  upstream.work_until_listed(1);
  CHECK(upstream.script.count_of("subscriptions/listen") == 0);
  CHECK(std::string(upstream.watch->notification()) == "notifications/resources/list_changed");
}

TEST_CASE("a modern server that knows no subscriptions is asked for its list again and again, and for them never") {
  WatchedUpstream upstream(ScriptedEra::kModern, with_tools({plain_tool("a")}));
  upstream.work_until_listed(1);
  upstream.loop.settle();
  CHECK(upstream.watch->due() != kNothingDue);
  CHECK(upstream.watch->due() > Clock::now());
  CHECK(upstream.warnings.empty());
  CHECK(upstream.script.count_of("subscriptions/listen") == 1);
}

TEST_CASE("a subscription that ends is made again, and the list is asked for, since a change may have been missed") {
  std::vector<Json> listening;
  WatchedUpstream upstream(ScriptedEra::kModern, [&listening](Script& script, const Json& message) {
    if (message["method"] == "subscriptions/listen") return listening.push_back(message);
    script.result(message, {{"tools", Json::array()}, {"resultType", "complete"}});
  });
  upstream.work_until_listed(1);
  REQUIRE(listening.size() == 1);
  upstream.script.result(listening[0], {{"resultType", "complete"}});
  upstream.work_until([&] { return listening.size() == 2; });
  upstream.work_until_listed(2);
  CHECK(upstream.watch->due() == kNothingDue);
}

TEST_CASE("an answer that comes when the watch has gone is passed over") {
  std::vector<Json> asked;
  WatchedUpstream upstream(ScriptedEra::kLegacy, [&asked](Script&, const Json& message) { asked.push_back(message); });
  upstream.watch->work();
  upstream.watch.reset();
  REQUIRE(asked.size() == 1);
  upstream.script.result(asked[0], {{"tools", {plain_tool("a")}}});
  bool has_come = false;
  upstream.client.request("ping", Json::object(), {.on_end = [&](const client::Outcome&) {
                            asio::post(upstream.loop.loop(), [&has_come] { has_come = true; });
                          }});
  upstream.script.result(asked.at(1), Json::object());
  upstream.loop.until([&has_come] { return has_come; }, "no answer");
  CHECK(upstream.lists.empty());
}

}  // namespace rkllm_mcp::test
