// What mcp/tools/invocation.hpp promises of whoever hears the outcome of an invocation (Requester), held against all of
// them: a request of either era, a task, and a call in the direct dialect.
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/service.hpp"
#include "runtime/fake_client.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A client that calls the one tool there is, and what its calls have come to.
class CallerOfTool {
 public:
  // What a call has come to: its "result" or its "error", as often as that was told; else empty.
  using Outcomes = std::vector<Json>;

  explicit CallerOfTool(mcp::InvokeFunction run) : run_(std::move(run)) {}

  Client client;

 protected:
  mcp::Tool tool() const {
    mcp::Tool tool;
    tool.name = "try";
    tool.input_schema = Json{{"type", "object"}};
    tool.run = run_;
    return tool;
  }
  void say(const std::string& message) {
    client.receive(std::string_view(message));
    answers();
  }
  // Its answers to the request 1.
  const Outcomes& answers() {
    client.settle();
    hear(std::exchange(client.peer->sent, {}));
    return answers_;
  }

  const Json params_{{"name", "try"}, {"arguments", Json::object()}};

 private:
  void hear(const Texts& texts) {
    for (const std::string& text : texts) {
      const Json message = Json::parse(text);
      if (message.value("id", Json()) != 1) continue;
      answers_.push_back(message.contains("error") ? Json{{"error", message["error"]}}
                                                   : Json{{"result", message["result"]}});
    }
  }

  const mcp::InvokeFunction run_;
  Outcomes answers_;
};

// RequestResponder, as the next: how it words its result is what its era says.
struct ByRequest : CallerOfTool {
  explicit ByRequest(mcp::InvokeFunction run) : CallerOfTool(std::move(run)) {
    client.catalogue.add(tool());
    client.say(call("0", "initialize", R"({"protocolVersion":"2025-11-25","capabilities":{}})"));
  }
  void begin() { say(call("1", "tools/call", params_.dump())); }
  Outcomes outcomes() { return answers(); }
};

struct ByStatelessRequest : CallerOfTool {
  explicit ByStatelessRequest(mcp::InvokeFunction run) : CallerOfTool(std::move(run)) { client.catalogue.add(tool()); }
  void begin() { say(call("1", "tools/call", stateless(params_))); }
  Outcomes outcomes() { return answers(); }
};

// Task::OwnRequester
struct ByTask : CallerOfTool {
  explicit ByTask(mcp::InvokeFunction run) : CallerOfTool(std::move(run)) {
    mcp::Tool as_task = tool();
    as_task.as_task = [](const mcp::InvocationRequest&) { return true; };
    client.catalogue.offers_tasks = true;
    client.catalogue.add(std::move(as_task));
  }
  void begin() {
    say(call("1", "tools/call", stateless(params_, capabilities_)));
    id_ = answers().at(0).at("result").at("taskId");
  }
  // A task has one outcome, which stays.
  Outcomes outcomes() {
    const Json task = only(client.say(call("2", "tasks/get", stateless({{"taskId", id_}}, capabilities_))))["result"];
    if (task["status"] == "completed") return {Json{{"result", task["result"]}}};
    if (task["status"] == "failed") return {Json{{"error", task["error"]}}};
    return {};
  }

 private:
  const Json capabilities_{{"extensions", {{mcp::kTasksExtension, Json::object()}}}};
  std::string id_;
};

// DirectRequester
struct ByDirectCall : CallerOfTool {
  explicit ByDirectCall(mcp::InvokeFunction run) : CallerOfTool(std::move(run)) {
    mcp::Service service;
    service.name = "try-server";
    service.tools.emplace_back(tool());
    mcp::add_service(client.catalogue, Immutable(std::move(service)));
  }
  void begin() { say(call("1", "try-server/tools/call", params_.dump())); }
  Outcomes outcomes() { return answers(); }
};

// Keeps the invocation, to end it later than its tool was called.
mcp::InvokeFunction kept_in(std::shared_ptr<mcp::Invocation>& place) {
  return [&place](mcp::Invocation& invocation) { place = invocation.shared_from_this(); };
}

}  // namespace

#define EVERY_CALLER ByRequest, ByStatelessRequest, ByTask, ByDirectCall

