// The way to a server that is silent, floods, changes its mind, or goes away.
#include "upstreams/upstream_link.hpp"
#include "server/upstreams/scripted_upstream.hpp"

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/no_more_threads.hpp"
#include "support/waiting_loop.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// A link to a script, and what came of it.
class WatchedLink {
 public:
  explicit WatchedLink(UpstreamLink::Connect connect)
      : link_(std::make_shared<UpstreamLink>(
            waiting.loop(), std::move(connect),
            UpstreamLink::Events{
                .on_tools = [this](std::vector<Json> tools) { lists.push_back(std::move(tools)); },
                .on_lost = [this](const std::string& reason) { lost.push_back(reason); },
                .on_warning = [this](const std::string& warning) { warnings.push_back(warning); },
                .on_progress = [this](UpstreamLink::Key, const Json& update) { progress.push_back(update); },
                .on_end = [this](UpstreamLink::Key, client::Outcome outcome) { ends.push_back(outcome); }})) {
    link_->start();
  }
  ~WatchedLink() {
    link_->stop();
    link_->await_end(Clock::now() + 5s);
  }
  WatchedLink(const WatchedLink&) = delete;
  WatchedLink& operator=(const WatchedLink&) = delete;

  UpstreamLink& operator*() { return *link_; }
  UpstreamLink* operator->() { return link_.get(); }
  void await_lists(std::size_t count) {
    waiting.until([&] { return lists.size() >= count; }, "lists: " + std::to_string(lists.size()));
  }

  // All that the server there has said has come to the loop: an answer comes behind what was said before the question,
  // and the second question is sent when the first answer has come to the link's thread.
  void await_all() {
    for (int asked = 0; asked < 2; ++asked) {
      const std::size_t before = ends.size();
      link_->ask(next_key_++, "ping", Json::object());
      waiting.until([&] { return ends.size() > before; }, "no answer");
    }
  }

  WaitingLoop waiting;
  std::vector<std::vector<Json>> lists;
  std::vector<std::string> lost, warnings;
  std::vector<Json> progress;
  std::vector<client::Outcome> ends;

 private:
  UpstreamLink::Key next_key_ = 1000;  // above those of the tests
  const std::shared_ptr<UpstreamLink> link_;
};

const Json kChanged{{"jsonrpc", "2.0"}, {"method", "notifications/tools/list_changed"}};

Json progress_of(const Json& call, int progress, const std::string& message) {
  return {
      {"jsonrpc", "2.0"},
      {"method", "notifications/progress"},
      {"params",
       {{"progressToken", call["params"]["_meta"]["progressToken"]}, {"progress", progress}, {"message", message}}}};
}

}  // namespace

TEST_CASE("a flood of progress becomes few updates, which lose no part of the text and come before the end") {
  Script script(greeting(ScriptedEra::kLegacy, [](Script& self, const Json& request) {
    if (!request.contains("method")) return;  // it answers the ping below
    if (request["method"] == "tools/list") return self.result(request, {{"tools", Json::array()}});
    for (int each = 1; each <= 1000; ++each) self.say(progress_of(request, each, "x"));
    self.result(request, {{"content", Json::array()}});
    self.say({{"jsonrpc", "2.0"}, {"id", "after"}, {"method", "ping"}});
  }));
  WatchedLink link(once_to(script));
  link.await_lists(1);
  link->call({1, "t", Json::object(), UnsentProgress::Messages::kJoin});
  script.sent(6);  // the last of them answers the ping: all that came before it has been read, and the loop has not run
  link.waiting.until([&] { return !link.ends.empty(); }, "no end");
  CHECK(link.progress.size() < 10);
  std::string text;
  for (const Json& update : link.progress) text += update["message"];
  CHECK(text == std::string(1000, 'x'));
  CHECK(link.progress.back()["progress"] == 1000);
}

TEST_CASE("however often a server says that its tools have changed, few lists are asked for") {
  std::atomic<int> lists = 0;
  Script script(greeting(ScriptedEra::kLegacy, [&lists](Script& self, const Json& request) {
    if (request["method"] != "tools/list") return self.result(request, Json::object());
    self.result(request, {{"tools", {plain_tool("t" + std::to_string(++lists))}}});
  }));
  WatchedLink link(once_to(script));
  link.await_lists(1);
  const auto began = Clock::now();
  for (int each = 0; each < 1000; ++each) script.say(kChanged);
  link.await_lists(2);
  link.await_all();
  link.waiting.until([&] { return link.lists.back()[0]["name"] == "t" + std::to_string(lists); }, "no last list");
  CHECK(lists <= 2 + (Clock::now() - began) / 500ms);
}

TEST_CASE("calls are made while a list is asked for that never comes") {
  std::atomic<bool> is_silent = false;
  Script script(greeting(ScriptedEra::kLegacy, [&is_silent](Script& self, const Json& request) {
    if (request["method"] != "tools/list") return self.result(request, {{"content", Json::array()}});
    if (!is_silent) self.result(request, {{"tools", {plain_tool("t")}}});
  }));
  WatchedLink link(once_to(script));
  link.await_lists(1);
  is_silent = true;
  script.say(kChanged);
  link.waiting.until([&] { return script.count_of("tools/list") == 2; }, "not listed again");
  link->call({1, "t", Json::object(), std::nullopt});
  link.waiting.until([&] { return !link.ends.empty(); }, "no end");
}

