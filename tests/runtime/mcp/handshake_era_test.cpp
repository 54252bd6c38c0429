// What is asked of the era of handshakes alone. What both eras promise is in era_contract_test.cpp.
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/handshake.hpp"
#include "mcp/protocol/request_responder.hpp"
#include "mcp/protocol/revisions.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// A tool in progress whose client has made a handshake: it is asked, and answers.
struct AskedByRequests {
  AskedByRequests() {
    session->handshake = std::make_shared<mcp::Handshake>(mcp::Handshake{mcp::find_revision("2025-06-18")});
    mcp::InvocationRequest request;
    request.session = session;
    request.reply = std::make_shared<Reply>(*peer, "1");
    request.client = mcp::ClientContext{session->handshake->revision, Json::object(), std::nullopt};
    request.method = "tools/call";
    request.name = "try";
    auto responder = std::make_unique<mcp::RequestResponder>(*request.reply, *request.client.revision, server);
    invocation =
        std::make_shared<mcp::Invocation>(std::move(request), std::move(responder), [this](mcp::Invocation& again) {
          ++runs;
          inputs = again.request().inputs;
          state = again.state();
        });
  }
  AskedByRequests(const AskedByRequests&) = delete;
  AskedByRequests& operator=(const AskedByRequests&) = delete;
  // While a client is asked, the question and the tool keep each other.
  ~AskedByRequests() {
    if (invocation && !invocation->ended()) invocation->result(Json::object());
  }

  void ask(const std::vector<std::string>& keys, Json with_state = nullptr) {
    mcp::InputRequests questions;
    for (const auto& key : keys) questions.push_back({key, "elicitation/create", Json{{"message", key + "?"}}});
    mcp::handshake_era().ask(*invocation, std::move(questions), std::move(with_state));
  }
  std::vector<Json> told() {
    std::vector<Json> messages;
    for (const auto& text : std::exchange(peer->sent, {})) messages.push_back(Json::parse(text));
    return messages;
  }
  // The client's answer to this request of the server.
  void answer(const Json& request, const Json& result) const {
    session->handshake->requests.take({request["id"].dump(), result, nullptr});
  }
  void refuse(const Json& request, const Json& error) const {
    session->handshake->requests.take({request["id"].dump(), nullptr, error});
  }
  bool waits() const { return session->handshake->requests.any() || session->handshake->requests.rounds() > 0; }

  const Json server{{"name", "fake"}, {"version", "1"}};
  const std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>();
  const std::shared_ptr<Session> session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
  int runs = 0;  // after it was asked
  Json inputs;
  Json state;
  std::shared_ptr<mcp::Invocation> invocation;
};

}  // namespace

TEST_CASE("who has made a handshake is what that has agreed on, whatever the request says") {
  const auto session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
  session->handshake = std::make_shared<mcp::Handshake>(
      mcp::Handshake{mcp::find_revision("2025-06-18"), Json{{"roots", Json::object()}}, mcp::Severity::kError});
  const Json params{{"_meta", {{"io.modelcontextprotocol/clientCapabilities", {{"sampling", Json::object()}}}}}};
  const auto client = mcp::handshake_era().client_of(mcp::newest_handshake_revision(), params, *session);
  CHECK(client.revision == mcp::find_revision("2025-06-18"));
  CHECK(client.capabilities == Json{{"roots", Json::object()}});
  CHECK(client.log_level == mcp::Severity::kError);
}

TEST_CASE("before its handshake a client can do nothing, wants no log messages, and has the revision of the request") {
  const auto session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
  const auto& revision = mcp::newest_handshake_revision();
  const auto client = mcp::handshake_era().client_of(revision, nullptr, *session);
  CHECK(client.revision == &revision);
  CHECK(client.capabilities == Json::object());
  CHECK_FALSE(client.log_level);
}

