// One upstream, and the clients whose calls are passed on to it.
#include "upstreams/upstream.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/revisions.hpp"
#include "server/upstreams/scripted_upstream.hpp"
#include "transport/peer.hpp"

#include "support/catch.hpp"
#include "support/waiting_loop.hpp"

#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using namespace std::chrono_literals;

// What a client is told.
struct Heard {
  std::vector<Json> updates{}, results{};
  std::vector<int> errors{};
  std::vector<mcp::InputRequests> asked{};
  Json state{};  // of the last one
  bool has_room = true;
};

class ScriptedRequester final : public mcp::Requester {
 public:
  explicit ScriptedRequester(Heard& heard) : heard_(heard) {}
  void result(Json body) override { heard_.results.push_back(std::move(body)); }
  void error(const RpcError& error) override { heard_.errors.push_back(static_cast<int>(error.code())); }
  void ask(mcp::Invocation& invocation, mcp::InputRequests requests, Json state) override {
    heard_.asked.push_back(std::move(requests));
    heard_.state = std::move(state);
    if (!invocation.client().revision->era.has_handshake()) invocation.result({{"resultType", "input_required"}});
  }
  void notify(std::string_view, const Json& params) override { heard_.updates.push_back(params); }
  bool ready() const override { return heard_.has_room; }

 private:
  Heard& heard_;
};

// Who calls.
struct Caller {
  const mcp::Revision* revision = &mcp::newest_handshake_revision();
  std::shared_ptr<RequestTable> requests = std::make_shared<RequestTable>();
  std::shared_ptr<Session> session = std::make_shared<Session>(requests);
  std::string address = "127.0.0.1:40112";
  Json progress_token = "p";
};

