// What mcp::Server promises whoever hands it messages, without a dispatcher. What it serves, list by list, stands
// beside this: lists_test.cpp, tasks_test.cpp, subscriptions_test.cpp; whole dialogues in eras_test.cpp and
// news_test.cpp.
#include "mcp/protocol/mcp_server.hpp"

#include "auth/access_tokens.hpp"
#include "counts.hpp"
#include "jsonrpc/unread.hpp"
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/handshake.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/service.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::size_t kMostRequests = 4;
constexpr std::size_t kMostIdBytes = 256;
const Json kKnowsTasks{{"extensions", {{mcp::kTasksExtension, Json::object()}}}};

mcp::Tool tool_named(const std::string& name, mcp::InvokeFunction run) {
  mcp::Tool tool;
  tool.name = name;
  tool.input_schema = Json{{"type", "object"}};
  tool.run = std::move(run);
  return tool;
}

// A server, and one client of it.
struct ServedClient {
  explicit ServedClient(PeerFacts facts = {.transport = TransportKind::kTcp, .address = "test"},
                        SessionOf clients = SessionOf::kOneClient)
      : peer(std::make_shared<FakePeer>(std::move(facts))), session(std::make_shared<Session>(table, clients)) {
    session->principal = &admin;
    session->outlet = peer;
  }

  // Whether the server took the request for one of its own.
  bool takes(const std::string& method, Json params = nullptr) {
    reply = std::make_shared<Reply>(*peer, "1");
    return server.handle(Request{"1", method, std::move(params)}, *session, *reply);
  }
  // The answer to a request: its result, or null while there is none.
  Json ask(const std::string& method, const Json& params = nullptr) {
    peer->sent.clear();
    CHECK(takes(method, params));
    return answer();
  }
  Json answer() const {
    for (const std::string& text : peer->sent) {
      const Json message = Json::parse(text);
      if (message.value("id", Json()) == 1 && message.contains("result")) return message["result"];
    }
    return nullptr;
  }
  RpcError refusal(const std::string& method, const Json& params = nullptr) {
    return test::error_of([&] { takes(method, params); });
  }
  std::string refused_path(const std::string& method, const Json& params = nullptr) {
    return refusal(method, params).data().value("path", "");
  }
  void notify(const std::string& method, Json params = nullptr) {
    server.handle(Notification{method, std::move(params)}, *session, *peer);
  }
  void initialize(Json capabilities = Json::object(), const std::string& revision = "2025-11-25") {
    ask("initialize", {{"protocolVersion", revision}, {"capabilities", std::move(capabilities)}});
    peer->sent.clear();
  }
  // A tool whose calls go on, and are kept here.
  void add_slow_tool(const std::string& name = "slow") {
    catalogue.add(tool_named(name, [this](mcp::Invocation& invocation) {
      invocation.on_cancelled([] {});
      running.push_back(invocation.shared_from_this());
    }));
  }
  void end_all() {
    for (const auto& each : std::exchange(running, {})) each->result(mcp::text_result("done"));
  }

  asio::io_context loop;
  const Principal admin{"admin", true, true};
  const Principal caller{"caller", true, false};
  Counts counts;
  mcp::Catalogue catalogue = fake_catalogue();
  mcp::Server server{loop,
                     catalogue,
                     {.page_items = mcp::kPageItems,
                      .requests_per_session = kMostRequests,
                      .counts = &counts,
                      .max_id_bytes = kMostIdBytes}};
  std::shared_ptr<RequestTable> table = std::make_shared<RequestTable>();
  std::shared_ptr<FakePeer> peer;
  std::shared_ptr<Session> session;
  std::shared_ptr<Reply> reply;
  std::vector<std::shared_ptr<mcp::Invocation>> running;
};

// Params of a request without a handshake.
Json without_handshake(Json params = Json::object(), Json capabilities = Json::object()) {
  params["_meta"][mcp::kMetaRevision] = "2026-07-28";
  params["_meta"][mcp::kMetaCapabilities] = std::move(capabilities);
  return params;
}

}  // namespace

// --- whose message it is --------------------------------------------------------------------------------------------

