// What is asked of the stateless era alone. What both eras promise is in era_contract_test.cpp.
#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/request_responder.hpp"
#include "mcp/protocol/revisions.hpp"
#include "mcp/protocol/state_seal.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

const mcp::Revision& stateless_revision() { return *mcp::find_revision("2026-07-28"); }

// Who asks with such a `_meta`.
mcp::ClientContext client_with(const Json& meta) {
  const auto session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
  return mcp::stateless_era().client_of(stateless_revision(), Json{{"_meta", meta}}, *session);
}

// The message of the InvalidParams that such a `_meta` is refused with; empty if it is not refused.
std::string refusal_of_client(const Json& meta) {
  try {
    client_with(meta);
  } catch (const InvalidParams& error) {
    return error.what();
  }
  return "";
}

const Json kServer{{"name", "fake"}, {"version", "1"}};

// The result by which a client without a handshake is asked for that, with this state.
struct StatelessAsking {
  Json asked(mcp::InputRequests requests, Json state) {
    mcp::InvocationRequest request = wanted();
    auto responder = std::make_unique<mcp::RequestResponder>(*request.reply, stateless_revision(), kServer);
    const auto invocation =
        std::make_shared<mcp::Invocation>(std::move(request), std::move(responder), [](mcp::Invocation&) {});
    mcp::stateless_era().ask(*invocation, std::move(requests), std::move(state));
    CHECK(invocation->ended());
    REQUIRE(peer->sent.size() == 1);
    return Json::parse(peer->sent[0])["result"];
  }
  mcp::InvocationRequest wanted() const {
    mcp::InvocationRequest request;
    request.session = std::make_shared<Session>(std::weak_ptr<RequestTable>());
    request.reply = std::make_shared<Reply>(*peer, "1");
    request.client = mcp::ClientContext{&stateless_revision(), Json::object(), std::nullopt};
    request.method = "tools/call";
    request.name = "try";
    request.seal = &seal;
    return request;
  }

  const mcp::StateSeal seal;
  const std::shared_ptr<FakePeer> peer = std::make_shared<FakePeer>();
};

Json claiming(const Json& revision) { return Json{{"_meta", {{mcp::kMetaRevision, revision}}}}; }

}  // namespace

TEST_CASE("a request without a handshake says what its client can do, and may say which log messages it wants") {
  const Json capabilities{{"sampling", Json::object()}, {"gr\xC3\xBC\xC3\x9F", 1}};
  const auto silent = client_with({{mcp::kMetaCapabilities, capabilities}});
  CHECK(silent.revision == &stateless_revision());
  CHECK(silent.capabilities == capabilities);
  CHECK_FALSE(silent.log_level);

  const auto listening = client_with({{mcp::kMetaCapabilities, Json::object()}, {mcp::kMetaLogLevel, "emergency"}});
  CHECK(listening.capabilities == Json::object());
  CHECK(listening.log_level == mcp::Severity::kEmergency);
}

TEST_CASE("a request without a handshake that does not say what its client can do is refused with the place") {
  const std::string place = "params._meta.io.modelcontextprotocol/clientCapabilities: ";
  CHECK(refusal_of_client(Json::object()) == place + "missing");
  for (const Json& wrong : {Json(nullptr), Json::array(), Json("sampling"), Json(true)}) {
    CAPTURE(wrong.dump());
    CHECK(refusal_of_client({{mcp::kMetaCapabilities, wrong}}) == place + "expected object");
  }
}

TEST_CASE("a level of log messages that there is not is refused with the place") {
  for (const Json& wrong : {Json("loud"), Json(""), Json("Debug"), Json(3), Json(nullptr)}) {
    CAPTURE(wrong.dump());
    CHECK(refusal_of_client({{mcp::kMetaCapabilities, Json::object()}, {mcp::kMetaLogLevel, wrong}}) ==
          "params._meta.io.modelcontextprotocol/logLevel: no such level");
  }
}

