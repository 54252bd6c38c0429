// The same tool, asked in both eras.
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/revisions.hpp"
#include "runtime/fake_client.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

std::string handshake(const std::string& revision, const std::string& capabilities = "{}") {
  return call("0", "initialize", R"({"protocolVersion":")" + revision + R"(","capabilities":)" + capabilities + "}");
}

// Asks for a name, and greets who has it. Keeps what it needs in the state.
mcp::Tool greeter() {
  mcp::Tool tool;
  tool.name = "greet";
  tool.input_schema = Json{{"type", "object"}};
  tool.run = [](mcp::Invocation& invocation) {
    if (const Json* answer = invocation.input("who")) {
      const std::string greeting = invocation.state().value("greeting", "");
      return invocation.result(mcp::text_result(greeting + ", " + answer->at("content").value("name", "")));
    }
    invocation.ask({{"who", "elicitation/create", Json{{"message", "Who are you?"}}}}, Json{{"greeting", "Hello"}});
  };
  return tool;
}

const std::string kAnswer = R"({"action":"accept","content":{"name":"Ada"}})";

}  // namespace

TEST_CASE("what a tool asks for is a request of the server in the handshake era") {
  Client client;
  client.catalogue.add(greeter());
  client.say(handshake("2025-11-25", R"({"elicitation":{}})"));
  const Json asked = only(client.say(call("1", "tools/call", R"({"name":"greet"})")));
  CHECK(asked["method"] == "elicitation/create");
  CHECK(asked["params"]["message"] == "Who are you?");
  const Texts answer = client.say(R"({"jsonrpc":"2.0","id":)" + asked["id"].dump() + R"(,"result":)" + kAnswer + "}");
  CHECK(only(answer)["result"]["content"][0]["text"] == "Hello, Ada");
  // The same answer once more has no meaning.
  CHECK(client.say(R"({"jsonrpc":"2.0","id":)" + asked["id"].dump() + R"(,"result":)" + kAnswer + "}").empty());
}

TEST_CASE("a client that refuses what a tool asks for ends the call") {
  Client client;
  client.catalogue.add(greeter());
  client.say(handshake("2025-11-25", R"({"elicitation":{}})"));
  const Json asked = only(client.say(call("1", "tools/call", R"({"name":"greet"})")));
  const Json answer = only(client.say(R"({"jsonrpc":"2.0","id":)" + asked["id"].dump() +
                                      R"(,"error":{"code":-1,"message":"nobody is there"}})"));
  CHECK(answer["id"] == 1);
  CHECK(answer["error"]["message"].get<std::string>().find("nobody is there") != std::string::npos);
}

TEST_CASE("whatever a client answers, its request ends and the server goes on") {
  for (const char* const answer :
       {R"("error":{"code":1,"message":5})", R"("error":7)", R"("result":[])", R"("result":null)"}) {
    INFO(answer);
    Client client;
    mcp::Tool tool;
    tool.name = "ask";
    tool.input_schema = Json{{"type", "object"}};
    tool.run = [](mcp::Invocation& invocation) {
      if (invocation.input("it") != nullptr) return invocation.result(mcp::text_result("done"));
      invocation.ask({{"it", "roots/list"}});
    };
    client.catalogue.add(std::move(tool));
    client.say(handshake("2025-06-18", R"({"roots":{}})"));
    const Json asked = only(client.say(call("1", "tools/call", R"({"name":"ask"})")));
    const Json ended = only(client.say(R"({"jsonrpc":"2.0","id":)" + asked["id"].dump() + "," + answer + "}"));
    CHECK(ended["id"] == 1);
  }
}

TEST_CASE("a tool that asks for nothing goes on at once") {
  Client client;
  mcp::Tool tool;
  tool.name = "ask";
  tool.input_schema = Json{{"type", "object"}};
  tool.run = [](mcp::Invocation& invocation) {
    if (!invocation.state().is_null()) return invocation.result(mcp::text_result("done"));
    invocation.ask({}, "once");
  };
  client.catalogue.add(std::move(tool));
  client.say(handshake("2025-06-18"));
  CHECK(only(client.say(call("1", "tools/call", R"({"name":"ask"})")))["result"]["content"][0]["text"] == "done");
}