TEST_CASE("a request that is not MCP's is left to others, and does not make its client one of MCP") {
  ServedClient client;
  for (const char* const method : {"plain", "", "tools/lists", "notifications/initialized", "tasks/get"}) {
    INFO(method);
    const bool is_other_revisions = method == std::string("tasks/get");
    CHECK_FALSE(client.takes(method));
    CHECK(client.session->speaks_mcp == is_other_revisions);
  }
  CHECK(client.peer->sent.empty());
  CHECK_FALSE(client.reply->answered());
}

TEST_CASE("notifications are never answered, whatever is in them") {
  ServedClient client;
  for (const Json& params : {Json(nullptr), Json::array({1}), Json("x"), Json{{"requestId", {1}}},
                             Json{{"requestId", nullptr}}, Json{{"requestId", 1}}, unread_part("[1,2]")}) {
    for (const char* const method :
         {"notifications/cancelled", "notifications/initialized", "notifications/xyzzy", "plain", "initialized"}) {
      client.notify(method, params);
    }
  }
  CHECK(client.peer->sent.empty());
  client.server.announce(mcp::Listed::kTools);  // without a handshake nobody has begun to listen
  CHECK(client.peer->sent.empty());
}

TEST_CASE("an answer that nobody has asked for is passed over, with or without a handshake") {
  ServedClient client;
  const Response answer{"\"server-1\"", Json::object(), nullptr};
  mcp::Server::handle(answer, *client.session);
  client.initialize();
  mcp::Server::handle(answer, *client.session);
  CHECK(client.peer->sent.empty());
}

// --- who is there ---------------------------------------------------------------------------------------------------

TEST_CASE("of what a client says in its handshake only what tools may ask of it is kept") {
  ServedClient client;
  client.initialize({{"sampling", {{"tools", std::string(1000, 'x')}}}, {"roots", true}, {"experimental", {{"a", 1}}}});
  const auto& handshake = client.session->handshake;
  REQUIRE(handshake);
  CHECK(handshake->capabilities == Json{{"sampling", Json::object()}, {"roots", Json::object()}});
  CHECK(handshake->principal == &client.admin);
  CHECK(handshake->is_there());
  client.initialize(Json::array({"sampling"}));
  CHECK(client.session->handshake->capabilities == Json::object());
}

TEST_CASE("a session that several clients share has no handshake, though each is answered") {
  ServedClient client({.transport = TransportKind::kHttp, .address = "test"}, SessionOf::kManyClients);
  CHECK(client.ask("initialize", {{"protocolVersion", "2025-06-18"}})["protocolVersion"] == "2025-06-18");
  CHECK_FALSE(client.session->handshake);
  client.ask("resources/subscribe", {{"uri", "a://1"}});
  client.ask("logging/setLevel", {{"level", "debug"}});
  CHECK_FALSE(client.server.is_watched("a://"));
  client.peer->sent.clear();
  client.server.log(mcp::Severity::kError, "runtime", "one");
  CHECK(client.peer->sent.empty());
}

TEST_CASE("another handshake begins anew: what the session was subscribed to is over, and the level of its log") {
  ServedClient client;
  client.initialize();
  client.ask("resources/subscribe", {{"uri", "a://1"}});
  client.ask("logging/setLevel", {{"level", "debug"}});
  REQUIRE(client.server.is_watched("a://"));
  client.initialize();
  CHECK_FALSE(client.server.is_watched("a://"));
  client.server.log(mcp::Severity::kError, "runtime", "one");
  client.server.announce(mcp::Listed::kTools);
  CHECK(client.peer->sent.empty());
  client.notify("notifications/initialized");
  client.server.announce(mcp::Listed::kTools);
  CHECK(client.peer->sent.size() == 1);
}

TEST_CASE("as long as a client is being asked there is no other handshake") {
  ServedClient client;
  client.catalogue.add(tool_named("ask", [](mcp::Invocation& invocation) {
    if (invocation.input("who") != nullptr) return invocation.result(mcp::text_result("done"));
    invocation.ask({{"who", "roots/list"}});
  }));
  client.initialize({{"roots", Json::object()}});
  client.ask("tools/call", {{"name", "ask"}});
  const Json question = Json::parse(client.peer->sent.at(0));
  CHECK(client.refusal("initialize", {{"protocolVersion", "2025-11-25"}}).code() == ErrorCode::kInvalidRequest);
  mcp::Server::handle(Response{question["id"].dump(), Json::object(), nullptr}, *client.session);
  CHECK_NOTHROW(client.initialize());
}

