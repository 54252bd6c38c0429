#include "mcp/tools/method_tools.hpp"

#include "runtime/fake_client.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/method.hpp>

#include <asio/io_context.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::string_view kStatusSchema = R"({"type":"object","properties":{"status":{"type":"integer"}}})";

Method method_of(std::string_view name, HandleRole handle) {
  Method method{};
  method.name = name;
  method.handle = handle;
  method.input_schema = R"({"type":"object"})";
  method.output_schema = kStatusSchema;
  return method;
}

// Methods of each kind that makes a difference to their tools.
std::array<Method, 5> methods_of_kinds() {
  std::array<Method, 5> methods{method_of("load", HandleRole::kCreates), method_of("unload", HandleRole::kDestroys),
                                method_of("stream", HandleRole::kUses), method_of("stop", HandleRole::kUses),
                                method_of("same", HandleRole::kNone)};
  auto& [load, unload, stream, stop, same] = methods;
  load.title = "Load";
  load.description = "Loads.";
  unload.annotations.destructive = true;
  stream.streams = true;
  stream.input_schema = R"({"type":"object","title":"whole"})";
  stream.tool_input_schema = R"({"type":"object","title":"short"})";
  stop.immediate = true;
  same.output_schema = R"({"type":"object"})";
  same.listed = false;
  return methods;
}
const std::array<Method, 5> kMethodsOfKinds = methods_of_kinds();
const std::array<Elsewhere, 1> kMethodsElsewhere{Elsewhere{"newer", "1.3.0"}};

// The tools of such an API, over a backend whose calls end when the test says so.
struct MethodTools {
  MethodTools() {
    api.methods = kMethodsOfKinds;
    api.elsewhere = kMethodsElsewhere;
    api.api_version = "1.2.3";
    mcp::add_method_tools(catalogue, loop, caller);
  }

  const mcp::Tool& tool(const std::string& name) const {
    const auto* const found = catalogue.tool(name);
    REQUIRE(found != nullptr);
    return **found;
  }
  Json properties(const std::string& name) const { return tool(name).output_schema["properties"]; }

  asio::io_context loop;
  Api api;
  FakeBackend backend;
  StreamRegistry registry;
  Caller caller{loop, api, backend, registry, usual_limits<CallLimits>()};
  mcp::Catalogue catalogue;
};

// What a tool has answered.
Json result_of(Client& client, const Json& arguments, const std::string& tool) {
  return only(client.say(call("1", "tools/call", Json{{"name", tool}, {"arguments", arguments}}.dump())))["result"];
}

}  // namespace

TEST_CASE("a method is a tool under its name, with its words and its effects") {
  const MethodTools tools;
  CHECK(tools.tool("load").title == "Load");
  CHECK(tools.tool("load").description == "Loads.");
  REQUIRE(tools.tool("unload").annotations);
  CHECK(tools.tool("unload").annotations->destructive);
  CHECK(tools.tool("load").listed);
  CHECK_FALSE(tools.tool("same").listed);
}

TEST_CASE("tools are listed with the short schema of their method, if it has one") {
  const MethodTools tools;
  CHECK(tools.tool("stream").input_schema["title"] == "short");
  CHECK(tools.tool("load").input_schema == Json{{"type", "object"}});
}

TEST_CASE("who loads and unloads models is an admin, who uses them need not be") {
  const MethodTools tools;
  CHECK(tools.tool("load").permission == Permission::kAdmin);
  CHECK(tools.tool("unload").permission == Permission::kAdmin);
  CHECK(tools.tool("stream").permission == Permission::kCall);
  CHECK(tools.tool("stop").permission == Permission::kCall);
}

TEST_CASE("only runs may become tasks, of clients that do not follow them") {
  const MethodTools tools;
  for (const char* const name : {"load", "unload", "stop", "same"}) CHECK_FALSE(tools.tool(name).as_task);
  REQUIRE(tools.tool("stream").as_task);
  mcp::InvocationRequest request;
  CHECK(tools.tool("stream").as_task(request));
  request.progress_token = 0;
  CHECK_FALSE(tools.tool("stream").as_task(request));
}

