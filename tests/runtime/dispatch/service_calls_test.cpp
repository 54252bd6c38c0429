// Services in both dialects: how they are addressed, what each of them has, and what they answer.
#include "mcp/catalogue.hpp"
#include "mcp/service.hpp"
#include "runtime/fake_client.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstddef>
#include <string>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

mcp::ServiceMethod echo(const char* name) {
  mcp::ServiceMethod method;
  method.name = name;
  method.params_schema = Json{{"type", "object"}};
  method.result_schema = Json{{"type", "object"}};
  method.run = [](const mcp::MethodCall& call, const mcp::DoneFunction& done) {
    if (call.params.contains("wrong")) throw InvalidParams("params.wrong", "not wanted");
    if (call.params.contains("fail")) {
      return done(nullptr, std::make_exception_ptr(RpcError(ErrorCode::kResourceNotFound, "it is not there")));
    }
    done(mcp::answer_in(call.form, Json{{"got", call.params}}), nullptr);
  };
  return method;
}

mcp::Tool answering(const char* name, Json result) {
  mcp::Tool tool;
  tool.name = name;
  tool.input_schema = Json{{"type", "object"}};
  tool.run = [result](mcp::Invocation& invocation) { invocation.result(result); };
  return tool;
}

// Two documents, one a page.
mcp::Documents two_documents() {
  mcp::Documents documents;
  documents.scheme = "shelf://";
  documents.list = [](const Principal&, const mcp::ListRequest& request, const mcp::DoneFunction& done) {
    const bool is_second = request.cursor == "2";
    Json page{{"resources", Json::array({Json{{"uri", is_second ? "shelf://2" : "shelf://1"}, {"name", "x"}}})}};
    if (!is_second) page["nextCursor"] = "2";
    done(std::move(page), nullptr);
  };
  documents.read = [](const Principal&, const std::string& uri, const mcp::DoneFunction& done) {
    if (uri != "shelf://1") {
      return done(nullptr, std::make_exception_ptr(RpcError(ErrorCode::kResourceNotFound, "no such document")));
    }
    done(Json{{"contents", Json::array({Json{{"uri", uri}, {"text", "{}"}}})}}, nullptr);
  };
  return documents;
}

mcp::Service make(const char* name, std::vector<mcp::ServiceMethod> methods) {
  mcp::Service service;
  service.name = name;
  service.methods = std::move(methods);
  return service;
}

struct ServedClient : Client {
  ServedClient() {
    mcp::Service first = make("first-server", {echo("own/echo"), echo("both/echo")});
    first.tools.emplace_back(answering("good", mcp::text_result("done")));
    first.tools.emplace_back(
        answering("bad", mcp::tool_error(RpcError(ErrorCode::kInternalError, "it broke", Json{{"why", "age"}}))));
    mcp::Prompt prompt;
    prompt.name = "greet";
    prompt.arguments = {{"who", "", "Whom.", true, nullptr}};
    prompt.run = [](mcp::Invocation& invocation) { invocation.result(Json{{"messages", Json::array()}}); };
    first.prompts.emplace_back(std::move(prompt));
    first.documents = two_documents();
    mcp::add_service(catalogue, Immutable(std::move(first)));
    mcp::add_service(catalogue, Immutable(make("second-server", {echo("both/echo")})));
  }
  Json answer(const std::string& method, const std::string& params = "{}") {
    return only(say(call("1", method, params)));
  }
  int code(const std::string& method, const std::string& params = "{}") {
    return answer(method, params)["error"]["code"].get<int>();
  }
};

}  // namespace

TEST_CASE("a service's method is called by the service's name, or by its own where only one has it") {
  ServedClient client;
  CHECK(client.answer("first-server/own/echo", R"({"a":1})")["result"] == Json::parse(R"({"got":{"a":1}})"));
  CHECK(client.answer("own/echo", R"({"a":1})")["result"] == Json::parse(R"({"got":{"a":1}})"));
  CHECK(client.answer("second-server/both/echo")["result"] == Json::parse(R"({"got":{}})"));
  CHECK(client.code("both/echo") == -32601);
  const Json without = only(client.say(R"({"jsonrpc":"2.0","id":1,"method":"first-server/own/echo"})"));
  CHECK(without["result"] == Json::parse(R"({"got":{}})"));
}