struct Stage {
  explicit Stage(std::function<void(Script&, const Json&)> answer,
                 const Json& capabilities = {{"tools", Json::object()}}, ScriptedEra era = ScriptedEra::kLegacy)
      : script(greeting(era, std::move(answer), capabilities)) {
    waiting.until([this] { return upstream.status()["connected"] == true; }, "not connected");
  }
  ~Stage() {
    upstream.stop();
    upstream.await_end(Clock::now() + 5s);  // it uses the script
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  void call(Heard& heard, const Json& arguments = Json::object(), const Caller& caller = {}) {
    upstream.call("t", *invocation(heard, arguments, caller));
  }
  // The server there asks, and nobody knows for which call.
  void ask() {
    script.say(
        {{"jsonrpc", "2.0"}, {"id", "s1"}, {"method", "sampling/createMessage"}, {"params", {{"maxTokens", 5}}}});
  }
  void say_log(const Json& params) {
    script.say({{"jsonrpc", "2.0"}, {"method", "notifications/message"}, {"params", params}});
  }
  // All that the server there has said has come to the loop: what it says now comes behind that.
  void await_all() {
    const std::size_t before = said.size();
    say_log({{"level", "info"}, {"data", "last"}});
    waiting.until([&] { return said.size() > before; }, "the last word has not come");
  }
  void await_sent(const std::string& part, std::size_t count = 1) {
    waiting.until(
        [&] {
          const auto sent = script.sent();
          return std::ranges::count_if(sent, [&](const auto& message) {
                   return message.find(part) != std::string::npos;
                 }) >= static_cast<std::ptrdiff_t>(count);
        },
        "not sent: " + part);
  }

  std::shared_ptr<mcp::Invocation> invocation(Heard& heard, const Json& arguments = Json::object(),
                                              const Caller& caller = {}) {
    mcp::InvocationRequest request;
    request.session = caller.session;
    request.reply =
        std::make_shared<Reply>(*std::make_shared<SilentPeer>(TransportKind::kTcp, caller.address), RequestId("1"));
    request.name = "up_t";
    request.arguments = arguments;
    request.progress_token = caller.progress_token;
    request.meta = {{"example.com/trace", "7"}};
    request.client.revision = caller.revision;
    request.client.capabilities = client_capabilities;
    return std::make_shared<mcp::Invocation>(std::move(request), std::make_unique<ScriptedRequester>(heard),
                                             [this](mcp::Invocation& again) { upstream.call("t", again); });
  }

  std::ostringstream text;
  spdlog::logger log{"test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)};
  WaitingLoop waiting;
  Script script;
  Json client_capabilities = Json::object();
  std::vector<std::pair<std::string, Json>> said;
  Upstream upstream{waiting.loop(),
                    "up",
                    "test://",
                    once_to(script),
                    log,
                    {.on_changed = [](Offered) {},
                     .on_log = [this](mcp::Severity, const std::string& logger,
                                      const Json& data) { said.emplace_back(logger, data); }}};
};

void list_or(Script& script, const Json& request, const std::function<void()>& otherwise) {
  if (request["method"] != "tools/list") return otherwise();
  script.result(request, {{"tools", {plain_tool("t"), Json{{"name", "bad\nname"}}}}});
}

void progress(Script& script, const Json& call, int done, const std::string& message) {
  script.say(
      {{"jsonrpc", "2.0"},
       {"method", "notifications/progress"},
       {"params",
        {{"progressToken", call["params"]["_meta"]["progressToken"]}, {"progress", done}, {"message", message}}}});
}

}  // namespace

TEST_CASE("a client that has no room is told nothing until it has, and loses no part of the text") {
  Json call;
  Heard heard;
  Stage stage([&call](Script& script, const Json& request) {
    list_or(script, request, [&] { progress(script, call = request, 1, "one "); });
  });
  stage.call(heard, {{"progress_message", "delta"}});
  stage.waiting.until([&] { return heard.updates.size() == 1; }, "no progress");
  CHECK(heard.updates[0] == Json{{"progressToken", "p"}, {"progress", 1}, {"message", "one "}});
  heard.has_room = false;
  progress(stage.script, call, 2, "two ");
  progress(stage.script, call, 3, "three ");
  stage.await_all();
  CHECK(heard.updates.size() == 1);
  heard.has_room = true;
  progress(stage.script, call, 4, "four");
  stage.waiting.until([&] { return heard.updates.size() == 2; }, "no more progress");
  CHECK(heard.updates[1]["message"] == "two three four");
}

TEST_CASE("text that still waits is told before the end") {
  Heard heard{.has_room = false};
  Stage stage([](Script& script, const Json& request) {
    list_or(script, request, [&] {
      progress(script, request, 1, "all");
      script.result(request, {{"content", Json::array()}});
    });
  });
  stage.call(heard, {{"progress_message", "delta"}});
  stage.waiting.until([&] { return heard.results.size() == 1; }, "no end");
  REQUIRE(heard.updates.size() == 1);
  CHECK(heard.updates[0]["message"] == "all");
}

TEST_CASE("a call whose client reads nothing ends before it has filled the memory") {
  Heard heard{.has_room = false};
  Stage stage([](Script& script, const Json& request) {
    list_or(script, request, [&] {
      if (request["method"] != "tools/call") return;  // the ping behind the call's end
      for (int each = 1; each <= 10; ++each) progress(script, request, each, std::string(1 << 20, 'x'));
    });
  });
  stage.call(heard, {{"progress_message", "delta"}});
  stage.waiting.until([&] { return heard.results.size() == 1; }, "no end");
  CHECK(heard.results[0]["isError"] == true);
}

TEST_CASE("calls beyond those that wait for a slow server are refused, and all others answered") {
  constexpr std::size_t kCalls = 300;
  std::promise<void> goes_on;
  const std::shared_future<void> released = goes_on.get_future().share();
  Heard heard;
  Stage stage([released](Script& script, const Json& request) {
    list_or(script, request, [&] {
      released.wait();
      script.result(request, {{"content", Json::array()}});
    });
  });
  for (std::size_t call = 0; call < kCalls; ++call) stage.call(heard);
  const std::size_t refused = heard.results.size();
  CHECK(refused >= kCalls - 257);  // 256 wait, and one is being sent
  for (const Json& result : heard.results) {
    CHECK_THAT(result["content"].at(0)["text"].get<std::string>(), has_text("more slowly than they come"));
  }
  goes_on.set_value();
  stage.waiting.until([&] { return heard.results.size() == kCalls; }, "not answered");
  CHECK(heard.results.back().value("isError", false) == false);
}

TEST_CASE("calls in progress are answered when this server ends, and so are later ones") {
  Heard heard;
  Stage stage([](Script& script, const Json& request) { list_or(script, request, [] {}); });
  stage.call(heard);
  stage.upstream.stop();
  REQUIRE(heard.results.size() == 1);
  CHECK_THAT(heard.results[0]["content"][0]["text"].get<std::string>(), has_text("the server is ending"));
  stage.call(heard);
  CHECK(heard.results.size() == 2);
}

TEST_CASE("an answer that is no tool result, or an error of the way there, reaches no client as it is") {
  int answers = 0;
  Heard heard;
  Stage stage([&answers](Script& script, const Json& request) {
    list_or(script, request, [&] {
      ++answers == 1 ? script.result(request, {{"content", {5}}}) : script.error(request, -32020);
    });
  });
  stage.call(heard);
  stage.waiting.until([&] { return heard.results.size() == 1; }, "no end");
  CHECK_THAT(heard.results[0]["content"][0]["text"].get<std::string>(), has_text("no tool result"));
  stage.call(heard);
  stage.waiting.until([&] { return heard.errors.size() == 1; }, "no error");
  CHECK(heard.errors[0] == -32603);
}

TEST_CASE("resources and prompts of another server are listed, read and got, and _meta passes both ways") {
  Stage stage(
      [](Script& script, const Json& request) {
        const std::string method = request["method"];
        const Json& params = request["params"];
        const Json document{{"uri", "file:///a"}, {"name", "a"}, {"text", "A"}};
        if (method == "resources/list") return script.result(request, {{"resources", {document}}});
        if (method == "resources/templates/list") return script.error(request, -32601);
        if (method == "prompts/list") return script.result(request, {{"prompts", {{{"name", "ask"}}}}});
        if (method == "resources/read") {
          if (params["uri"] != "file:///a") return script.error(request, -32602);
          return script.result(request, {{"contents", {document}}, {"_meta", params["_meta"]}});
        }
        if (method == "prompts/get") {
          const Json message{{"role", "user"}, {"content", {{"type", "text"}, {"text", params["arguments"]["x"]}}}};
          return script.result(request, {{"messages", {message}}});
        }
        list_or(script, request, [&] {
          script.result(request, {{"content", Json::array()}, {"_meta", params["_meta"]}});
        });
      },
      {{"tools", Json::object()}, {"resources", Json::object()}, {"prompts", Json::object()}});
  stage.waiting.until([&] { return !stage.upstream.list(Offered::kPrompts).empty(); }, "no prompts");
  REQUIRE(stage.upstream.list(Offered::kResources).size() == 1);
  CHECK(stage.upstream.list(Offered::kTemplates).empty());

  Heard heard;
  stage.upstream.read("file:///a", *stage.invocation(heard));
  stage.waiting.until([&] { return heard.results.size() == 1; }, "no document");
  CHECK(heard.results[0]["contents"][0]["uri"] == "upstream://up/file:///a");
  CHECK(heard.results[0]["contents"][0]["text"] == "A");
  CHECK(heard.results[0]["_meta"] == Json{{"example.com/trace", "7"}});
  stage.upstream.read("file:///b", *stage.invocation(heard));
  stage.waiting.until([&] { return heard.errors.size() == 1; }, "no error");
  CHECK(heard.errors[0] == -32602);
  stage.upstream.get_prompt("ask", *stage.invocation(heard, {{"x", "y"}}));
  stage.waiting.until([&] { return heard.results.size() == 2; }, "no prompt");
  CHECK(heard.results[1]["messages"][0]["content"]["text"] == "y");
  stage.call(heard);
  stage.waiting.until([&] { return heard.results.size() == 3; }, "no result");
  CHECK(heard.results[2]["_meta"]["example.com/trace"] == "7");
}

TEST_CASE("log messages of another server come with its name, and no more of them than are taken") {
  Json level;
  Stage stage(
      [&level](Script& script, const Json& request) {
        if (!request.contains("method")) return;  // it answers the ping below
        if (request["method"] == "logging/setLevel") level = request["params"]["level"];
        list_or(script, request, [&] { script.result(request, Json::object()); });
      },
      {{"tools", Json::object()}, {"logging", Json::object()}});
  stage.say_log({{"level", "info"}, {"logger", "disk"}, {"data", {{"free", 1}}}});
  stage.say_log({{"level", "loud"}, {"data", "no such level"}});
  stage.say_log({{"level", "error"}, {"data", "last"}});
  stage.waiting.until([&] { return stage.said.size() == 2; }, "nothing is said");
  CHECK(stage.said[0] == std::pair<std::string, Json>{"up/disk", {{"free", 1}}});
  CHECK(stage.said[1] == std::pair<std::string, Json>{"up", "last"});
  CHECK(level == "debug");
  stage.say_log({{"level", "info"}, {"data", std::string(100'000, 'x')}});
  stage.await_all();
  CHECK(stage.said.size() == 2 + 1);
  const std::size_t sent = stage.script.sent().size();
  for (int each = 0; each < 1000; ++each) stage.say_log({{"level", "info"}, {"data", each}});
  stage.script.say({{"jsonrpc", "2.0"}, {"id", "after"}, {"method", "ping"}});
  stage.script.sent(sent + 1);  // it answers the ping: all that came before has been read, and the loop has not run
  stage.waiting.settle();
  CHECK(stage.said.size() == 2 + 1 + 100);
}

// A server whose tool asks for a model's answer, and gives that, or the error, as its text.
std::function<void(Script&, const Json&)> asking(Json& call) {
  return [&call](Script& script, const Json& message) {
    if (!message.contains("method")) {
      return script.result(call, {{"content", {{{"type", "text"}, {"text", message.dump()}}}}});
    }
    list_or(script, message, [&] {
      call = message;
      script.say(
          {{"jsonrpc", "2.0"}, {"id", "s1"}, {"method", "sampling/createMessage"}, {"params", {{"maxTokens", 5}}}});
    });
  };
}

std::string first_text(const Json& result) { return result["content"][0]["text"].get<std::string>(); }

TEST_CASE("what a server asks a client in the middle of its call reaches that client, and the answer comes back") {
  Json call;
  Heard heard;
  Stage stage(asking(call));
  stage.client_capabilities = {{"sampling", Json::object()}};
  const auto invocation = stage.invocation(heard);
  stage.upstream.call("t", *invocation);
  stage.waiting.until([&] { return heard.asked.size() == 1; }, "nothing was asked");
  REQUIRE(heard.asked[0].size() == 1);
  CHECK(heard.asked[0][0].method == "sampling/createMessage");
  CHECK(heard.asked[0][0].params["maxTokens"] == 5);
  invocation->run_again({{heard.asked[0][0].key, {{"role", "assistant"}}}}, heard.state);
  stage.waiting.until([&] { return heard.results.size() == 1; }, "no result");
  CHECK_THAT(first_text(heard.results[0]), has_text(R"("id":"s1","result":{"role":"assistant"})"));
  // The same answer again finds nobody.
  Heard late;
  stage.invocation(late)->run_again({{heard.asked[0][0].key, Json::object()}}, heard.state);
  CHECK(late.results.size() == 1);
}

TEST_CASE("a server's question is refused where no client can answer it, or where it could be another client's") {
  Json call;
  Stage stage(asking(call));
  Heard heard;
  stage.call(heard);
  stage.waiting.until([&] { return heard.results.size() == 1; }, "no result");
  CHECK_THAT(first_text(heard.results[0]), has_text("-32601"));
}

const Json kSampling{{"sampling", Json::object()}};

// A server whose calls take as long as the test wants.
void endless(Script& script, const Json& message) {
  if (message.contains("method")) list_or(script, message, [] {});
}

TEST_CASE("a question of very many values is refused, and no client is asked") {
  Heard heard;
  Stage stage(endless);
  stage.client_capabilities = kSampling;
  stage.call(heard);
  stage.await_sent("tools/call");
  const Json numbers = std::vector<int>(262'144);
  stage.script.say({{"jsonrpc", "2.0"}, {"id", "many"}, {"method", "sampling/createMessage"}, {"params", numbers}});
  stage.await_sent("asks with more than 262144 values");
  CHECK(heard.asked.empty());
}

TEST_CASE("a call that ends while its client is asked ends there, too, and the question is answered") {
  Heard heard;
  Stage stage(endless);
  stage.client_capabilities = kSampling;
  const Caller caller;
  const auto invocation = stage.invocation(heard, Json::object(), caller);
  stage.upstream.call("t", *invocation);
  stage.await_sent("tools/call");
  stage.ask();
  stage.waiting.until([&] { return heard.asked.size() == 1; }, "nothing was asked");
  SECTION("since the client refuses") { invocation->error(RpcError(ErrorCode::kInternalError, "no")); }
  SECTION("since the client cancels") { caller.session->cancel_all(); }
  stage.await_sent("notifications/cancelled");
  stage.await_sent("the client gave no answer");
  CHECK(invocation.use_count() == 1);
}

TEST_CASE("a client that was asked and has not come again is asked by its next call, others are not meanwhile") {
  Heard abandoned;
  Heard next;
  Heard stranger;
  Stage stage(endless);
  stage.client_capabilities = kSampling;
  const mcp::Revision* const stateless = mcp::find_revision("2026-07-28");
  stage.call(abandoned, Json::object(), {.revision = stateless});
  stage.await_sent("tools/call");
  stage.ask();
  stage.waiting.until([&] { return abandoned.asked.size() == 1; }, "nothing was asked");
  stage.call(next, Json::object(), {.revision = stateless, .address = "127.0.0.1:40113"});
  stage.await_sent("tools/call", 2);
  stage.ask();
  stage.waiting.until([&] { return next.asked.size() == 1; }, "nothing was asked");
  stage.call(stranger, Json::object(), {.revision = stateless, .address = "10.0.0.1:40112"});
  stage.await_sent("tools/call", 3);
  stage.ask();
  stage.await_sent("calls of several clients are in progress");
  CHECK(stranger.asked.empty());
}

TEST_CASE("what may be about a cancelled call is asked of no other client until that server has read that it was") {
  Heard cancelled;
  Heard other;
  Stage stage(endless);
  stage.client_capabilities = kSampling;
  const Caller gone{.address = "10.0.0.1:40112"};
  const auto call = stage.invocation(cancelled, Json::object(), gone);
  stage.upstream.call("t", *call);
  const auto cancel = [&] { call->error(RpcError(ErrorCode::kInternalError, "no")); };
  SECTION("another client has a call in progress") {
    // Of one host, as all are behind a proxy.
    stage.call(other, Json::object(), {.address = "10.0.0.1:40113"});
    stage.await_sent("tools/call", 2);
    cancel();
    stage.await_sent("\"ping\"");
    stage.ask();
    stage.await_sent("calls of several clients are in progress");
    CHECK(other.asked.empty());
    const auto sent = stage.script.sent();
    const auto ping = std::ranges::find_if(sent, [](const auto& each) { return each.find("\"ping\"") != each.npos; });
    stage.script.result(Json::parse(*ping), Json::object());
    stage.ask();
    stage.waiting.until([&] { return other.asked.size() == 1; }, "nothing was asked");
  }
  SECTION("the same client has another call in progress") {
    stage.call(other, Json::object(), gone);
    stage.await_sent("tools/call", 2);
    cancel();
    stage.await_sent("\"ping\"");
    stage.ask();
    stage.waiting.until([&] { return other.asked.size() == 1; }, "nothing was asked");
  }
  SECTION("the same client and another one have cancelled") {
    Heard stranger;
    const auto foreign = stage.invocation(stranger);
    stage.upstream.call("t", *foreign);
    stage.call(other, Json::object(), gone);
    stage.await_sent("tools/call", 3);
    foreign->error(RpcError(ErrorCode::kInternalError, "no"));
    stage.await_sent("\"ping\"");  // before the next: one that has not been sent gives way to it
    cancel();
    stage.await_sent("\"ping\"", 2);
    stage.ask();
    stage.await_sent("calls of several clients are in progress");
    CHECK(other.asked.empty());
  }
  CHECK(cancelled.asked.empty());
}

TEST_CASE("a question is answered when the call ends in which the client was asked, as it may be another call's") {
  Heard first;
  Heard asked;
  Stage stage(endless);
  stage.client_capabilities = kSampling;
  Caller caller;
  const auto end_last_call = [&stage] {
    const auto sent = stage.script.sent();
    const auto call = std::find_if(sent.rbegin(), sent.rend(),
                                   [](const auto& each) { return each.find("tools/call") != std::string::npos; });
    stage.script.result(Json::parse(*call), {{"content", Json::array({Json{{"type", "text"}, {"text", "done"}}})}});
  };
  const auto call_twice = [&] {
    stage.call(first, Json::object(), caller);
    stage.call(asked, Json::object(), caller);
    stage.await_sent("tools/call", 2);
    stage.ask();
    stage.waiting.until([&] { return asked.asked.size() == 1; }, "nothing was asked");
    end_last_call();
    stage.await_sent("the call has ended that its client was asked in");
  };
  SECTION("with a handshake the result is told at once") {
    call_twice();
    REQUIRE(asked.results.size() == 1);
    CHECK(first_text(asked.results[0]) == "done");
  }
  SECTION("without one it is told when the client comes again") {
    caller.revision = mcp::find_revision("2026-07-28");
    call_twice();
    Heard again;
    stage.invocation(again, Json::object(), caller)->run_again({{asked.asked[0][0].key, Json::object()}}, asked.state);
    REQUIRE(again.results.size() == 1);
    CHECK(first_text(again.results[0]) == "done");
  }
  CHECK(first.results.empty());
}

TEST_CASE("of a client's calls the newest is asked that can be") {
  Heard first;
  Heard second;
  Heard reading;
  Stage stage(endless);
  stage.client_capabilities = kSampling;
  const Caller caller;
  stage.call(first, Json::object(), caller);
  stage.call(second, Json::object(), caller);
  stage.upstream.read("file:///a", *stage.invocation(reading, Json::object(), caller));
  stage.await_sent("resources/read");
  stage.ask();
  stage.waiting.until([&] { return second.asked.size() == 1; }, "nothing was asked");
  stage.ask();
  stage.waiting.until([&] { return first.asked.size() == 1; }, "nothing was asked");
  stage.ask();
  stage.await_sent("there is no client that could be asked");
  CHECK(reading.asked.empty());
}

TEST_CASE("calls in a session that several clients share may be of several clients") {
  Heard first;
  Heard second;
  Stage stage(endless);
  stage.client_capabilities = kSampling;
  const auto requests = std::make_shared<RequestTable>();
  const Caller caller{.revision = mcp::find_revision("2026-07-28"),
                      .requests = requests,
                      .session = std::make_shared<Session>(requests, SessionOf::kManyClients)};
  stage.call(first, Json::object(), caller);
  stage.call(second, Json::object(), caller);
  stage.await_sent("tools/call", 2);
  stage.ask();
  stage.await_sent("calls of several clients are in progress");
}

TEST_CASE("a client that comes again without wanting progress is told of none") {
  Json call;
  Heard heard;
  Stage stage([&call](Script& script, const Json& message) {
    if (!message.contains("method")) {
      progress(script, call, 1, "one");
      return script.result(call, {{"content", Json::array()}});
    }
    list_or(script, message, [&] { call = message; });
  });
  stage.client_capabilities = kSampling;
  Caller caller{.revision = mcp::find_revision("2026-07-28")};
  stage.call(heard, Json::object(), caller);
  stage.await_sent("tools/call");
  stage.ask();
  stage.waiting.until([&] { return heard.asked.size() == 1; }, "nothing was asked");
  caller.progress_token = nullptr;
  stage.invocation(heard, Json::object(), caller)->run_again({{heard.asked[0][0].key, Json::object()}}, heard.state);
  stage.waiting.until([&] { return heard.results.size() == 2; }, "no result");
  CHECK(heard.updates.empty());
}

TEST_CASE("a resource that is not there is a wrong parameter, whichever revision that server speaks") {
  Heard heard;
  Stage stage(
      [](Script& script, const Json& message) { list_or(script, message, [&] { script.error(message, -32002); }); });
  stage.upstream.read("file:///a", *stage.invocation(heard));
  stage.waiting.until([&] { return heard.errors.size() == 1; }, "no error");
  CHECK(heard.errors[0] == -32602);
}

TEST_CASE("resources that cannot be served are left out, with a word in the log") {
  Stage stage(
      [](Script& script, const Json& message) {
        if (message["method"] != "resources/list") return list_or(script, message, [] {});
        script.result(message, {{"resources", {5, {{"uri", "x:1"}}, {{"uri", std::string(3000, 'x')}}}}});
      },
      {{"tools", Json::object()}, {"resources", Json::object()}});
  stage.waiting.until([&] { return stage.upstream.list(Offered::kResources).size() == 1; }, "no resource");
  CHECK_THAT(stage.text.str(), has_text("2 of the resources are left out"));
}

TEST_CASE("a server without a handshake asks by its result, and is called again with the answers and its state") {
  Json second;
  Heard heard;
  Stage stage(
      [&second](Script& script, const Json& message) {
        if (message["method"] == "subscriptions/listen") return;
        list_or(script, message, [&] {
          if (message["params"].contains("inputResponses")) {
            second = message["params"];
            return script.result(message, {{"resultType", "complete"}, {"content", Json::array()}});
          }
          const Json request{{"method", "elicitation/create"}, {"params", {{"message", "Sure?"}}}};
          script.result(message,
                        {{"resultType", "input_required"}, {"inputRequests", {{"k", request}}}, {"requestState", "S"}});
        });
      },
      {{"tools", Json::object()}}, ScriptedEra::kModern);
  stage.client_capabilities = {{"elicitation", Json::object()}};
  const auto invocation = stage.invocation(heard);
  stage.upstream.call("t", *invocation);
  stage.waiting.until([&] { return heard.asked.size() == 1; }, "nothing was asked");
  CHECK(heard.asked[0][0].params["message"] == "Sure?");
  invocation->run_again({{"k", {{"action", "accept"}}}}, heard.state);
  stage.waiting.until([&] { return heard.results.size() == 1; }, "no result");
  CHECK(second["inputResponses"] == Json{{"k", {{"action", "accept"}}}});
  CHECK(second["requestState"] == "S");
  CHECK(second["_meta"]["io.modelcontextprotocol/clientCapabilities"].contains("elicitation"));
}

TEST_CASE("a server that asks for very many things at once is refused, and the client is asked for none") {
  std::size_t count = 0;
  Heard heard;
  Stage stage(
      [&count](Script& script, const Json& message) {
        if (message["method"] == "subscriptions/listen") return;
        list_or(script, message, [&] {
          Json requests = Json::object();
          for (std::size_t each = 0; each < count; ++each)
            requests["k" + std::to_string(each)] = {{"method", "elicitation/create"}, {"params", Json::object()}};
          script.result(message, {{"resultType", "input_required"}, {"inputRequests", std::move(requests)}});
        });
      },
      {{"tools", Json::object()}}, ScriptedEra::kModern);
  stage.client_capabilities = {{"elicitation", Json::object()}};
  count = 65;
  stage.call(heard);
  stage.waiting.until([&] { return heard.results.size() == 1; }, "no result");
  CHECK_THAT(heard.results[0]["content"][0]["text"].get<std::string>(),
             has_text("asks for more than 64 things at once"));
  CHECK(heard.asked.empty());
  count = 64;
  stage.call(heard);
  stage.waiting.until([&] { return heard.asked.size() == 1; }, "nothing was asked");
  CHECK(heard.asked[0].size() == 64);
}

TEST_CASE("an answer of very many values is refused, which the client is told") {
  std::size_t count = 0;
  Heard heard;
  Stage stage([&count](Script& script, const Json& message) {
    list_or(script, message, [&] {
      const Json numbers = std::vector<int>(count);
      script.result(message, {{"content", Json::array()}, {"structuredContent", {{"numbers", numbers}}}});
    });
  });
  count = 262'144;
  stage.call(heard);
  stage.waiting.until([&] { return heard.results.size() == 1; }, "no result");
  CHECK_THAT(heard.results[0]["content"][0]["text"].get<std::string>(),
             has_text("upstream up: sent an answer of more than 262144 values"));
  count = 262'000;
  stage.call(heard);
  stage.waiting.until([&] { return heard.results.size() == 2; }, "no result");
  CHECK(heard.results[1]["structuredContent"]["numbers"].size() == count);
}

TEST_CASE("tools that are left out are named in the log, once, on one line") {
  std::atomic<bool> has_more = false;
  Stage stage([&has_more](Script& script, const Json& request) {
    if (!has_more) return list_or(script, request, [] {});
    script.result(request, {{"tools", {plain_tool("t"), plain_tool("more"), Json{{"name", "bad\nname"}}}}});
  });
  CHECK(stage.upstream.tools().size() == 1);
  has_more = true;
  stage.script.say({{"jsonrpc", "2.0"}, {"method", "notifications/tools/list_changed"}});
  stage.waiting.until([&] { return stage.upstream.tools().size() == 2; }, "not listed again");
  const std::string text = stage.text.str();
  CHECK_THAT(text, has_text("1 tools are left out: bad name: "));
  CHECK(text.find("left out") == text.rfind("left out"));
}

}  // namespace rkllm_mcp::test