TEST_CASE("schemas of results have what the server tells besides, where it does so") {
  const MethodTools tools;
  for (const char* const name : {"load", "stream"}) {
    CHECK(tools.properties(name).contains("warnings"));
    CHECK(tools.properties(name).contains("simulated"));
  }
  CHECK(tools.properties("unload").contains("warnings"));
  CHECK_FALSE(tools.properties("unload").contains("simulated"));
  CHECK(tools.properties("stop") == Json{{"status", {{"type", "integer"}}}});
  Json without_status{{"type", "object"}, {"properties", {{"model", {{"type", "string"}}}}}};
  const Json before = without_status;
  mcp::add_own_members(without_status, kMethodsOfKinds[0]);
  CHECK(without_status == before);
}

TEST_CASE("a method that only other versions have is not listed, and says which those are when it is called") {
  const MethodTools tools;
  CHECK_FALSE(tools.tool("newer").listed);
  Client client;
  client.catalogue = tools.catalogue;
  const Json result = result_of(client, Json::object(), "newer");
  CHECK(result["isError"] == true);
  CHECK_THAT(result["content"][0]["text"].get<std::string>(), has_text("newer needs runtime 1.3.0, this is 1.2.3"));
  CHECK(client.backend.calls.empty());
}

TEST_CASE("options of a run that are wrong are a result which says so, and nothing is called") {
  Client client;
  for (const auto& [arguments, path] :
       std::vector<std::pair<Json, std::string>>{{{{"progress_message", "all"}}, "params.progress_message"},
                                                 {{{"progress_message", 5}}, "params.progress_message"},
                                                 {{{"encoding", "hex"}}, "params.encoding"},
                                                 {{{"include", {"token_id", "x"}}}, "params.include[1]"}}) {
    INFO(arguments);
    const Json result = result_of(client, arguments, "run");
    CHECK(result["isError"] == true);
    CHECK_THAT(result["content"][0]["text"].get<std::string>(), has_text(path));
  }
  CHECK(client.backend.calls.empty());
}

TEST_CASE("a run is called with its own parameters, and answers with its text, its tokens and how it ended") {
  Client client;
  const Json arguments{{"handle", "h"}, {"include", {"token_id"}}, {"progress_message", nullptr}, {"prompt", "x"}};
  CHECK(client.say(call("1", "tools/call", Json{{"name", "run"}, {"arguments", arguments}}.dump())).empty());
  REQUIRE(client.backend.calls.size() == 1);
  CHECK(client.backend.calls[0].request.params.dump() == R"({"handle":"h","prompt":"x"})");
  client.backend.calls[0].observer->on_token(0, "a", 11);
  client.backend.calls[0].observer->on_token(0, "b", 12);
  client.backend.finish(0);
  const Json result = only(client.news())["result"];
  CHECK(result["content"] == Json::array({mcp::text_block("ab")}));
  CHECK(result["structuredContent"]["text"] == "ab");
  CHECK(result["structuredContent"]["token_ids"] == Json{11, 12});
  CHECK(result["structuredContent"]["state"] == "FINISH");
}

TEST_CASE("a run that was aborted says so beside its text, for models that are shown nothing else") {
  Client client;
  client.say(call("1", "tools/call", R"({"name":"run"})"));
  client.backend.calls[0].observer->on_token(0, "a", 1);
  CallOutcome outcome;
  outcome.result = Json{{"status", 0}};
  outcome.aborted = true;
  std::exchange(client.backend.calls[0].observer, nullptr)->on_done(std::move(outcome));
  const Json result = only(client.news())["result"];
  REQUIRE(result["content"].size() == 2);
  CHECK(result["content"][0]["text"] == "a");
  CHECK_THAT(result["content"][1]["text"].get<std::string>(), has_text("aborted"));
  CHECK(result["structuredContent"]["aborted"] == true);
  CHECK_FALSE(result.contains("isError"));
}