TEST_CASE("a tool's answer that is none becomes an error") {
  Client client;
  mcp::Tool tool;
  tool.name = "odd";
  tool.input_schema = Json{{"type", "object"}};
  Json answer;
  tool.run = [&answer](mcp::Invocation& invocation) { invocation.result(answer); };
  client.catalogue.add(std::move(tool));
  answer = 5;
  CHECK(only(client.say(call("1", "tools/call", stateless({{"name", "odd"}}))))["error"]["code"] == -32603);
  client.say(handshake("2024-11-05"));
  for (const char* const content : {R"([{"type":5}])", R"([7])", R"([{"type":"audio","mimeType":[]}])", R"("x")"}) {
    answer = Json{{"content", Json::parse(content)}};
    CHECK(only(client.say(call("2", "tools/call", R"({"name":"odd"})")))["id"] == 2);
  }
}

TEST_CASE("a request that names a revision of MCP is not taken for a direct call") {
  Client client;
  CHECK(only(client.say(call("1", "plain", stateless(Json::object()))))["error"]["code"] == -32601);
  CHECK(client.backend.calls.empty());
}

TEST_CASE("a request that names a revision with a handshake is served in its session") {
  Client client;
  const std::string params = R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}})";
  CHECK(only(client.say(call("1", "ping", params)))["result"] == Json::object());
}

TEST_CASE("a call that waits for its client is cancelled without an answer, and late answers are passed over") {
  Client client;
  client.catalogue.add(greeter());
  client.say(handshake("2025-11-25", R"({"elicitation":{}})"));
  const Json asked = only(client.say(call("1", "tools/call", R"({"name":"greet"})")));
  CHECK(client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})").empty());
  CHECK(client.say(R"({"jsonrpc":"2.0","id":)" + asked["id"].dump() + R"(,"result":)" + kAnswer + "}").empty());
}

TEST_CASE("a tool that is cancelled while its client is asked hears of it") {
  Client client;
  bool is_cancelled = false;
  mcp::Tool tool = greeter();
  tool.run = [&is_cancelled, ask = tool.run](mcp::Invocation& invocation) {
    invocation.on_cancelled([&is_cancelled] { is_cancelled = true; });
    ask(invocation);
  };
  client.catalogue.add(std::move(tool));
  client.say(handshake("2025-11-25", R"({"elicitation":{}})"));
  only(client.say(call("1", "tools/call", R"({"name":"greet"})")));
  CHECK(client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})").empty());
  CHECK(is_cancelled);
}

TEST_CASE("a call that ends while its client is asked is not kept") {
  Client client;
  std::weak_ptr<mcp::Invocation> asked;
  mcp::Tool tool = greeter();
  tool.run = [&asked, ask = tool.run](mcp::Invocation& invocation) {
    asked = invocation.weak_from_this();
    ask(invocation);
  };
  client.catalogue.add(std::move(tool));
  client.say(handshake("2025-11-25", R"({"elicitation":{}})"));
  only(client.say(call("1", "tools/call", R"({"name":"greet"})")));
  bool has_ended = false;
  asked.lock()->when_ended([&has_ended] { has_ended = true; });
  asked.lock()->result(mcp::text_result("nobody waits any more"));
  CHECK(has_ended);
  CHECK(asked.expired());
}

TEST_CASE("a client with a handshake that takes nothing but answers is not asked in vain") {
  Client client(usual_limits<Dispatcher::Options>(),
                {.transport = TransportKind::kHttp, .address = "test", .takes_messages = false});
  client.catalogue.add(greeter());
  client.say(handshake("2025-11-25", R"({"elicitation":{}})"));
  CHECK(only(client.say(call("1", "tools/call", R"({"name":"greet"})")))["error"]["code"] == -32600);
  const Json asked =
      only(client.say(call("2", "tools/call", stateless({{"name", "greet"}}, Json{{"elicitation", Json::object()}}))));
  CHECK(asked["result"]["resultType"] == "input_required");
}