TEST_CASE("a result without a handshake says its type and its server, and keeps what it says itself") {
  const Json plain = mcp::stateless_era().result(Json{{"tools", Json::array()}}, std::nullopt, kServer);
  CHECK(plain == Json{{"tools", Json::array()},
                      {"resultType", "complete"},
                      {"_meta", {{"io.modelcontextprotocol/serverInfo", kServer}}}});
  const Json own =
      mcp::stateless_era().result(Json{{"resultType", "task"}, {"_meta", {{"a", 1}}}}, std::nullopt, kServer);
  CHECK(own["resultType"] == "task");
  CHECK(own["_meta"] == Json{{"a", 1}, {"io.modelcontextprotocol/serverInfo", kServer}});
}

TEST_CASE("a result that may be used again says for how long, and by whom") {
  using Scope = mcp::Freshness::Scope;
  const mcp::Freshness for_all{std::chrono::minutes(5), Scope::kPublic};
  const Json shared = mcp::stateless_era().result(Json::object(), for_all, kServer);
  CHECK(shared["ttlMs"] == 300'000);
  CHECK(shared["cacheScope"] == "public");
  const Json own = mcp::stateless_era().result(Json::object(), mcp::Freshness{}, kServer);
  CHECK(own["ttlMs"] == 0);
  CHECK(own["cacheScope"] == "private");
}

TEST_CASE("what a tool asks for is the result, by the keys of the questions, with the state sealed") {
  StatelessAsking asking;
  const Json result = asking.asked({{"who", "elicitation/create", Json{{"message", "Who?"}}}, {"where", "roots/list"}},
                                   Json{{"round", 1}});
  CHECK(result["resultType"] == "input_required");
  CHECK(result["inputRequests"] == Json{{"who", {{"method", "elicitation/create"}, {"params", {{"message", "Who?"}}}}},
                                        {"where", {{"method", "roots/list"}, {"params", Json::object()}}}});
  const auto sealed = result["requestState"].get<std::string>();
  CHECK(asking.seal.open(sealed, mcp::subject_of(asking.wanted())) == Json{{"round", 1}});
  mcp::InvocationRequest other = asking.wanted();
  other.name = "other";
  CHECK_THROWS_AS(asking.seal.open(sealed, mcp::subject_of(other)), InvalidParams);
}

TEST_CASE("without questions or without state there is no member for them") {
  const Json without_questions = StatelessAsking().asked({}, Json{{"round", 1}});
  CHECK_FALSE(without_questions.contains("inputRequests"));
  CHECK(without_questions.contains("requestState"));
  const Json without_state = StatelessAsking().asked({{"who", "roots/list"}}, nullptr);
  CHECK(without_state.contains("inputRequests"));
  CHECK_FALSE(without_state.contains("requestState"));
}

TEST_CASE("a request may claim a revision in its _meta, whatever it writes there") {
  for (const Json& none : {Json(nullptr), Json::array({1}), Json("x"), Json::object(), Json{{"_meta", nullptr}},
                           Json{{"_meta", "x"}}, Json{{"_meta", Json::object()}}}) {
    CAPTURE(none.dump());
    CHECK_FALSE(mcp::claimed_revision(none));
    CHECK_FALSE(mcp::is_stateless_request(none));
  }
  for (const Json& claim : {Json("2026-07-28"), Json("gr\xC3\xBC\xC3\x9F"), Json(7), Json(nullptr)}) {
    CAPTURE(claim.dump());
    CHECK(mcp::claimed_revision(claiming(claim)) == std::optional<Json>(claim));
  }
}

TEST_CASE("a request is served without a handshake unless it claims a revision that has one") {
  for (const mcp::Revision& revision : mcp::all_revisions()) {
    CAPTURE(revision.name);
    CHECK(mcp::is_stateless_request(claiming(std::string(revision.name))) == !revision.era.has_handshake());
  }
  for (const Json& unknown : {Json("2027-01-01"), Json(""), Json(7), Json(nullptr)}) {
    CAPTURE(unknown.dump());
    CHECK(mcp::is_stateless_request(claiming(unknown)));
  }
}
