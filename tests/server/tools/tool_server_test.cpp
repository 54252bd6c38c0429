// How tools are run, whichever they are: both dialects, bad arguments, cancelling, limits, answers that are kept.
#include "server/tools/tool_bench.hpp"
#include "support/catch.hpp"
#include "support/web_server.hpp"

#include <poll.h>

#include <atomic>
#include <future>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace rkllm_mcp::offered {
OfferedTool roll_die(const ToolSurroundings& surroundings);  // of docs/tools.md
}

namespace {

std::string in_mcp(const std::string& tool, const Json& arguments, const Json& meta = Json::object()) {
  return call("7", "tools/call", stateless(Json{{"name", tool}, {"arguments", arguments}, {"_meta", meta}}));
}

ToolAnswer plain_answer(const std::string& text) { return {text, Json{{"text", text}}}; }

}  // namespace

TEST_CASE("the tools are listed in both dialects, with schemas, and say what they lack") {
  ToolBench bench;
  bench.send(call("1", "tool-server/tools/list"));
  const Json direct = bench.receive()["result"]["tools"];
  std::vector<std::string> names;
  for (const Json& tool : direct) {
    names.push_back(tool["name"]);
    CHECK(tool["inputSchema"]["type"] == "object");
    CHECK(tool["outputSchema"]["type"] == "object");
    CHECK(tool["annotations"]["readOnlyHint"] == true);
    if (tool["name"] == "google_search") {
      CHECK_THAT(tool["description"].get<std::string>(), has_text("tools.google.api_key and tools.google.cx"));
    }
  }
  CHECK(names == std::vector<std::string>{"calculate", "current_time", "duckduckgo_search", "fetch_page",
                                          "google_search", "searxng_search"});
  bench.send(call("2", "tools/list", stateless(Json::object())));
  const Json listed = bench.receive()["result"]["tools"];
  for (const Json& tool : direct) CHECK(std::ranges::count(listed, tool) == 1);
}

TEST_CASE("a tool answers text, and the same for programs") {
  ToolBench bench;
  const Json result = bench.call("calculate", {{"expression", "0.1+0.2"}});
  CHECK(result["content"] == Json::array({mcp::text_block("0.3")}));
  CHECK(result["structuredContent"] == Json{{"result", "0.3"}, {"is_exact", true}, {"fraction", nullptr}});
  bench.send(in_mcp("calculate", {{"expression", "0.1+0.2"}}));
  const Json in_protocol = bench.receive()["result"];
  CHECK(in_protocol["content"] == result["content"]);
  CHECK(in_protocol["structuredContent"] == result["structuredContent"]);
  CHECK_FALSE(in_protocol.contains("isError"));
}

TEST_CASE("the tool of one file that the documentation shows works as it stands there") {
  const ToolSurroundings surroundings{Settings().tools, Immutable(WebClient(WebClient::Options())),
                                      Immutable(PageReading(std::string()))};
  ToolServer::Options options;
  options.more = {offered::roll_die(surroundings)};
  ToolBench bench(Settings().tools, options);
  const Json number = bench.call("roll_die", Json::object())["structuredContent"]["number"];
  CHECK(number >= 1);
  CHECK(number <= 6);
  CHECK(bench.call("roll_die", {{"sides", 1}})["code"] == -32602);
}

TEST_CASE("bad arguments are -32602 with a path, and a result with isError in MCP") {
  ToolBench bench;
  const auto complaint = [&](const std::string& tool, const Json& arguments) {
    const Json error = bench.call(tool, arguments);
    CHECK(error["code"] == -32602);
    return error.dump();
  };
  CHECK_THAT(complaint("calculate", Json::object()), has_text("params.arguments.expression: missing"));
  CHECK_THAT(complaint("calculate", {{"expression", 1}}), has_text("params.arguments.expression: expected string"));
  CHECK_THAT(complaint("calculate", {{"expression", ""}}), has_text("too short"));
  CHECK_THAT(complaint("calculate", {{"expression", std::string(1001, '1')}}), has_text("1000 characters"));
  CHECK_THAT(complaint("calculate", {{"expression", "1+"}}),
             has_text("params.arguments.expression: expected a number"));
  CHECK_THAT(complaint("duckduckgo_search", {{"query", "x"}, {"max_results", 11}}), has_text("more than 10"));
  CHECK_THAT(complaint("duckduckgo_search", {{"query", "x"}, {"max_results", 0}}), has_text("less than 1"));
  CHECK_THAT(complaint("duckduckgo_search", {{"query", "x"}, {"max_results", 1.5}}), has_text("expected integer"));
  CHECK_THAT(complaint("duckduckgo_search", {{"query", " \t"}}), has_text("is empty"));
  CHECK_THAT(complaint("fetch_page", {{"url", "ftp://x/"}}), has_text("params.arguments.url"));
  CHECK_THAT(complaint("current_time", {{"timezone", "../passwd"}}), has_text("params.arguments.timezone"));
  bench.send(in_mcp("calculate", {{"expression", 1}}));
  const Json result = bench.receive()["result"];
  CHECK(result["isError"] == true);
  CHECK_THAT(result["content"][0]["text"].get<std::string>(), has_text("expected string"));
}