TEST_CASE("a prompt is given however many arguments and members of _meta, in their order, without what is nobody's") {
  constexpr int kMany = 2'000;
  Client client;
  Json arguments;
  Json meta;
  client.catalogue.add(mcp::Prompt{"many", "", "", {{"last", "", "", true, {}}}, [&](mcp::Invocation& invocation) {
                                     arguments = invocation.arguments();
                                     meta = invocation.request().meta;
                                     invocation.result(Json{{"messages", Json::array()}});
                                   }});
  std::string given = R"("none":null)";
  std::string said = R"("progressToken":1,"io.modelcontextprotocol/x":1)";
  for (int each = 0; each < kMany; ++each) {
    given += R"(,"a)" + std::to_string(each) + R"(":"x")";
    said += R"(,"m)" + std::to_string(each) + R"(":2)";
  }
  const auto get = [&](const std::string& last) {
    return only(client.say(
        call("1", "prompts/get", R"({"name":"many","arguments":{)" + given + last + R"(},"_meta":{)" + said + "}}")));
  };
  CHECK(get("")["error"]["message"] == "params.arguments.last: missing");
  CHECK(get(R"(,"last":null)")["error"]["message"] == "params.arguments.last: missing");
  CHECK(get(R"(,"last":1)")["error"]["message"] == "params.arguments.last: expected string");
  CHECK(get(R"(,"last":"y")").contains("result"));
  REQUIRE(arguments.size() == kMany + 1);
  CHECK(arguments.begin().key() == "a0");
  CHECK(arguments.back() == "y");
  REQUIRE(meta.size() == kMany);
  CHECK(meta.begin().key() == "m0");
  CHECK(meta.back() == 2);
}

TEST_CASE("prompts in progress count among the requests of a connection") {
  auto options = usual_limits<Dispatcher::Options>();
  options.calls.requests_per_session = 1;
  Client client(options);
  std::vector<std::shared_ptr<mcp::Invocation>> begun;
  client.catalogue.add(mcp::Prompt{"slow", "", "", {}, [&begun](mcp::Invocation& invocation) {
                                     invocation.on_cancelled([] {});
                                     begun.push_back(invocation.shared_from_this());
                                   }});
  CHECK(client.say(call("1", "prompts/get", R"({"name":"slow"})")).empty());
  CHECK(only(client.say(call("2", "prompts/get", R"({"name":"slow"})")))["error"]["code"] == 4004);
  begun[0]->result(Json{{"messages", Json::array()}});
  CHECK(client.say(call("3", "prompts/get", R"({"name":"slow"})")).empty());
  begun.back()->result(Json{{"messages", Json::array()}});
}

TEST_CASE("what a tool asks for is a result in the stateless era, and the request comes again with the answer") {
  Client client;
  client.catalogue.add(greeter());
  const Json capabilities{{"elicitation", Json::object()}};
  const Json asked = only(client.say(call("1", "tools/call", stateless({{"name", "greet"}}, capabilities))))["result"];
  CHECK(asked["resultType"] == "input_required");
  CHECK(asked["inputRequests"]["who"]["method"] == "elicitation/create");
  const std::string state = asked["requestState"].get<std::string>();

  Json again{{"name", "greet"}, {"inputResponses", {{"who", Json::parse(kAnswer)}}}, {"requestState", state}};
  const Json answer = only(client.say(call("2", "tools/call", stateless(again, capabilities))))["result"];
  CHECK(answer["resultType"] == "complete");
  CHECK(answer["content"][0]["text"] == "Hello, Ada");

  // Neither changed, nor for another call.
  again["requestState"] = state + "-TAMPERED";
  CHECK(only(client.say(call("3", "tools/call", stateless(again, capabilities))))["error"]["code"] == -32602);
  again["requestState"] = state;
  again["arguments"] = {{"x", 1}};
  CHECK(only(client.say(call("4", "tools/call", stateless(again, capabilities))))["error"]["code"] == -32602);
}

TEST_CASE("a client that cannot do what a tool asks for is told which capability it takes") {
  Client client;
  client.catalogue.add(greeter());
  const Json error = only(client.say(call("1", "tools/call", stateless({{"name", "greet"}}))))["error"];
  CHECK(error["code"] == -32021);
  CHECK(error["data"] == Json{{"requiredCapabilities", {{"elicitation", Json::object()}}}});
}