TEST_CASE("tasks are among what a server can do for clients without a handshake, if it offers any") {
  ServedClient client;
  for (const bool offers : {false, true}) {
    client.catalogue.offers_tasks = offers;
    CHECK_FALSE(client.server.capabilities(mcp::handshake_era()).contains("extensions"));
    CHECK(client.server.capabilities(mcp::stateless_era()).contains("extensions") == offers);
  }
}

// --- tools and prompts ----------------------------------------------------------------------------------------------

TEST_CASE("what a call says in the wrong form is refused with its place, and null says nothing") {
  ServedClient client;
  int calls = 0;
  client.catalogue.add(tool_named("try", [&calls](mcp::Invocation& invocation) {
    ++calls;
    CHECK(invocation.arguments() == Json::object());
    CHECK(invocation.state().is_null());
    invocation.result(mcp::text_result("done"));
  }));
  const auto path = [&](const char* name, const Json& value) {
    return client.refused_path("tools/call", {{"name", "try"}, {name, value}});
  };
  CHECK(client.refused_path("tools/call", {{"name", 1}}) == "params.name");
  CHECK(client.refused_path("tools/call", Json::array({"try"})) == "params.name");
  CHECK(client.refused_path("tools/call") == "params.name");
  CHECK(path("arguments", {1}) == "params.arguments");
  CHECK(path("inputResponses", "x") == "params.inputResponses");
  CHECK(path("requestState", {1}) == "params.requestState");
  CHECK(calls == 0);
  client.ask("tools/call",
             {{"name", "try"}, {"arguments", nullptr}, {"inputResponses", nullptr}, {"requestState", nullptr}});
  CHECK(calls == 1);
}

TEST_CASE("a tool or prompt that there is not is refused with one that is near, if the client may use that") {
  ServedClient client;
  mcp::Tool secret = tool_named("unload_model", [](mcp::Invocation&) {});
  secret.permission = Permission::kAdmin;
  client.catalogue.add(std::move(secret));
  client.catalogue.add(mcp::Prompt{"use_tools", "", "", {}, [](mcp::Invocation&) {}});
  const auto told = [&](const char* method, const char* name) {
    return std::string(client.refusal(method, {{"name", name}}).what());
  };
  CHECK(told("tools/call", "unload_modl").find("unload_model") != std::string::npos);
  CHECK(told("prompts/get", "use_tool").find("use_tools") != std::string::npos);
  client.session->principal = &client.caller;
  CHECK(told("tools/call", "unload_modl").find("unload_model") == std::string::npos);
}

TEST_CASE(
    "a tool that the client may not call says so as its result, for the model to read, and a prompt as an error") {
  ServedClient client;
  client.session->principal = &client.caller;
  mcp::Tool secret = tool_named("unload", [](mcp::Invocation&) { FAIL("it was called"); });
  secret.permission = Permission::kAdmin;
  client.catalogue.add(std::move(secret));
  mcp::Prompt prompt{"secret", "", "", {}, [](mcp::Invocation&) { FAIL("it was called"); }};
  prompt.permission = Permission::kAdmin;
  client.catalogue.add(std::move(prompt));
  CHECK(client.ask("tools/call", {{"name", "unload"}})["isError"] == true);
  CHECK(client.refusal("prompts/get", {{"name", "secret"}}).code() == ErrorCode::kUnauthorized);
}