TEST_CASE("harmless differences are taken: null, 5.0, members that nobody knows") {
  ToolBench bench;
  CHECK(bench.text("calculate", {{"expression", "1"}, {"more", 1}}) == "1");
  CHECK_THAT(bench.text("current_time", {{"timezone", nullptr}}), has_text("T"));
  CHECK(mcp::checked_arguments(Json{{"properties", {{"n", {{"type", "integer"}}}}}}, {{"n", 5.0}})["n"] == Json(5));
}

TEST_CASE("what a tool cannot do is -32002, and a result with isError in MCP") {
  ToolBench bench;
  const Json error = bench.call("calculate", {{"expression", "1/0"}});
  CHECK(error["code"] == -32002);
  CHECK(error["message"] == "division by zero");
  CHECK(error["data"]["tool"] == "calculate");
  CHECK(bench.call("google_search", {{"query", "x"}})["message"] ==
        "google_search is not configured: set tools.google.api_key and tools.google.cx");
  CHECK(bench.call("searxng_search", {{"query", "x"}})["message"] ==
        "searxng_search is not configured: set tools.searxng.url");
  bench.send(in_mcp("calculate", {{"expression", "1/0"}}));
  const Json result = bench.receive()["result"];
  CHECK(result["isError"] == true);
  CHECK(result["content"][0]["text"] == "division by zero");
}

TEST_CASE("while a tool waits the loop serves others, and who cancels ends the waiting") {
  std::atomic<bool> has_gone = false;
  WebServer server([&](const std::string&, WebServer::Socket& socket) {
    WebServer::await_end(socket);
    has_gone = true;
  });
  ToolSettings settings = Settings().tools;
  settings.allowed_addresses = {"127.0.0.1"};
  ToolBench bench(settings);
  bench.send(in_mcp("fetch_page", {{"url", server.url()}}));
  server.await_requests(1);
  CHECK(bench.text("calculate", {{"expression", "2*3"}}) == "6");
  bench.client.receive(
      std::string_view(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})"));
  bench.run_until([&] { return has_gone.load(); });
  CHECK(bench.text("calculate", {{"expression", "2*4"}}) == "8");
}

TEST_CASE("a client that leaves takes its calls with it") {
  std::atomic<bool> has_gone = false;
  WebServer server([&](const std::string&, WebServer::Socket& socket) {
    WebServer::await_end(socket);
    has_gone = true;
  });
  ToolSettings settings = Settings().tools;
  settings.allowed_addresses = {"127.0.0.1"};
  ToolBench bench(settings);
  bench.send(in_mcp("fetch_page", {{"url", server.url()}}));
  server.await_requests(1);
  bench.client.peer->close();
  bench.run_until([&] { return has_gone.load(); });
}