TEST_CASE("an unknown method of a service, and an unknown server, are told apart") {
  ServedClient client;
  const Json method = client.answer("first-server/own/ecko")["error"];
  CHECK(method["code"] == -32601);
  CHECK_THAT(method["message"].get<std::string>(), has_text("not found on server 'first-server'"));
  CHECK(method["data"]["nearest"] == "own/echo");
  const Json server = client.answer("third-server/own/echo")["error"];
  CHECK(server["code"] == -32601);
  CHECK(server["data"]["servers"] == Json::array({client.catalogue.name, "first-server", "second-server"}));
}

TEST_CASE("the server's own methods may be addressed, too") {
  ServedClient client;
  CHECK(client.answer(client.catalogue.name + "/tools/list")["result"]["tools"].size() > 0);
}

TEST_CASE("the server's own name stands before a method once: what follows it a second time is another name") {
  ServedClient client;
  const std::string own = client.catalogue.name + "/";
  for (const std::size_t times : {std::size_t{2}, std::size_t{4'000}}) {
    std::string method;
    for (std::size_t i = 0; i < times; ++i) method += own;
    const Json error = client.answer(method + "tools/list")["error"];
    CHECK(error["code"] == -32601);
    CHECK_THAT(error["message"].get<std::string>(), has_text("no method \"" + own));
  }
}

TEST_CASE("what a service's method refuses is the error that it says") {
  ServedClient client;
  const Json wrong = client.answer("own/echo", R"({"wrong":1})")["error"];
  CHECK(wrong["code"] == -32602);
  CHECK(wrong["data"]["path"] == "params.wrong");
  CHECK(client.code("own/echo", R"({"fail":1})") == -32001);
  CHECK(client.code("own/echo", "[1]") == -32602);
}

TEST_CASE("in the direct dialect a service lists and calls its own tools, and a failing one is error -32002") {
  ServedClient client;
  const Json tools = client.answer("first-server/tools/list")["result"]["tools"];
  REQUIRE(tools.size() == 2);
  CHECK(tools[0]["name"] == "good");
  CHECK(client.answer("second-server/tools/list")["result"]["tools"].empty());
  CHECK(client.answer("first-server/tools/call", R"({"name":"good","arguments":{}})")["result"] ==
        mcp::text_result("done"));
  const Json bad = client.answer("first-server/tools/call", R"({"name":"bad"})")["error"];
  CHECK(bad["code"] == -32002);
  CHECK(bad["message"] == "it broke");
  CHECK(bad["data"] == Json::parse(R"({"why":"age"})"));
  CHECK(client.code("first-server/tools/call", R"({"name":"good","arguments":1})") == -32602);
  CHECK(client.code("first-server/tools/call", R"({"name":"god"})") == -32602);
  CHECK(client.code("second-server/tools/call", R"({"name":"good"})") == -32602);
}

TEST_CASE("a service's prompts are listed by its name, and are the protocol's, too") {
  ServedClient client;
  const Json prompts = client.answer("first-server/prompts/list")["result"]["prompts"];
  REQUIRE(prompts.size() == 1);
  CHECK(prompts[0]["name"] == "greet");
  CHECK(prompts[0]["arguments"][0]["required"] == true);
  CHECK(client.answer("second-server/prompts/list")["result"]["prompts"].empty());
  CHECK(client.catalogue.prompts.back()->name == "greet");
}

TEST_CASE("in the direct dialect a service lists and reads its documents") {
  ServedClient client;
  const Json page = client.answer("first-server/resources/list")["result"];
  CHECK(page["resources"][0]["uri"] == "shelf://1");
  const Json next = client.answer("first-server/resources/list", R"({"cursor":"2"})")["result"];
  CHECK(next["resources"][0]["uri"] == "shelf://2");
  CHECK_FALSE(next.contains("nextCursor"));
  CHECK(client.answer("first-server/resources/read", R"({"uri":"shelf://1"})")["result"]["contents"][0]["text"] ==
        "{}");
  CHECK(client.code("first-server/resources/read", R"({"uri":"shelf://9"})") == -32001);
  CHECK(client.answer("second-server/resources/list")["result"]["resources"].empty());
  CHECK(client.code("second-server/resources/read", R"({"uri":"shelf://1"})") == -32001);
}

TEST_CASE("through MCP a service's methods are tools beside its own, and its mistakes are results") {
  ServedClient client;
  const Json result = client.answer("tools/call", R"({"name":"own_echo","arguments":{"a":1}})")["result"];
  CHECK(result["structuredContent"] == Json::parse(R"({"got":{"a":1}})"));
  CHECK(Json::parse(result["content"][0]["text"].get<std::string>()) == result["structuredContent"]);
  const Json wrong = client.answer("tools/call", R"({"name":"own_echo","arguments":{"wrong":1}})")["result"];
  CHECK(wrong["isError"] == true);
  CHECK(client.answer("tools/call", R"({"name":"good"})")["result"] == mcp::text_result("done"));
}

TEST_CASE("through MCP lists of resources go on from the catalogue's into the services' documents") {
  ServedClient client;
  std::vector<std::string> uris;
  std::string params = "{}";
  for (int pages = 0; pages < 50; ++pages) {
    const Json page = client.answer("resources/list", params)["result"];
    for (const Json& each : page["resources"]) uris.push_back(each["uri"].get<std::string>());
    if (!page.contains("nextCursor")) break;
    params = Json{{"cursor", page["nextCursor"]}}.dump();
  }
  REQUIRE(uris.size() >= 2);
  CHECK(uris[uris.size() - 2] == "shelf://1");
  CHECK(uris.back() == "shelf://2");
  CHECK(client.code("resources/list", R"({"cursor":"documents-nobody:2"})") == -32602);
  CHECK(client.answer("resources/read", R"({"uri":"shelf://1"})")["result"]["contents"][0]["text"] == "{}");
  const Json missing = client.answer("resources/read", R"({"uri":"shelf://9"})")["error"];
  CHECK(missing["code"] == -32602);
  CHECK(missing["data"]["uri"] == "shelf://9");
}

TEST_CASE("through MCP without a handshake it is the same") {
  ServedClient client;
  const Json list =
      only(client.say(call("1", "resources/list", stateless(Json{{"cursor", "documents-first-server:2"}}))));
  CHECK(list["result"]["resources"][0]["uri"] == "shelf://2");
  CHECK(list["result"]["resultType"] == "complete");
  const Json read = only(client.say(call("2", "resources/read", stateless(Json{{"uri", "shelf://1"}}))));
  CHECK(read["result"]["contents"][0]["text"] == "{}");
}

TEST_CASE("long answers of services are whole") {
  ServedClient client;
  const std::string text(50'000, 'x');
  CHECK(client.answer("own/echo", Json{{"a", text}}.dump())["result"]["got"]["a"] == text);
  const Json result =
      client.answer("tools/call", Json{{"name", "own_echo"}, {"arguments", {{"a", text}}}}.dump())["result"];
  CHECK(result["structuredContent"]["got"]["a"] == text);
  CHECK(Json::parse(result["content"][0]["text"].get<std::string>())["got"]["a"] == text);
}

TEST_CASE("a notification to a service is executed and not answered") {
  ServedClient client;
  CHECK(client.say(R"({"jsonrpc":"2.0","method":"first-server/own/echo","params":{}})").empty());
}

TEST_CASE("a notification with the server's own name before its method is executed, as a request is") {
  ServedClient client;
  const std::string own = client.catalogue.name;
  REQUIRE_FALSE(own.empty());
  CHECK(client.say(R"({"jsonrpc":"2.0","method":")" + own + R"(/plain"})").empty());
  REQUIRE(client.backend.calls.size() == 1);
  client.backend.finish(0);
  CHECK(client.news().empty());
}
