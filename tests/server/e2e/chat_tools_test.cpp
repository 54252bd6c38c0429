// The chat set of MCP tools: the real program, real sockets, and a simulated model that says what the test tells it to.
#include "client/mcp/mcp_client.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/live_server.hpp"
#include "support/process.hpp"
#include "support/rpc_client.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <future>
#include <string>
#include <vector>

namespace rkllm_mcp::test {
namespace {

constexpr const char* kSmall = "qwen3-small";
constexpr const char* kOther = "qwen3-other";
const std::vector<std::string> kChatSet{"list_models", "load_model", "chat", "embed", "stop", "status", "unload_model"};

Json preset(const std::string& file) {
  return {{"param", {{"model_path", shipped_model(file)}, {"max_context_len", 4096}}}, {"template", "qwen3"}};
}

LiveServer::Options with_model(std::vector<std::string> more = {}, const std::string& file = "fast") {
  LiveServer::Options options;
  options.set = {"models=" + Json{{kSmall, preset(file)}}.dump(), "memory.database=:memory:"};
  options.set.insert(options.set.end(), more.begin(), more.end());
  return options;
}

// What makes the simulated model answer with exactly this text.
std::string answering(const std::string& text) { return "@say=" + Json(text).dump(); }

std::vector<std::string> names_in(const Json& list) {
  std::vector<std::string> names;
  for (const Json& tool : list.at("tools")) names.push_back(tool.at("name"));
  return names;
}

bool lists(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

Json call_tool(RpcClient& client, const std::string& name, const Json& arguments = Json::object()) {
  return client.result("tools/call", {{"name", name}, {"arguments", arguments}});
}

// The structured part of a result that is no error.
Json told(RpcClient& client, const std::string& name, const Json& arguments = Json::object()) {
  const Json result = call_tool(client, name, arguments);
  INFO(result.dump());
  REQUIRE_FALSE(result.value("isError", false));
  return result.at("structuredContent");
}

// The text of an error, and its data.
std::string complaint(RpcClient& client, const std::string& name, const Json& arguments = Json::object()) {
  const Json result = call_tool(client, name, arguments);
  INFO(result.dump());
  REQUIRE(result.value("isError", false));
  return result.at("content").at(0).at("text").get<std::string>();
}

// Waits until the tool `status` tells of an answer in the making with some text.
void await_answering(RpcClient& client) {
  REQUIRE(eventually([&] {
    const Json answers = told(client, "status")["answers"];
    return !answers.empty() && answers[0]["bytes"] > 0;
  }));
}

void await_no_turns(RpcClient& client) {
  REQUIRE(eventually([&] { return told(client, "status")["turns"] == 0; }));
}

}  // namespace

TEST_CASE("the chat set comes first in the list, and mcp.tools chooses what else is there") {
  const auto listed = [](std::vector<std::string> more) {
    LiveServer server(with_model(std::move(more)));
    RpcClient client(server.connect(Transport::kTcp));
    // What is not listed can be called all the same.
    CHECK_FALSE(call_tool(client, "rkllm_init", {{"model", kSmall}}).value("isError", false));
    CHECK_FALSE(call_tool(client, "memory_get_or_create").value("isError", false));
    CHECK_FALSE(call_tool(client, "current_time").value("isError", false));
    CHECK_FALSE(call_tool(client, "list_models").value("isError", false));
    return names_in(client.result("tools/list"));
  };
  const auto usual = listed({});
  REQUIRE(usual.size() > kChatSet.size());
  CHECK(std::vector<std::string>(usual.begin(), usual.begin() + 7) == kChatSet);
  CHECK(lists(usual, "rkllm_run"));
  CHECK(lists(usual, "fetch_page"));
  CHECK_FALSE(lists(usual, "memory_add_message"));
  CHECK(listed({R"(mcp.tools=["chat"])"}) == kChatSet);
  const auto memory = listed({"mcp.tools=memory"});
  CHECK(lists(memory, "memory_add_message"));
  CHECK_FALSE(lists(memory, "chat"));
  CHECK_FALSE(lists(memory, "rkllm_run"));
  CHECK(listed({"mcp.tools=[]"}).empty());
}

TEST_CASE("clients are told of tools that are listed, and of no others") {
  const auto told = [](std::vector<std::string> more) {
    LiveServer server(with_model(std::move(more)));
    RpcClient client(server.connect(Transport::kTcp));
    return client.initialize()["instructions"].get<std::string>();
  };
  const std::string usual = told({});
  CHECK(usual.find("memory_add_message") == std::string::npos);
  CHECK_THAT(usual, has_text("list_models"));
  CHECK_THAT(usual, has_text("the web"));
  const std::string memory = told({"mcp.tools=memory"});
  CHECK_THAT(memory, has_text("memory_add_message"));
  CHECK(memory.find("list_models") == std::string::npos);
  CHECK(memory.find("the web") == std::string::npos);
}

TEST_CASE("after SIGHUP the list shows what mcp.tools says now, and clients are told") {
  LiveServer server(with_model());
  RpcClient client(server.connect(Transport::kTcp));
  client.result("initialize", {{"protocolVersion", "2025-11-25"},
                               {"capabilities", Json::object()},
                               {"clientInfo", {{"name", "test"}, {"version", "1"}}}});
  client.send_text(R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  CHECK(lists(names_in(client.result("tools/list")), "rkllm_run"));
  write_file(server.directory() / "settings.json", Json{{"mcp", {{"tools", {"chat"}}}}}.dump());
  server.process().signal(SIGHUP);
  for (;;) {
    const Json message = client.receive_or_throw();
    if (message.value("method", "") == "notifications/tools/list_changed") break;
  }
  CHECK(names_in(client.result("tools/list")) == kChatSet);
  CHECK(call_tool(client, "list_models")["structuredContent"]["models"].size() == 1);
}

TEST_CASE("prompts ask for tools that are listed") {
  LiveServer server(with_model({R"(mcp.tools=["chat"])"}));
  RpcClient client(server.connect(Transport::kTcp));
  const auto text = [&client](const char* name, const Json& arguments) {
    const Json got = client.result("prompts/get", {{"name", name}, {"arguments", arguments}});
    return got["messages"][0]["content"]["text"].get<std::string>();
  };
  CHECK_THAT(text("set_up_model", {{"model", "m"}}), has_text(R"(the tool load_model with {"model":"m"})"));
  CHECK_THAT(text("chat", {{"message", "Hi"}}), has_text(R"(the tool chat with {"message":"Hi"})"));
  CHECK_THAT(text("summarize", {{"text", "T"}, {"handle", "llm-1"}}), has_text(R"("model":"llm-1")"));
  CHECK(client.result("prompts/list").dump().find("use_tools") == std::string::npos);
  LiveServer usual(with_model());
  RpcClient other(usual.connect(Transport::kTcp));
  CHECK_THAT(other.result("prompts/list").dump(), has_text("use_tools"));
}

TEST_CASE("a set of tools that does not exist is refused when the server starts") {
  try {
    LiveServer server(with_model({R"(mcp.tools=["chat","voice"])"}));
    FAIL("it has started");
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    INFO(text);
    CHECK(text.find("mcp.tools: expected an array of chat, tools, api, memory") != std::string::npos);
  }
}

TEST_CASE("chat answers over MCP, and its text comes as progress that makes up the answer", "[mcp]") {
  LiveServer server(with_model());
  const std::string text = "Hello there, this is an answer of several tokens.";
  for (const Transport transport : {Transport::kHttp, Transport::kTcp, Transport::kUnix, Transport::kWebSocket}) {
    std::string streamed;
    double last = -1;
    std::promise<client::Outcome> end;
    client::McpClient client(
        client::connect_mcp(server.endpoint(transport, transport == Transport::kHttp ? "/mcp" : ""),
                            std::chrono::steady_clock::now() + Process::kPatience),
        {.era = client::EraChoice::kAuto, .client_info = {{"name", "test"}, {"version", "1"}}}, {});
    client.request("tools/call", {{"name", "chat"}, {"arguments", {{"message", answering(text)}, {"max_tokens", 200}}}},
                   {.on_progress =
                        [&](const Json& params) {
                          streamed += params.value("message", "");
                          if (params["progress"] <= last) streamed += " (progress that does not grow)";
                          last = params["progress"].get<double>();
                        },
                    .on_end = [&end](client::Outcome outcome) { end.set_value(std::move(outcome)); }});
    auto ended = end.get_future();
    REQUIRE(ended.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
    const auto outcome = ended.get();
    REQUIRE(std::holds_alternative<Json>(outcome));
    const Json& result = std::get<Json>(outcome);
    INFO(result.dump());
    CHECK(streamed == text);
    CHECK(result["content"][0]["text"] == text);
    const Json& told_of = result["structuredContent"];
    CHECK(told_of["text"] == text);
    CHECK(told_of["model"] == kSmall);
    CHECK(told_of["finish_reason"] == "stop");
    CHECK(told_of["simulated"] == true);
    CHECK(told_of["usage"]["completion_tokens"] > 1);
    CHECK_FALSE(told_of.contains("conversation"));
  }
}

TEST_CASE("system, temperature and max_tokens reach the model, and an answer that is cut says so") {
  LiveServer server(with_model());
  RpcClient client(server.connect(Transport::kTcp));
  const Json result = call_tool(
      client, "chat", {{"message", "Tell me."}, {"system", "Be brief, Ada."}, {"temperature", 0}, {"max_tokens", 4}});
  INFO(result.dump());
  CHECK(result["structuredContent"]["finish_reason"] == "length");
  CHECK(result["content"][1]["text"].get<std::string>().find("max_tokens") != std::string::npos);
  CHECK(server.recorded_runs().at(0).prompt.find("Be brief, Ada.") != std::string::npos);
  CHECK(server.recorded_runs().at(0).tokens == 4);
  CHECK(complaint(client, "chat", {{"message", "x"}, {"temperature", 3}}).find("params.arguments.temperature") == 0);
  CHECK(complaint(client, "chat", {{"message", "x"}, {"max_tokens", 0}}).find("params.arguments.max_tokens") == 0);
  CHECK(complaint(client, "chat", {{"message", 1}}) == "params.arguments.message: expected string");
  CHECK(complaint(client, "chat") == "params.arguments.message: missing");
  CHECK(complaint(client, "chat", {{"message", std::string(60'000, 'x')}}).find("too long") != std::string::npos);
}

TEST_CASE("a conversation goes on under its name, and what was said is in the memory server") {
  LiveServer server(with_model());
  RpcClient client(server.connect(Transport::kTcp));
  const Json first =
      told(client, "chat",
           {{"message", "My name is Ada. " + answering("Hello Ada.")}, {"conversation", "ours"}, {"max_tokens", 200}});
  CHECK(first["conversation"] == "ours");
  CHECK(first["kept"] == true);
  CHECK(first["left_out_messages"] == 0);
  told(client, "chat", {{"message", answering("You are Ada.")}, {"conversation", "ours"}, {"max_tokens", 200}});
  const auto runs = server.recorded_runs();
  const auto second = std::ranges::find_if(runs, [](const RecordedRun& run) { return run.text.find("You are") == 0; });
  REQUIRE(second != runs.end());
  CHECK(second->prompt.find("My name is Ada.") != std::string::npos);
  CHECK(second->prompt.find("Hello Ada.") != std::string::npos);
  const Json kept = client.result("memory/get_all_messages", {{"conversation_id", "ours"}})["messages"];
  REQUIRE(kept.size() == 4);
  CHECK(kept[1]["role"] == "assistant");
  CHECK(kept[3]["content"] == "You are Ada.");
  // Without a name nothing is remembered.
  told(client, "chat", {{"message", answering("Who?")}, {"max_tokens", 200}});
  CHECK(client.result("memory/get_all_messages", {{"conversation_id", "ours"}})["messages"].size() == 4);
}

TEST_CASE("a conversation belongs to the access token that began it") {
  const TemporaryDirectory directory;
  const std::string tokens = directory / "tokens";
  write_file(tokens, "ann a-token-of-length-20 call\nbob another-token-of-24-chars call\n");
  REQUIRE(chmod(tokens.c_str(), S_IRUSR | S_IWUSR) == 0);
  LiveServer server(with_model({"auth.tokens=" + tokens}));
  const auto client_of = [&server](const std::string& token) {
    client::Endpoint endpoint = server.endpoint(Transport::kTcp);
    endpoint.token = token;
    return RpcClient(client::connect(endpoint, std::chrono::steady_clock::now() + Process::kPatience));
  };
  RpcClient ann = client_of("a-token-of-length-20");
  RpcClient bob = client_of("another-token-of-24-chars");
  told(ann, "chat", {{"message", "A secret. " + answering("I see.")}, {"conversation", "c"}, {"max_tokens", 200}});
  told(bob, "chat", {{"message", answering("Nothing.")}, {"conversation", "c"}, {"max_tokens", 200}});
  const auto runs = server.recorded_runs();
  const auto of_bob = std::ranges::find_if(runs, [](const RecordedRun& run) { return run.text.find("Nothing.") == 0; });
  REQUIRE(of_bob != runs.end());
  CHECK(of_bob->prompt.find("A secret.") == std::string::npos);
  // Unloading takes the permission admin: the tool is not there for who has not got it.
  CHECK_FALSE(lists(names_in(bob.result("tools/list")), "unload_model"));
  CHECK(complaint(bob, "unload_model", {{"model", kSmall}}).find("admin") != std::string::npos);
  CHECK(told(bob, "load_model", {{"model", kSmall}})["model"] == kSmall);
}

TEST_CASE("stop ends an answer with the text so far, and cancelling ends it without one") {
  LiveServer server(with_model({}, "rk3588-1.5b"));  // at a board's speed
  RpcClient client(server.connect(Transport::kTcp));
  RpcClient other(server.connect(Transport::kTcp));
  const int id = client.send(
      "tools/call", {{"name", "chat"}, {"arguments", {{"message", "@n=100000000"}, {"conversation", "long"}}}});
  await_answering(client);
  CHECK(complaint(other, "chat", {{"message", "x"}, {"conversation", "long"}}).find("being made") != std::string::npos);
  CHECK(told(other, "stop")["stopped"] == 0);  // it is another client's
  CHECK(told(client, "stop")["stopped"] == 1);
  const Json stopped = client.answer(id)["result"];
  INFO(stopped.dump());
  CHECK(stopped["structuredContent"]["finish_reason"] == "stopped");
  CHECK_FALSE(stopped["structuredContent"]["text"].get<std::string>().empty());
  CHECK(stopped["structuredContent"]["usage"]["completion_tokens"].is_null());
  const Json kept = client.result("memory/get_all_messages", {{"conversation_id", "long"}})["messages"];
  REQUIRE(kept.size() == 2);
  CHECK(kept[1]["metadata"]["partial"] == true);
  await_no_turns(client);

  const int cancelled = client.send("tools/call", {{"name", "chat"}, {"arguments", {{"message", "@n=100000000"}}}});
  await_answering(client);
  client.send_text(
      Json{{"jsonrpc", "2.0"}, {"method", "notifications/cancelled"}, {"params", {{"requestId", cancelled}}}}.dump());
  CHECK(told(client, "chat", {{"message", answering("Next.")}, {"max_tokens", 200}})["text"] == "Next.");
  // By its conversation an answer can be stopped from another connection.
  const int third = client.send(
      "tools/call", {{"name", "chat"}, {"arguments", {{"message", "@n=100000000"}, {"conversation", "third"}}}});
  await_answering(client);
  CHECK(told(other, "stop", {{"conversation", "third"}})["stopped"] == 1);
  CHECK(client.answer(third)["result"]["structuredContent"]["finish_reason"] == "stopped");
}

TEST_CASE("models are listed, loaded, looked at and unloaded, and a wrong name leads to a right one") {
  LiveServer::Options options = with_model();
  options.set[0] = "models=" + Json{{kSmall, preset("fast")}, {kOther, preset("fast")}}.dump();
  LiveServer server(options);
  RpcClient client(server.connect(Transport::kTcp));
  const Json listed = told(client, "list_models");
  REQUIRE(listed["models"].size() == 2);
  CHECK(listed["simulated"] == true);
  CHECK(listed["models"][1]["name"] == kSmall);
  CHECK(listed["models"][1]["state"] == "on_disk");
  CHECK(listed["models"][1]["context"].is_null());
  CHECK(told(client, "status")["models"].empty());

  const std::string unknown = complaint(client, "chat", {{"message", "x"}, {"model", "qwen3-smal"}});
  CHECK(unknown.find("did you mean \"qwen3-small\"?") != std::string::npos);
  CHECK(complaint(client, "load_model", {{"model", "nothing"}}).find("list_models has all of them") !=
        std::string::npos);
  CHECK(complaint(client, "load_model", {{"model", "/x.rkllm"}}).find("rkllm_init") != std::string::npos);
  // Two models, and none loaded: which one is meant?
  CHECK(complaint(client, "chat", {{"message", "x"}}).find("more than one: qwen3-other, qwen3-small") !=
        std::string::npos);

  const Json loaded = told(client, "load_model", {{"model", kSmall}});
  CHECK(loaded["model"] == kSmall);
  CHECK(loaded["context"] == 4096);
  CHECK(told(client, "chat", {{"message", answering("Now it is clear.")}, {"max_tokens", 200}})["model"] == kSmall);
  const Json state = told(client, "status");
  REQUIRE(state["models"].size() == 1);
  CHECK(state["models"][0]["state"] == "loaded");
  CHECK(state["models"][0]["tokens_per_second"] > 0);
  CHECK(state["trouble"].is_null());
  CHECK(state["answers"].empty());
  CHECK(state["simulated"] == true);

  const Json vector = told(client, "embed", {{"input", "a cat"}, {"model", kSmall}});
  double squares = 0;
  for (const Json& value : vector["embedding"]) squares += value.get<double>() * value.get<double>();
  CHECK(std::abs(squares - 1) < 1e-4);
  CHECK(vector["tokens"] > 0);

  const Json unloaded = told(client, "unload_model", {{"model", kSmall}});
  CHECK(unloaded["was_loaded"] == true);
  CHECK(told(client, "unload_model", {{"model", kSmall}})["was_loaded"] == false);
  const std::string handle = client.init(shipped_model("fast"));
  CHECK(complaint(client, "unload_model", {{"model", handle}}).find("rkllm_destroy") != std::string::npos);
}

TEST_CASE("the chat set is a server of its own in the direct dialect, and is not there without the chat host") {
  LiveServer server(with_model());
  RpcClient client(server.connect(Transport::kTcp));
  CHECK(names_in(client.result("chat-server/tools/list")) == kChatSet);
  const Json result = client.result(
      "chat-server/tools/call", {{"name", "chat"}, {"arguments", {{"message", answering("Hi.")}, {"max_tokens", 50}}}});
  CHECK(result["structuredContent"]["text"] == "Hi.");
  CHECK(server.health()["servers"][1] == "chat-server");

  LiveServer without(with_model({"chat.enabled=false"}));
  RpcClient other(without.connect(Transport::kTcp));
  CHECK(names_in(other.result("tools/list"))[0].starts_with("rkllm_"));
  CHECK(other.call("tools/call", {{"name", "chat"}})["error"]["code"] == -32602);
}

TEST_CASE("without the memory server a conversation is refused, and all else goes on") {
  LiveServer server(with_model({R"(services.only=["rkllm-server"])"}));
  RpcClient client(server.connect(Transport::kTcp));
  CHECK(told(client, "chat", {{"message", answering("Hi.")}, {"max_tokens", 50}})["text"] == "Hi.");
  CHECK(complaint(client, "chat", {{"message", "x"}, {"conversation", "c"}}).find("memory-server") !=
        std::string::npos);
}

}  // namespace rkllm_mcp::test