TEST_CASE("whatever takes its time counts among the client's requests, and the one too many is told and counted") {
  ServedClient client;
  mcp::Service service;
  service.name = "library";
  service.documents.scheme = "book://";
  std::vector<mcp::DoneFunction> fetched;
  service.documents.list = [&](const Principal&, const mcp::ListRequest&, mcp::DoneFunction done) {
    fetched.push_back(std::move(done));
  };
  service.documents.read = [&](const Principal&, const std::string&, mcp::DoneFunction done) {
    fetched.push_back(std::move(done));
  };
  client.catalogue.services.emplace_back(std::move(service));
  client.catalogue.fetch = [](const std::string& uri) -> mcp::InvokeFunction {
    if (uri != "web://1") return nullptr;
    return [](mcp::Invocation&) {};
  };
  client.catalogue.add(mcp::Prompt{"write", "", "", {}, [](mcp::Invocation&) {}});
  client.add_slow_tool();
  for (std::size_t each = 0; each < kMostRequests; ++each)
    CHECK(client.ask("tools/call", {{"name", "slow"}}).is_null());
  CHECK(client.ask("tools/call", {{"name", "slow"}})["isError"] == true);
  const std::vector<std::pair<const char*, Json>> others{{"prompts/get", {{"name", "write"}}},
                                                         {"resources/list", Json::object()},
                                                         {"resources/read", {{"uri", "book://1"}}},
                                                         {"resources/read", {{"uri", "web://1"}}},
                                                         {"subscriptions/listen", without_handshake()}};
  for (const auto& [method, params] : others) {
    INFO(method);
    CHECK(client.refusal(method, params).code() == ErrorCode::kQueueFull);
  }
  CHECK(fetched.empty());
  CHECK(client.counts.reached.at(static_cast<std::size_t>(Limit::kRequestsPerConnection)) == others.size() + 1);
  client.end_all();
  // What a service is asked for counts, too, until it has answered.
  for (std::size_t each = 0; each < kMostRequests; ++each) {
    CHECK(client.ask("resources/read", {{"uri", "book://1"}}).is_null());
  }
  CHECK(fetched.size() == kMostRequests);
  CHECK(client.refusal("resources/read", {{"uri", "book://1"}}).code() == ErrorCode::kQueueFull);
  CHECK(client.refusal("resources/list").code() == ErrorCode::kQueueFull);
  for (const auto& done : std::exchange(fetched, {})) done(Json::object(), nullptr);
  CHECK(client.ask("resources/list").is_null());
  CHECK(fetched.size() == 1);
}

TEST_CASE("a tool is given its arguments read, unless it only hands them on, and never more than the loop may read") {
  std::string values = "[1";
  for (std::size_t each = 0; each < kMostValuesReadOnLoop; ++each) values += ",1";
  values += "]";
  for (const bool takes_unread : {false, true}) {
    INFO(takes_unread);
    ServedClient client;
    std::vector<Json> given;
    mcp::Tool tool = tool_named("try", [&given](mcp::Invocation& invocation) {
      given.push_back(invocation.arguments());
      invocation.result(mcp::text_result("done"));
    });
    tool.takes_unread = takes_unread;
    client.catalogue.add(std::move(tool));
    client.ask("tools/call", {{"name", "try"}, {"arguments", {{"few", unread_part("[1,2]")}}}});
    REQUIRE(given.size() == 1);
    CHECK(has_unread(given[0]) == takes_unread);
    CHECK(to_text(given[0]) == R"({"few":[1,2]})");
    const Json long_call{{"name", "try"}, {"arguments", {{"many", unread_part(values)}}}};
    if (takes_unread) {
      CHECK_FALSE(client.ask("tools/call", long_call).is_null());
    } else {
      CHECK(client.refusal("tools/call", long_call).code() == ErrorCode::kInvalidRequest);
    }
  }
}

TEST_CASE("what a host adds to every call is dropped, unless the tool has an argument of that name") {
  ServedClient client;
  std::vector<Json> given;
  const auto note = [&given](mcp::Invocation& invocation) {
    given.push_back(invocation.arguments());
    invocation.result(mcp::text_result("done"));
  };
  client.catalogue.add(tool_named("other", note));
  mcp::Tool waiter = tool_named("waiter", note);
  waiter.input_schema["properties"]["wait_for_previous"] = Json{{"type", "boolean"}};
  client.catalogue.add(std::move(waiter));
  const Json arguments{{"day", 1}, {"wait_for_previous", true}};
  client.ask("tools/call", {{"name", "other"}, {"arguments", arguments}});
  client.ask("tools/call", {{"name", "waiter"}, {"arguments", arguments}});
  CHECK(given == std::vector<Json>{{{"day", 1}}, arguments});
}