TEST_CASE("what is cancelled before it was sent never is, and few calls wait for a server that takes them slowly") {
  std::promise<void> goes_on;
  const std::shared_future<void> released = goes_on.get_future().share();
  Script script(greeting(ScriptedEra::kLegacy, [released](Script& self, const Json& request) {
    if (request["method"] == "tools/list") return self.result(request, {{"tools", Json::array()}});
    released.wait();
    self.result(request, {{"content", Json::array()}});
  }));
  WatchedLink link(once_to(script));
  link.await_lists(1);
  link->call({1, "t", Json::object(), std::nullopt});
  link.waiting.until([&] { return script.count_of("tools/call") == 1; }, "not called");  // and it takes no more
  UpstreamLink::Key last = 1;
  while (!link->is_behind() && last < 1000) link->call({++last, "t", Json::object(), std::nullopt});
  CHECK(last == 1 + 256);
  for (UpstreamLink::Key key = 2; key < last; ++key) link->cancel(key);
  CHECK_FALSE(link->is_behind());
  goes_on.set_value();
  link.waiting.until([&] { return link.ends.size() == 2; }, "not ended");
  link.await_all();
  CHECK(script.count_of("tools/call") == 2);
}

TEST_CASE("a list that fails leaves the tools as they were, with a warning") {
  std::atomic<bool> fails = false;
  Script script(greeting(ScriptedEra::kLegacy, [&fails](Script& self, const Json& request) {
    fails ? self.error(request, -32000) : self.result(request, {{"tools", {plain_tool("t")}}});
  }));
  WatchedLink link(once_to(script));
  link.await_lists(1);
  fails = true;
  script.say(kChanged);
  link.waiting.until([&] { return !link.warnings.empty(); }, "no warning");
  CHECK(link.lists.size() == 1);
  CHECK(link.lost.empty());
}

TEST_CASE("a modern server's listening that ends is asked for again, and the tools are listed again") {
  std::atomic<int> listens = 0;
  Script script(greeting(ScriptedEra::kModern, [&listens](Script& self, const Json& request) {
    if (request["method"] == "tools/list") {
      return self.result(request, {{"tools", {plain_tool(listens < 2 ? "a" : "b")}}, {"resultType", "complete"}});
    }
    if (++listens > 2) return;
    listens == 1 ? self.result(request, {{"resultType", "complete"}}) : self.error(request, -32603);
  }));
  WatchedLink link(once_to(script));
  link.waiting.until([&] { return !link.lists.empty() && link.lists.back()[0]["name"] == "b"; },
                     "the change was not seen");
  link.waiting.until([&] { return listens == 3; }, "it does not listen");
}

TEST_CASE("a modern server that refuses to be listened to is not asked again at once") {
  Script script(greeting(ScriptedEra::kModern, [](Script& self, const Json& request) {
    if (request["method"] != "tools/list") return self.error(request, -32601);
    self.result(request, {{"tools", {plain_tool("t")}}, {"resultType", "complete"}});
  }));
  WatchedLink link(once_to(script));
  link.await_lists(1);
  // As long as it would take to ask again after another end of the listening: the link's threads go by the system's
  // clock, and nothing tells of what they do not do.
  link.waiting.loop().run_for(1s);
  CHECK(script.count_of("subscriptions/listen") == 1);
  CHECK(link.lists.size() == 1);
}

TEST_CASE("the loss of the connection is told with its reason, and ends the calls") {
  Script script(greeting(ScriptedEra::kLegacy, [](Script& self, const Json& request) {
    if (request["method"] == "tools/list") self.result(request, {{"tools", Json::array()}});
  }));
  WatchedLink link(once_to(script));
  link.await_lists(1);
  link->call({1, "t", Json::object(), std::nullopt});
  link.waiting.until([&] { return script.count_of("tools/call") == 1; }, "not called");
  script.inbox.fail("the cable is cut");
  link.waiting.until([&] { return !link.lost.empty(); }, "not told");
  CHECK(link.lost[0] == "the cable is cut");
  REQUIRE(link.ends.size() == 1);
  CHECK(std::holds_alternative<client::RemoteError>(link.ends[0]));
}

TEST_CASE("a connection for which a thread cannot be started is lost, and the next one serves") {
  Script script(greeting(ScriptedEra::kLegacy, [](Script& self, const Json& request) {
    self.result(request, {{"tools", Json::array()}});
  }));
  std::optional<NoMoreThreads> short_of_threads;
  bool is_first = true;
  WatchedLink link([&](Clock::time_point) -> std::unique_ptr<client::Connection> {
    short_of_threads.reset();
    if (std::exchange(is_first, false)) short_of_threads.emplace(1);
    return std::make_unique<ScriptedConnection>(script);
  });
  link.await_lists(1);
  CHECK(link.lost.size() == 1);
}

TEST_CASE(
    "stopping ends the thread at once while the server is silent to the greeting, and nothing is heard any more") {
  Script script;
  WatchedLink link(once_to(script));
  script.sent(1);
  const auto began = Clock::now();
  link->stop();
  link->await_end(began + 20s);
  CHECK(Clock::now() - began < 10s);
  link.waiting.settle();
  CHECK(link.lost.empty());
}

TEST_CASE("a thread that connects is left behind in time") {
  const auto released = std::make_shared<std::atomic<bool>>(false);
  const auto left = std::make_shared<std::atomic<bool>>(false);
  {
    WatchedLink link([released, left](Clock::time_point) -> std::unique_ptr<client::Connection> {
      eventually([&] { return released->load(); });
      *left = true;
      throw client::ConnectionError("too late");
    });
    const auto began = Clock::now();
    link->stop();
    link->await_end(began + 100ms);
    link->await_end(began + 20s);
    CHECK(Clock::now() - began < 10s);
  }
  *released = true;
  CHECK(eventually([&] { return left->load(); }));
}

}  // namespace rkllm_mcp::test