TEST_CASE("a call that takes too long is ended, and said to be") {
  // A body of which a byte comes now and then: never idle for long, and never at an end.
  WebServer server([](const std::string&, WebServer::Socket& socket) {
    WebServer::send(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    constexpr int kBetweenBytes = 20;  // ms
    pollfd gone{socket.native_handle(), POLLRDHUP, 0};
    while (::poll(&gone, 1, kBetweenBytes) == 0 && WebServer::send(socket, "x")) {
    }
  });
  ToolSettings settings = Settings().tools;
  settings.allowed_addresses = {"127.0.0.1"};
  settings.timeout_s = std::chrono::seconds(1);
  ToolBench bench(settings);
  const Json error = bench.call("fetch_page", {{"url", server.url()}});
  CHECK(error["code"] == -32002);
  CHECK_THAT(error["message"].get<std::string>(), has_text("1 s (tools.timeout_s)"));
}

TEST_CASE("headers without end are not gathered") {
  WebServer server([](const std::string&, WebServer::Socket& socket) {
    WebServer::send(socket, "HTTP/1.1 200 OK\r\n");
    const std::string header = "X-Header: " + std::string(1000, 'x') + "\r\n";
    while (WebServer::send(socket, header)) {
    }
  });
  ToolSettings settings = Settings().tools;
  settings.allowed_addresses = {"127.0.0.1"};
  ToolBench bench(settings);
  // Newer versions of cpp-httplib stop by themselves, and do not say why.
  CHECK_THAT(bench.call("fetch_page", {{"url", server.url()}})["message"].get<std::string>(),
             has_text("sends headers without end"));
}

TEST_CASE("progress is told to who wants it") {
  ToolServer::Options options;
  options.more = {tool_named("steps", [](const Json&, ToolRun& run) {
    run.progress(1, 2, "half");
    return plain_answer("done");
  })};
  ToolBench bench(Settings().tools, options);
  bench.send(in_mcp("steps", Json::object(), {{"progressToken", "p"}}));
  const Json progress = bench.receive();
  CHECK(progress["method"] == "notifications/progress");
  CHECK(progress["params"]["progress"] == 1);
  CHECK(progress["params"]["total"] == 2);
  CHECK(progress["params"]["message"] == "half");
  CHECK(bench.receive()["result"]["content"][0]["text"] == "done");
}

TEST_CASE("answers from the network are kept for a while, and the network is not asked too often") {
  auto now = std::make_shared<std::chrono::steady_clock::time_point>();
  int asked = 0;
  auto tool = tool_named("ask", [&asked](const Json&, ToolRun&) { return plain_answer(std::to_string(++asked)); });
  tool.reach = OfferedTool::Reach::kNetwork;
  ToolServer::Options options;
  options.more = {tool};
  options.clock = [now] { return *now; };
  ToolSettings settings = Settings().tools;
  settings.per_minute = 2;
  settings.cache_s = std::chrono::seconds(10);
  ToolBench bench(settings, options);
  CHECK(bench.text("ask", {{"x", 1}}) == "1");
  CHECK(bench.text("ask", {{"x", 1}}) == "1");  // kept
  CHECK(bench.text("ask", {{"x", 2}}) == "2");
  CHECK_THAT(bench.text("ask", {{"x", 3}}),
             has_text("more than 2 times a minute (tools.per_minute); try again in 30 s"));
  CHECK(bench.text("ask", {{"x", 2}}) == "2");  // what is kept does not count
  *now += std::chrono::seconds(30);
  CHECK(bench.text("ask", {{"x", 1}}) == "3");  // too old
  CHECK_THAT(bench.text("ask", {{"x", 2}}), has_text("try again"));
}

TEST_CASE("failures are not kept") {
  int asked = 0;
  auto tool = tool_named("ask", [&asked](const Json&, ToolRun&) -> ToolAnswer {
    throw ToolFailure("failure " + std::to_string(++asked));
  });
  tool.reach = OfferedTool::Reach::kNetwork;
  ToolServer::Options options;
  options.more = {tool};
  ToolBench bench(Settings().tools, options);
  CHECK(bench.call("ask", Json::object())["message"] == "failure 1");
  CHECK(bench.call("ask", Json::object())["message"] == "failure 2");
}

TEST_CASE("calls that cannot even wait are refused, and those that wait get their turn") {
  std::promise<void> go;
  const auto gone = go.get_future().share();
  ToolServer::Options options;
  options.more = {tool_named("wait", [gone](const Json& arguments, ToolRun&) {
    gone.wait();
    return plain_answer(arguments.dump());
  })};
  ToolSettings settings = Settings().tools;
  settings.workers = 1;
  settings.max_waiting = 1;
  ToolBench bench(settings, options);
  const auto begin = [&](const std::string& id) {
    bench.client.receive(std::string_view(
        call(id, "tool-server/tools/call", Json{{"name", "wait"}, {"arguments", {{"x", std::stoi(id)}}}}.dump())));
  };
  // The one thread takes the first at a moment of its own; of the rest one may wait.
  begin("1");
  begin("2");
  begin("3");
  const Json refused = bench.receive();
  CHECK(refused["error"]["code"] == -32002);
  CHECK_THAT(refused["error"]["message"].get<std::string>(), has_text("tools.max_waiting"));
  go.set_value();
  CHECK(bench.receive().contains("id"));
}

TEST_CASE("the end of the server ends the calls, and waits for those who do them") {
  std::promise<void> begun;
  ToolServer::Options options;
  options.more = {tool_named("wait", [&begun](const Json&, ToolRun& run) {
    begun.set_value();
    while (!run.stop().is_stopped()) std::this_thread::yield();
    return plain_answer("late");
  })};
  ToolBench bench(Settings().tools, options);
  bench.send(call("1", "tool-server/tools/call", R"({"name":"wait"})"));
  begun.get_future().wait();
  bench.tools.stop();
  CHECK(bench.receive()["error"]["message"] == "the server is ending");
  CHECK(bench.tools.end(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  CHECK(bench.call("wait", Json::object())["message"] == "the server is ending");
}

TEST_CASE("kept answers take no more room than they may, what was asked for longest ago goes") {
  AnswerCache cache(400, std::chrono::seconds(10));
  const Clock::time_point now;
  for (const char* const question : {"a", "b", "c"}) cache.keep(question, plain_answer(std::string(40, 'x')), now);
  CHECK(cache.find("a", now));
  for (const char* const question : {"d", "e"}) cache.keep(question, plain_answer(std::string(40, 'x')), now);
  CHECK(cache.bytes() <= 400);
  CHECK_FALSE(cache.find("b", now));
  CHECK(cache.find("a", now));
  CHECK_FALSE(cache.find("a", now + std::chrono::seconds(10)));
  cache.keep("big", plain_answer(std::string(1000, 'x')), now);
  CHECK_FALSE(cache.find("big", now));
}