TEST_CASE("an argument of a prompt has a longest length, up to which it is given whole") {
  constexpr std::size_t kLongest = std::size_t{1} << 20U;
  ServedClient client;
  std::size_t length = 0;
  client.catalogue.add(
      mcp::Prompt{"write", "", "", {{"text", "", "", true, {}}}, [&length](mcp::Invocation& invocation) {
                    length = invocation.arguments()["text"].get_ref<const std::string&>().size();
                    invocation.result(Json{{"messages", Json::array()}});
                  }});
  const auto params = [](std::size_t bytes) {
    return Json{{"name", "write"}, {"arguments", {{"text", std::string(bytes, 'x')}}}};
  };
  client.ask("prompts/get", params(kLongest));
  CHECK(length == kLongest);
  CHECK(client.refused_path("prompts/get", params(kLongest + 1)) == "params.arguments.text");
}

TEST_CASE("a tool may be taken out of the catalogue while it runs, and is called again all the same") {
  ServedClient client;
  const auto held = std::make_shared<int>(0);
  client.catalogue.add(tool_named("try", [held](mcp::Invocation& invocation) {
    if (++*held == 2) return invocation.result(mcp::text_result("done"));
    invocation.ask({{"who", "roots/list"}});
  }));
  client.initialize({{"roots", Json::object()}});
  client.ask("tools/call", {{"name", "try"}});
  const Json question = Json::parse(client.peer->sent.at(0));
  client.catalogue.tools.clear();
  mcp::Server::handle(Response{question["id"].dump(), Json::object(), nullptr}, *client.session);
  CHECK(*held == 2);
  CHECK_FALSE(client.answer().is_null());
  CHECK(held.use_count() == 1);  // nobody needs it any more
}

TEST_CASE("a progress token may be as long as an id, and a longer one is refused") {
  ServedClient client;
  Json given;
  client.catalogue.add(tool_named("try", [&given](mcp::Invocation& invocation) {
    given = invocation.progress_token();
    invocation.result(mcp::text_result("done"));
  }));
  const auto call_with = [](std::size_t bytes) {  // of the token's JSON text
    return Json{{"name", "try"}, {"_meta", {{"progressToken", std::string(bytes - 2, 'x')}}}};
  };
  client.ask("tools/call", call_with(kMostIdBytes));
  CHECK(given == std::string(kMostIdBytes - 2, 'x'));
  given = nullptr;
  CHECK(client.refused_path("tools/call", call_with(kMostIdBytes + 1)) == "params._meta.progressToken");
  CHECK(given.is_null());
  CHECK(client.counts.reached.at(static_cast<std::size_t>(Limit::kIdBytes)) == 1);
}

TEST_CASE("a tool is told who asks, and of _meta what is the client's own") {
  for (const auto& [token, kept] : std::vector<std::pair<Json, Json>>{
           {"p", "p"}, {7, 7}, {1.5, nullptr}, {nullptr, nullptr}, {{1}, nullptr}, {true, nullptr}}) {
    ServedClient client;
    client.add_slow_tool();
    client.ask("tools/call", {{"name", "slow"}, {"_meta", {{"progressToken", token}, {"mine", 1}}}});
    REQUIRE(client.running.size() == 1);
    CHECK(client.running[0]->progress_token() == kept);
    CHECK(client.running[0]->request().meta == Json{{"mine", 1}});
    CHECK(client.running[0]->request().session == client.session);
    client.end_all();
  }
  ServedClient client;
  client.add_slow_tool();
  for (const Json& meta : {Json("x"), Json::array({1}), Json::object(), Json{{"progressToken", 1}}}) {
    client.ask("tools/call", {{"name", "slow"}, {"_meta", meta}});
    CHECK(client.running.back()->request().meta.is_null());
    client.end_all();
  }
}

TEST_CASE("a call outlives its HTTP exchange in the era of handshakes, where another request cancels it") {
  struct Case {
    TransportKind transport;
    bool is_stateless;
    bool outlives;
  };
  for (const auto& [transport, is_stateless, outlives] : std::vector<Case>{{TransportKind::kHttp, false, true},
                                                                           {TransportKind::kHttp, true, false},
                                                                           {TransportKind::kTcp, false, false}}) {
    ServedClient client({.transport = transport, .address = "test"});
    client.add_slow_tool();
    const Json params{{"name", "slow"}};
    client.ask("tools/call", is_stateless ? without_handshake(params) : params);
    CHECK(client.running.at(0)->request().outlives_exchange == outlives);
    client.session->exchange_gone(*client.peer);
    CHECK(client.running.at(0)->ended() == !outlives);
    client.end_all();
  }
}

