// Services as they are called directly: who may call what, how many calls at once, and what is no service's at all.
#include "dispatch/service_calls.hpp"

#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// Two services: "one" with x/own, x/both and x/held, which is answered when the test says so, "two" with x/both and
// what only an admin may do.
class CalledServices {
 public:
  CalledServices() {
    catalogue.name = "here-server";
    catalogue.services.push_back(service("one", {method("x/own"), method("x/both"), held_method("x/held")}));
    catalogue.services.push_back(service("two", {method("x/both"), method("x/admin", Permission::kAdmin)}));
    session->principal = &principal;
  }

  // What the client gets; null: nothing yet.
  Json answer(std::string_view name, const Json& params = nullptr) {
    peer->sent.clear();
    CHECK(call(name, params));
    return peer->sent.empty() ? Json() : Json::parse(peer->sent.back());
  }
  bool call(std::string_view name, const Json& params = nullptr) {
    return calls.call(name, params, *session, *std::make_shared<Reply>(*peer, std::to_string(++id_)));
  }
  // The code and the words with which it is refused.
  std::pair<ErrorCode, std::string> refusal(std::string_view name, const Json& params = nullptr) {
    try {
      call(name, params);
    } catch (const RpcError& error) {
      return {error.code(), error.what()};
    }
    return {ErrorCode::kInternalError, "not refused"};
  }
  // The error with which a tool fails that answers so.
  Json error_of_tool(Json result) {
    mcp::Tool tool;
    tool.name = "t";
    tool.run = [result = std::move(result)](mcp::Invocation& invocation) { invocation.result(result); };
    return error_of(std::move(tool));
  }
  Json error_of(mcp::Tool tool) {
    mcp::Service with_tool;
    with_tool.name = "tools";
    with_tool.tools.emplace_back(std::move(tool));
    catalogue.services.emplace_back(std::move(with_tool));
    const Json error = answer("tools/tools/call", {{"name", "t"}})["error"];
    catalogue.services.pop_back();
    return error;
  }

  Principal principal{.name = "ann"};
  mcp::Catalogue catalogue;
  std::vector<mcp::DoneFunction> held;
  ServiceCalls calls{catalogue, {.page_items = 10, .requests_per_session = 2}};
  std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>();
  std::shared_ptr<RequestTable> requests = std::make_shared<RequestTable>();
  std::shared_ptr<Session> session = std::make_shared<Session>(requests);

 private:
  static mcp::ServiceMethod method(const char* name, Permission permission = Permission::kCall) {
    mcp::ServiceMethod made;
    made.name = name;
    made.permission = permission;
    made.run = [](const mcp::MethodCall& call, const mcp::DoneFunction& done) {
      done(Json{{"by", call.principal->name}, {"got", call.params}}, nullptr);
    };
    return made;
  }
  mcp::ServiceMethod held_method(const char* name) {
    mcp::ServiceMethod made = method(name);
    made.run = [this](const mcp::MethodCall&, const mcp::DoneFunction& done) { held.push_back(done); };
    return made;
  }
  static Immutable<mcp::Service> service(const char* name, std::vector<mcp::ServiceMethod> methods) {
    mcp::Service made;
    made.name = name;
    made.methods = std::move(methods);
    return Immutable(std::move(made));
  }

  int id_ = 0;
};

}  // namespace

TEST_CASE("what is addressed to no service is left to others") {
  CalledServices services;
  for (const char* const name : {"x/none", "tools/list", "rkllm_run", "here-server/rkllm_run", "here-server/x/own",
                                 "notifications/tools/list_changed", "resources/templates/list", "", "/", "one"}) {
    INFO(name);
    CHECK_FALSE(services.call(name));
  }
  CHECK(services.peer->sent.empty());
  services.catalogue.services.clear();
  CHECK_FALSE(services.call("one/x/own"));
  CHECK_FALSE(services.call("third-server/x/own"));
}

TEST_CASE("a method is addressed to this server by its whole name, where it is a server beside its services") {
  CalledServices services;
  CHECK(services.calls.own_method("here-server/rkllm_run") == "rkllm_run");
  CHECK(services.calls.own_method("here-server/a/b") == "a/b");
  CHECK(services.calls.own_method("here-serverx/a") == std::nullopt);
  CHECK(services.calls.own_method("here-server") == std::nullopt);
  CHECK(services.calls.own_method("one/x/own") == std::nullopt);
  services.catalogue.is_server = false;
  CHECK(services.calls.own_method("here-server/rkllm_run") == std::nullopt);
  services.catalogue.is_server = true;
  services.catalogue.services.clear();
  CHECK(services.calls.own_method("here-server/rkllm_run") == std::nullopt);
}

TEST_CASE("of a server that does not exist it is said which there are") {
  CalledServices services;
  const std::string there = " exists; there are: here-server, one, two";
  CHECK(services.refusal("three-server/x").second == "no server \"three-server\"" + there);
  CHECK(services.refusal("three/x/own").second == "no server \"three\"" + there);
  CHECK(services.refusal("one").second == "not refused");
  services.catalogue.is_server = false;
  CHECK(services.refusal("here-server/x").second == "no server \"here-server\" exists; there are: one, two");
}

TEST_CASE("a service's name is whole: one that only begins so is another") {
  CalledServices services;
  CHECK(services.refusal("onex/x/own").second.starts_with("no server \"onex\""));
  CHECK(services.refusal("one/y").second == "method \"y\" not found on server 'one'");
  CHECK(services.refusal("one/x/ow").second == "method \"x/ow\" not found on server 'one'; did you mean \"x/own\"?");
}