TEST_CASE("each revision serves its own methods, and both eras share a connection") {
  Client client;
  CHECK(only(client.say(call("1", "server/discover", stateless(Json::object()))))["result"]["supportedVersions"] ==
        Json::array({"2026-07-28"}));
  CHECK(only(client.say(handshake("2025-06-18")))["result"]["protocolVersion"] == "2025-06-18");
  for (const char* const removed : {"ping", "initialize", "logging/setLevel", "resources/subscribe"}) {
    CHECK(only(client.say(call("2", removed, stateless(Json::object()))))["error"]["code"] == -32601);
  }
  for (const char* const newer : {"server/discover", "subscriptions/listen", "tasks/get"}) {
    CHECK(only(client.say(call("3", newer)))["error"]["code"] == -32601);
  }
  CHECK(only(client.say(call("4", "ping")))["result"] == Json::object());
}

TEST_CASE("a revision that is not served is refused with those that are") {
  Client client;
  Json params{{"_meta", {{mcp::kMetaRevision, "2027-01-01"}, {mcp::kMetaCapabilities, Json::object()}}}};
  const Json error = only(client.say(call("1", "tools/list", params.dump())))["error"];
  CHECK(error["code"] == -32022);
  CHECK(error["data"] == Json{{"supported", {"2026-07-28"}}, {"requested", "2027-01-01"}});
  params["_meta"][mcp::kMetaRevision] = 7;
  CHECK(only(client.say(call("2", "tools/list", params.dump())))["error"]["code"] == -32602);
  params["_meta"] = {{mcp::kMetaRevision, "2026-07-28"}};
  CHECK(only(client.say(call("3", "tools/list", params.dump())))["error"]["code"] == -32602);
}

TEST_CASE("content that an older revision does not know becomes text") {
  Client client;
  mcp::Tool tool;
  tool.name = "sing";
  tool.input_schema = Json{{"type", "object"}};
  tool.run = [](mcp::Invocation& invocation) {
    invocation.result(Json{{"content",
                            {{{"type", "audio"}, {"data", "AA=="}, {"mimeType", "audio/wav"}},
                             {{"type", "resource_link"}, {"uri", "a://b"}, {"name", "b"}}}}});
  };
  client.catalogue.add(std::move(tool));
  const auto kinds = [&](const std::string& revision) {
    client.say(handshake(revision));
    const Json content = only(client.say(call("1", "tools/call", R"({"name":"sing"})")))["result"]["content"];
    return content[0]["type"].get<std::string>() + " " + content[1]["type"].get<std::string>();
  };
  CHECK(kinds("2024-11-05") == "text text");
  CHECK(kinds("2025-03-26") == "audio text");
  CHECK(kinds("2025-06-18") == "audio resource_link");
}

TEST_CASE("a batch is answered with one array, where its revision has batches") {
  Client client;
  const std::string batch = "[" + call("1", "ping") + R"(,{"jsonrpc":"2.0","method":"notifications/initialized"},7,)" +
                            call("2", "plain") + "]";
  CHECK(only(client.say(batch))["error"]["code"] == -32600);
  client.say(handshake("2025-03-26"));
  CHECK(client.say(batch).empty());  // one call is still in progress
  client.backend.finish(0);
  const Json answers = only(client.news());
  REQUIRE(answers.size() == 3);
  CHECK(answers[0] == Json{{"jsonrpc", "2.0"}, {"id", 1}, {"result", Json::object()}});
  CHECK(answers[1]["error"]["code"] == -32600);
  CHECK(answers[2]["result"] == Json{{"status", 0}});
  CHECK(client.say(R"([{"jsonrpc":"2.0","method":"notifications/initialized"}])").empty());
  CHECK(only(client.say("[" + handshake("2025-03-26") + "]"))[0]["error"]["code"] == -32600);
  CHECK(only(client.say("[" + call("5", "tools/list", stateless(Json::object())) + "]"))["error"]["code"] == -32600);
}

TEST_CASE("every revision is found by its name, and only those with a handshake are agreed on") {
  for (const mcp::Revision& each : mcp::all_revisions()) {
    CHECK(mcp::find_revision(each.name) == &each);
    CHECK((mcp::negotiated_revision(each.name).name == each.name) == each.era.has_handshake());
  }
  CHECK(mcp::negotiated_revision("1999-01-01").name == "2025-11-25");
  CHECK(mcp::find_revision("2026-07-27") == nullptr);
}