TEST_CASE("a call becomes a task only if the server offers tasks, the client knows them, and the tool agrees") {
  for (int left_out = 0; left_out < 4; ++left_out) {
    INFO(left_out);
    ServedClient client;
    client.catalogue.offers_tasks = left_out != 1;
    mcp::Tool tool = tool_named(
        "try", [&client](mcp::Invocation& invocation) { client.running.push_back(invocation.shared_from_this()); });
    tool.as_task = [left_out](const mcp::InvocationRequest&) { return left_out != 3; };
    client.catalogue.add(std::move(tool));
    const Json knows = left_out == 2 ? Json::object() : kKnowsTasks;
    const Json answer = client.ask("tools/call", without_handshake({{"name", "try"}}, knows));
    CHECK((answer.is_object() && answer.contains("taskId")) == (left_out == 0));
    client.end_all();
  }
}

// --- documents ------------------------------------------------------------------------------------------------------

TEST_CASE("a document that is fetched from elsewhere is read by that, before all others of its address") {
  ServedClient client;
  client.catalogue.fetch = [](const std::string& uri) -> mcp::InvokeFunction {
    if (uri != "fake://api") return nullptr;
    return [](mcp::Invocation& invocation) {
      CHECK(invocation.name() == "fake://api");
      invocation.result(Json{{"contents", {{{"text", "fetched"}}}}});
    };
  };
  CHECK(client.ask("resources/read", {{"uri", "fake://api"}})["contents"][0]["text"] == "fetched");
  client.catalogue.fetch = [](const std::string&) -> mcp::InvokeFunction { return nullptr; };
  CHECK(client.ask("resources/read", {{"uri", "fake://api"}})["contents"][0]["text"] == "{}");
}

TEST_CASE("a document that a service has not is refused as one that nobody has, with its address in short") {
  const std::string long_uri = "book://" + std::string(1000, 'x');
  for (const std::string& uri : {std::string("book://1"), long_uri}) {
    ServedClient client;
    mcp::Service service;
    service.name = "library";
    service.documents.scheme = "book://";
    service.documents.read = [](const Principal&, const std::string&, const mcp::DoneFunction& done) {
      done(nullptr, std::make_exception_ptr(RpcError(ErrorCode::kResourceNotFound, "no such book")));
    };
    client.catalogue.services.emplace_back(std::move(service));
    client.takes("resources/read", {{"uri", uri}});
    const Json error = Json::parse(client.peer->sent.at(0))["error"];
    CHECK(error["code"] == ErrorCode::kInvalidParams);
    const std::string told = error["data"]["uri"];
    CHECK(told == (uri == long_uri ? shortened(uri) : uri));
  }
}

TEST_CASE("a document that comes late keeps its session until then, and any other error is told as it is") {
  ServedClient client;
  mcp::DoneFunction done;
  mcp::Service service;
  service.name = "library";
  service.documents.scheme = "book://";
  service.documents.read = [&done](const Principal&, const std::string&, mcp::DoneFunction then) {
    done = std::move(then);
  };
  client.catalogue.services.emplace_back(std::move(service));
  client.takes("resources/read", {{"uri", "book://1"}});
  client.reply.reset();
  bool is_idle = false;
  client.session->when_idle([&is_idle] { is_idle = true; });
  CHECK_FALSE(is_idle);
  done(nullptr, std::make_exception_ptr(RpcError(ErrorCode::kToolFailed, "it rains")));
  done = nullptr;
  CHECK(is_idle);
  CHECK(Json::parse(client.peer->sent.at(0))["error"]["code"] == ErrorCode::kToolFailed);
}