TEST_CASE("methods that one service alone has need no service's name") {
  CalledServices services;
  CHECK(services.calls.plain_names() == std::vector<std::string_view>{"x/own", "x/held", "x/admin"});
  CHECK(services.answer("x/own")["result"] == Json{{"by", "ann"}, {"got", Json::object()}});
  CHECK_FALSE(services.call("x/both"));
  CHECK(services.answer("two/x/both", {{"a", 1}})["result"]["got"] == Json{{"a", 1}});
}

TEST_CASE("params are an object or nothing, and those of the lists and readers have their members") {
  CalledServices services;
  CHECK(services.refusal("x/own", Json::array()).second == "params: expected object");
  CHECK(services.refusal("x/own", "text").first == ErrorCode::kInvalidParams);
  CHECK(services.refusal("one/tools/call").second == "params.name: missing");
  CHECK(services.refusal("one/tools/call", {{"name", 5}}).second == "params.name: expected string");
  CHECK(services.refusal("one/resources/read").second == "params.uri: missing");
  CHECK(services.refusal("one/resources/read", {{"uri", "a"}}).first == ErrorCode::kResourceNotFound);
}

TEST_CASE("what takes the permission admin is refused to whoever has not got it, and everything to nobody") {
  CalledServices services;
  CHECK(services.answer("x/admin").contains("result"));
  services.principal.may_admin = false;
  CHECK(services.refusal("x/admin").first == ErrorCode::kUnauthorized);
  CHECK(services.refusal("two/x/admin").first == ErrorCode::kUnauthorized);
  CHECK(services.answer("x/own").contains("result"));
  CHECK(services.answer("two/tools/list").contains("result"));
  services.principal.may_call = false;
  CHECK(services.refusal("x/own").first == ErrorCode::kUnauthorized);
  CHECK(services.refusal("two/tools/list").first == ErrorCode::kUnauthorized);
  services.session->principal = nullptr;
  CHECK(services.refusal("x/own").first == ErrorCode::kUnauthorized);
}

TEST_CASE("a tool may take more permission than its service") {
  CalledServices services;
  mcp::Tool tool;
  tool.name = "t";
  tool.permission = Permission::kAdmin;
  mcp::Service with_tool;
  with_tool.name = "tools";
  with_tool.tools.emplace_back(std::move(tool));
  services.catalogue.services.emplace_back(std::move(with_tool));
  services.principal.may_admin = false;
  CHECK(services.refusal("tools/tools/call", {{"name", "t"}}).first == ErrorCode::kUnauthorized);
}

TEST_CASE("calls are in progress until they are answered, and there are no more than may be at once") {
  CalledServices services;
  CHECK(services.answer("x/held").is_null());
  CHECK(services.answer("one/x/held").is_null());
  CHECK(services.session->active() == 2);
  CHECK(services.refusal("x/own").first == ErrorCode::kQueueFull);
  CHECK(services.refusal("one/tools/list").first == ErrorCode::kQueueFull);

  services.held.front()(Json{{"done", true}}, nullptr);
  services.held.erase(services.held.begin());
  CHECK(Json::parse(services.peer->sent.back()) == Json::parse(R"({"jsonrpc":"2.0","id":1,"result":{"done":true}})"));
  CHECK(services.session->active() == 1);
  CHECK(services.answer("x/own").contains("result"));
  CHECK(services.session->active() == 1);
}

TEST_CASE("a call that fails later is answered with its error, and is no longer in progress") {
  CalledServices services;
  services.answer("x/held");
  services.held.front()(nullptr, std::make_exception_ptr(RpcError(ErrorCode::kTooLarge, "too much")));
  services.held.clear();
  CHECK(Json::parse(services.peer->sent.back())["error"]["message"] == "too much");
  CHECK(services.session->active() == 0);
}

TEST_CASE("how a tool fails is the error that it tells: its words, and whether the arguments are at fault") {
  CalledServices services;
  const auto code = [](ErrorCode each) { return static_cast<int>(each); };
  const Json of_arguments =
      services.error_of_tool(mcp::tool_error(InvalidParams("params.arguments.a", "expected a number")));
  CHECK(of_arguments["code"] == code(ErrorCode::kInvalidParams));
  CHECK(of_arguments["data"]["path"] == "params.arguments.a");
  const Json another = services.error_of_tool(mcp::tool_error(RpcError(ErrorCode::kTooLarge, "too much")));
  CHECK(another["code"] == code(ErrorCode::kToolFailed));
  CHECK(another["message"] == "too much");

  Json plain = mcp::text_result("it broke");
  plain["isError"] = true;
  CHECK(services.error_of_tool(plain)["message"] == "it broke");
  for (const Json& content :
       {Json(), Json::array(), Json("text"), Json::array({5}), Json::array({{{"type", "image"}, {"data", "AAAA"}}})}) {
    INFO(content);
    const Json wordless = services.error_of_tool({{"isError", true}, {"content", content}});
    CHECK(wordless["code"] == code(ErrorCode::kToolFailed));
    CHECK(wordless["message"] == "the tool has failed");
  }
  // What stands behind the words is data only if it is what this program writes.
  Json other = plain;
  other["content"].push_back(mcp::text_block(R"({"code":"-32602","data":1})"));
  CHECK(services.error_of_tool(other)["code"] == code(ErrorCode::kToolFailed));
}

TEST_CASE("a tool that asks its client something fails, since nobody can be asked here") {
  CalledServices services;
  mcp::Tool asking;
  asking.name = "t";
  asking.run = [](mcp::Invocation& invocation) { invocation.ask({}, nullptr); };
  const Json error = services.error_of(std::move(asking));
  CHECK(error["code"] == static_cast<int>(ErrorCode::kToolFailed));
  CHECK(error["message"] == "t asks its client something: call it over MCP");
  CHECK(services.session->active() == 0);
}