TEST_CASE("a result after a handshake is no more than its body") {
  const Json body{{"tools", Json::array()}, {"_meta", {{"a", 1}}}};
  const mcp::Freshness freshness{std::chrono::minutes(5), mcp::Freshness::Scope::kPublic};
  CHECK(mcp::handshake_era().result(body, freshness, Json{{"name", "fake"}}) == body);
}

TEST_CASE("a client is asked by requests with ids of their own, which go where the answer will") {
  AskedByRequests tool;
  tool.ask({"who", "why"});
  const auto asked = tool.told();
  REQUIRE(asked.size() == 2);
  CHECK(asked[0]["method"] == "elicitation/create");
  CHECK(asked[0]["params"] == Json{{"message", "who?"}});
  CHECK(asked[1]["params"] == Json{{"message", "why?"}});
  CHECK(asked[0]["id"] != asked[1]["id"]);
  CHECK(tool.session->handshake->requests.rounds() == 1);
  CHECK_FALSE(tool.invocation->ended());
}

TEST_CASE("a tool goes on when all answers are there, in whichever order, with each by its key, and the state") {
  AskedByRequests tool;
  tool.ask({"who", "why"}, Json{{"round", 1}});
  const auto asked = tool.told();
  tool.answer(asked.at(1), "because");
  tool.answer(asked.at(1), "once more");
  CHECK(tool.runs == 0);
  CHECK(tool.session->handshake->requests.rounds() == 1);
  tool.answer(asked.at(0), Json{{"name", "Ada"}});
  CHECK(tool.runs == 1);
  CHECK(tool.inputs == Json{{"why", "because"}, {"who", {{"name", "Ada"}}}});
  CHECK(tool.state == Json{{"round", 1}});
  CHECK_FALSE(tool.waits());
  tool.answer(asked.at(0), "late");
  CHECK(tool.runs == 1);
}

TEST_CASE("a tool that asks for nothing goes on at once, and nobody is waited for") {
  AskedByRequests tool;
  tool.ask({}, Json{{"round", 1}});
  CHECK(tool.runs == 1);
  CHECK(tool.inputs == Json::object());
  CHECK(tool.state == Json{{"round", 1}});
  CHECK(tool.told().empty());
  CHECK_FALSE(tool.waits());
}

TEST_CASE("one answer that is refused ends the call with the question and the client's words, and all else is void") {
  AskedByRequests tool;
  tool.ask({"who", "why"});
  const auto asked = tool.told();
  tool.refuse(asked.at(1), Json{{"code", -1}, {"message", "nobody is there"}});
  CHECK(tool.invocation->ended());
  const auto told = tool.told();
  REQUIRE(told.size() == 1);
  CHECK(told[0]["id"] == 1);
  CHECK(told[0]["error"]["code"] == -32603);
  CHECK(told[0]["error"]["message"] == "the client refused why: nobody is there");
  CHECK_FALSE(tool.waits());
  tool.answer(asked.at(0), "Ada");
  CHECK(tool.runs == 0);
  CHECK(tool.told().empty());
}

TEST_CASE("a refusal without words of its own is told all the same") {
  for (const Json& error : {Json(7), Json::object(), Json{{"message", 7}}, Json::array()}) {
    CAPTURE(error.dump());
    AskedByRequests tool;
    tool.ask({"who"});
    tool.refuse(tool.told().at(0), error);
    const auto told = tool.told();
    REQUIRE(told.size() == 1);
    CHECK(told[0]["error"]["message"] == "the client refused who");
  }
}

TEST_CASE("a call that ends otherwise while its client is asked waits for no answer, and is kept by none") {
  AskedByRequests tool;
  tool.ask({"who"});
  const auto asked = tool.told();
  tool.invocation->error(RpcError(ErrorCode::kCancelled, "enough"));
  CHECK_FALSE(tool.waits());
  const std::weak_ptr<mcp::Invocation> invocation = tool.invocation;
  tool.invocation.reset();
  CHECK(invocation.expired());
  tool.answer(asked.at(0), "Ada");
  CHECK(tool.runs == 0);
}