TEST_CASE("a document, and a list of documents, that its client has cancelled is not answered any more") {
  for (const auto& [method, params] : {std::pair<const char*, Json>{"resources/list", Json::object()},
                                       std::pair<const char*, Json>{"resources/read", {{"uri", "book://1"}}}}) {
    for (const bool fails : {false, true}) {
      INFO(method << (fails ? " fails" : ""));
      ServedClient client;
      mcp::DoneFunction done;
      const auto keep = [&done](const mcp::DoneFunction& then) { done = then; };
      mcp::Service service;
      service.name = "library";
      service.documents.scheme = "book://";
      service.documents.list = [keep](const Principal&, const mcp::ListRequest&, const mcp::DoneFunction& then) {
        keep(then);
      };
      service.documents.read = [keep](const Principal&, const std::string&, const mcp::DoneFunction& then) {
        keep(then);
      };
      client.catalogue.services.emplace_back(std::move(service));
      client.takes(method, params);
      REQUIRE(done);
      client.notify("notifications/cancelled", {{"requestId", 1}});
      const auto error = std::make_exception_ptr(RpcError(ErrorCode::kToolFailed, "it rains"));
      done(Json{{"resources", Json::array()}, {"contents", Json::array()}}, fails ? error : nullptr);
      CHECK(client.peer->sent.empty());
      CHECK(client.reply->answered());  // over HTTP its exchange ends
    }
  }
}

// --- news -----------------------------------------------------------------------------------------------------------

TEST_CASE("a session subscribes to so many addresses and no more, and to one that it has again") {
  constexpr int kMostAddresses = 256;
  ServedClient client;
  client.initialize();
  const auto subscribe = [&client](int address) {
    client.ask("resources/subscribe", {{"uri", "a://" + std::to_string(address)}});
  };
  for (int address = 0; address < kMostAddresses; ++address) subscribe(address);
  CHECK(client.refusal("resources/subscribe", {{"uri", "a://more"}}).code() == ErrorCode::kQueueFull);
  CHECK_FALSE(client.server.is_watched("a://more"));
  client.ask("resources/unsubscribe", {{"uri", "a://0"}});
  CHECK_NOTHROW(subscribe(kMostAddresses));
}

TEST_CASE("without a handshake nothing is subscribed to and no level set, though both are answered") {
  ServedClient client;
  CHECK(client.ask("resources/subscribe", {{"uri", "a://1"}}) == Json::object());
  CHECK(client.ask("resources/unsubscribe", {{"uri", "a://1"}}) == Json::object());
  CHECK(client.ask("logging/setLevel", {{"level", "debug"}}) == Json::object());
  CHECK_FALSE(client.server.is_watched("a://"));
  CHECK(client.refused_path("logging/setLevel", {{"level", "loud"}}) == "params.level");
  CHECK(client.refused_path("resources/subscribe", {{"uri", 1}}) == "params.uri");
  CHECK(client.refused_path("resources/unsubscribe", Json::array()) == "params.uri");
}

TEST_CASE("the log of the server, which may be about anybody's requests, is for admins only") {
  for (const bool is_admin : {true, false}) {
    INFO(is_admin);
    ServedClient client;
    if (!is_admin) client.session->principal = &client.caller;
    client.initialize();
    client.ask("logging/setLevel", {{"level", "debug"}});
    client.add_slow_tool();
    client.peer->sent.clear();
    client.server.log(mcp::Severity::kError, "runtime", "to the session");
    CHECK(client.peer->sent.size() == (is_admin ? 1 : 0));
    Json params = without_handshake({{"name", "slow"}});
    params["_meta"][mcp::kMetaLogLevel] = "debug";
    client.session->handshake->log_level.reset();
    client.takes("tools/call", params);
    client.peer->sent.clear();
    client.server.log(mcp::Severity::kError, "runtime", "to the request");
    CHECK(client.peer->sent.size() == (is_admin ? 1 : 0));
    client.end_all();
  }
}

TEST_CASE("a call in the era of handshakes hears the server's log by its session, and not once more by itself") {
  ServedClient client;
  client.initialize();
  client.ask("logging/setLevel", {{"level", "debug"}});
  client.add_slow_tool();
  client.ask("tools/call", {{"name", "slow"}});
  client.server.log(mcp::Severity::kError, "runtime", "one");
  CHECK(client.peer->sent.size() == 1);
  client.end_all();
}