TEMPLATE_TEST_CASE("the result of a tool comes to whoever has called it, once, at once or later", "", EVERY_CALLER) {
  const auto check = [](TestType& caller) {
    REQUIRE(caller.outcomes().size() == 1);
    CHECK(caller.outcomes()[0]["result"]["content"] == mcp::text_result("first")["content"]);
  };
  TestType at_once([](mcp::Invocation& invocation) {
    invocation.result(mcp::text_result("first"));
    invocation.result(mcp::text_result("second"));
  });
  at_once.begin();
  check(at_once);

  std::shared_ptr<mcp::Invocation> kept;
  TestType later(kept_in(kept));
  later.begin();
  CHECK(later.outcomes().empty());
  kept->result(mcp::text_result("first"));
  check(later);
  kept->error(RpcError(ErrorCode::kInternalError, "too late"));
  kept->result(mcp::text_result("second"));
  kept->progress(1, std::nullopt, "too late");
  kept.reset();
  check(later);
}

TEMPLATE_TEST_CASE("the error of a tool comes to whoever has called it, with its code, its words and its data", "",
                   EVERY_CALLER) {
  const RpcError error(ErrorCode::kInvalidParams, "no such day", Json{{"path", "params.day"}});
  const auto check = [&error](TestType& caller) {
    REQUIRE(caller.outcomes().size() == 1);
    CHECK(caller.outcomes()[0] ==
          Json{{"error", {{"code", error.code()}, {"message", error.what()}, {"data", error.data()}}}});
  };
  TestType thrown([&](mcp::Invocation&) { throw RpcError(error); });
  thrown.begin();
  check(thrown);

  std::shared_ptr<mcp::Invocation> kept;
  TestType later(kept_in(kept));
  later.begin();
  kept->error(error);
  kept->result(mcp::text_result("too late"));
  kept.reset();
  check(later);
}

TEMPLATE_TEST_CASE("a result that is no object is told as an error to whoever has called the tool", "", EVERY_CALLER) {
  for (const Json& body : {Json(5), Json(nullptr), Json::array({1}), Json("x")}) {
    INFO(body);
    std::shared_ptr<mcp::Invocation> kept;
    TestType caller(kept_in(kept));
    caller.begin();
    CHECK_NOTHROW(kept->result(body));
    CHECK(kept->ended());
    kept.reset();
    REQUIRE(caller.outcomes().size() == 1);
    CHECK(caller.outcomes()[0]["error"]["code"] == ErrorCode::kInternalError);
  }
}

TEMPLATE_TEST_CASE("a tool that lets go of its invocation has failed, for whoever has called it", "", EVERY_CALLER) {
  std::shared_ptr<mcp::Invocation> kept;
  TestType caller(kept_in(kept));
  caller.begin();
  CHECK(caller.outcomes().empty());
  kept.reset();
  REQUIRE(caller.outcomes().size() == 1);
  CHECK(caller.outcomes()[0]["error"]["code"] == ErrorCode::kInternalError);
}

TEMPLATE_TEST_CASE("a tool that asks a client who cannot be asked has failed, for whoever has called it", "",
                   EVERY_CALLER) {
  TestType caller([](mcp::Invocation& invocation) {
    CHECK_FALSE(invocation.can_ask("elicitation/create"));
    invocation.ask({{"who", "elicitation/create", Json{{"message", "Who are you?"}}}});
  });
  caller.begin();
  REQUIRE(caller.outcomes().size() == 1);
  CHECK(caller.outcomes()[0].contains("error"));
}

TEMPLATE_TEST_CASE("what a tool says on its way is never taken for its outcome, whoever has called it", "",
                   EVERY_CALLER) {
  std::shared_ptr<mcp::Invocation> kept;
  TestType caller(kept_in(kept));
  caller.begin();
  kept->notify("notifications/progress", Json{{"progressToken", 1}, {"progress", 1}, {"message", "half"}});
  kept->notify("notifications/message", Json{{"level", "info"}, {"logger", "x"}, {"data", "y"}});
  CHECK(caller.outcomes().empty());
  kept->result(mcp::text_result("done"));
  kept.reset();
  REQUIRE(caller.outcomes().size() == 1);
  CHECK(caller.outcomes()[0]["result"]["content"] == mcp::text_result("done")["content"]);
}

TEMPLATE_TEST_CASE("a tool may end after its client has gone, whoever that was", "", EVERY_CALLER) {
  std::shared_ptr<mcp::Invocation> kept;
  int ends = 0;
  {
    TestType caller([&](mcp::Invocation& invocation) {
      invocation.when_ended([&ends] { ++ends; });
      kept = invocation.shared_from_this();
    });
    caller.begin();
    caller.client.peer->close();
    caller.client.settle();
    kept->progress(1, std::nullopt, "half");
    kept->result(mcp::text_result("done"));
    CHECK(kept->ended());
    kept.reset();
  }
  CHECK(ends == 1);
}
