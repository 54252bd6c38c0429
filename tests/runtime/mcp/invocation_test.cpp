// What an invocation promises its tool. What it promises whoever hears its outcome is in requester_contract_test.cpp.
#include "mcp/tools/invocation.hpp"

#include "mcp/protocol/revisions.hpp"
#include "runtime/fake_backend.hpp"
#include "support/catch.hpp"
#include "support/refusal.hpp"

#include <rkllm_mcp/errors.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using Events = std::vector<std::string>;

// Notes what it is told, and answers what it is asked when the test says so.
class NotingRequester final : public mcp::Requester {
 public:
  NotingRequester(Events& events, const bool& ready) : events_(events), ready_(ready) {}

  void result(Json body) override { events_.push_back("result " + body.dump()); }
  void error(const RpcError& error) override {
    events_.push_back("error " + std::to_string(static_cast<int>(error.code())) + " " + error.what());
  }
  void ask(mcp::Invocation& /*invocation*/, mcp::InputRequests requests, Json state) override {
    events_.push_back("ask for " + std::to_string(requests.size()) + " with " + state.dump());
  }
  void notify(std::string_view method, const Json& params) override {
    events_.push_back(std::string(method) + " " + params.dump());
  }
  bool ready() const override { return ready_; }

 private:
  Events& events_;
  const bool& ready_;
};

// A peer whose answers may be let go of for a time.
struct PausingPeer : FakePeer {
  using FakePeer::FakePeer;
  void resume_after(std::chrono::milliseconds pause) override { pauses.push_back(pause); }

  std::vector<std::chrono::milliseconds> pauses;
};

// One tool and its client. The invocation lives until the tool lets go of it, or the test.
struct InvokedTool {
  explicit InvokedTool(mcp::InvokeFunction run = [](mcp::Invocation&) {}) : run_(std::move(run)) {
    wanted.session = session;
    wanted.reply = reply;
    wanted.client = mcp::ClientContext{mcp::find_revision("2025-11-25"), Json::object(), std::nullopt};
    wanted.method = "tools/call";
    wanted.name = "try";
  }

  mcp::Invocation& begin() {
    auto requester = std::make_unique<NotingRequester>(events, ready);
    invocation = std::make_shared<mcp::Invocation>(std::move(wanted), std::move(requester), run_);
    return *invocation;
  }
  void client_cancels() const { session->cancel_request(1, *peer); }
  Events told() { return std::exchange(events, {}); }
  std::function<void()> note(const std::string& event) {
    return [this, event] { events.push_back(event); };
  }

  Events events;
  bool ready = true;
  std::shared_ptr<RequestTable> table = std::make_shared<RequestTable>();
  std::shared_ptr<PausingPeer> peer = std::make_shared<PausingPeer>(TransportKind::kHttp);
  std::shared_ptr<Session> session = std::make_shared<Session>(table);
  std::shared_ptr<Reply> reply = std::make_shared<Reply>(*peer, "1");
  mcp::InvocationRequest wanted;  // until it has begun
  std::shared_ptr<mcp::Invocation> invocation;

 private:
  const mcp::InvokeFunction run_;
};

mcp::InputRequest input_wanted(const std::string& key, const std::string& method = "elicitation/create") {
  return {key, method, Json{{"message", "?"}}};
}
const Json kCanBeAsked{{"elicitation", Json::object()}};

}  // namespace

// --- the tool is called ---------------------------------------------------------------------------------------------

TEST_CASE("a fault in a tool is told as an internal error, ends the invocation, and goes on to whoever has called it") {
  InvokedTool tool([](mcp::Invocation&) { throw std::logic_error("a fault"); });
  tool.begin().when_ended(tool.note("ended"));
  CHECK_THROWS_AS(tool.invocation->run(), std::logic_error);
  const Events told = tool.told();
  REQUIRE(told.size() == 2);
  CHECK(told[0].find("error -32603") == 0);
  CHECK(told[1] == "ended");
  CHECK(tool.session->active() == 0);
}

TEST_CASE("what a tool refuses is told, goes no further, and after an outcome is told no more") {
  for (const bool has_answered : {false, true}) {
    InvokedTool tool([has_answered](mcp::Invocation& invocation) {
      if (has_answered) invocation.result(Json::object());
      throw InvalidParams("params.arguments.day", "missing");
    });
    tool.begin();
    CHECK_NOTHROW(tool.invocation->run());
    CHECK(tool.told() == Events{has_answered ? "result {}" : "error -32602 params.arguments.day: missing"});
  }
}

TEST_CASE("a tool may let go of its invocation while it runs, which then has failed by its name") {
  InvokedTool* self = nullptr;
  InvokedTool tool([&self](mcp::Invocation& invocation) {
    const auto weak = invocation.weak_from_this();
    self->invocation.reset();
    CHECK_FALSE(weak.expired());
  });
  self = &tool;
  tool.begin().when_ended(tool.note("ended"));
  tool.invocation->run();
  CHECK(tool.told() == Events{"error -32603 internal error: try never ended", "ended"});
  CHECK(tool.session->active() == 0);
}

TEST_CASE("a tool may take its arguments away, of which nothing is left") {
  InvokedTool tool;
  tool.wanted.arguments = Json{{"day", 1}};
  mcp::Invocation& invocation = tool.begin();
  CHECK(invocation.take_arguments() == Json{{"day", 1}});
  CHECK(invocation.arguments() == Json::object());
}

TEST_CASE("a tool is called again with the answers and the state that it left, and not once it has ended") {
  std::vector<Json> heard;
  InvokedTool tool([&heard](mcp::Invocation& invocation) {
    const Json* const day = invocation.input("day");
    heard.push_back(Json{{"day", day == nullptr ? Json("none") : *day}, {"state", invocation.state()}});
  });
  mcp::Invocation& invocation = tool.begin();
  invocation.run();
  invocation.run_again({{"day", 2}}, "half");
  CHECK(heard == std::vector<Json>{{{"day", "none"}, {"state", nullptr}}, {{"day", 2}, {"state", "half"}}});
  invocation.result(Json::object());
  invocation.run_again({{"day", 3}}, "late");
  CHECK(heard.size() == 2);
}

// --- what it says on its way ----------------------------------------------------------------------------------------

TEST_CASE("progress is told under the client's token with what is known of it, and to nobody who has given none") {
  InvokedTool tool;
  tool.wanted.progress_token = "t";
  mcp::Invocation& invocation = tool.begin();
  invocation.progress(1, std::nullopt, "");
  invocation.progress(2, 4, "half");
  CHECK(tool.told() ==
        Events{R"(notifications/progress {"progressToken":"t","progress":1.0})",
               R"(notifications/progress {"progressToken":"t","progress":2.0,"total":4.0,"message":"half"})"});
  InvokedTool quiet;
  quiet.begin().progress(1, std::nullopt, "");
  CHECK(quiet.told().empty());
}

TEST_CASE("a log message is told from the level on that its client wants, as long as the client reads") {
  InvokedTool tool;
  tool.wanted.client.log_level = mcp::Severity::kWarning;
  mcp::Invocation& invocation = tool.begin();
  invocation.log(mcp::Severity::kNotice, "tool", "one");
  CHECK(tool.told().empty());
  invocation.log(mcp::Severity::kWarning, "tool", "two");
  CHECK(tool.told() == Events{R"(notifications/message {"level":"warning","logger":"tool","data":"two"})"});
  tool.ready = false;
  CHECK_FALSE(invocation.ready());
  invocation.log(mcp::Severity::kError, "tool", "three");
  CHECK(tool.told().empty());
  invocation.notify("notifications/other", Json::object());  // which is not dropped
  CHECK(tool.told() == Events{"notifications/other {}"});
  InvokedTool quiet;
  quiet.begin().log(mcp::Severity::kEmergency, "tool", "four");
  CHECK(quiet.told().empty());
}

TEST_CASE("an answer is let go of for a time only before it has been given") {
  InvokedTool tool;
  mcp::Invocation& invocation = tool.begin();
  invocation.release_stream(std::chrono::seconds(3));
  CHECK(tool.peer->pauses == std::vector<std::chrono::milliseconds>{std::chrono::seconds(3)});
  invocation.result(Json::object());
  invocation.release_stream(std::chrono::seconds(3));
  CHECK(tool.peer->pauses.size() == 1);
}

TEST_CASE("after the end nothing more is said, asked or listened for") {
  InvokedTool tool;
  tool.wanted.progress_token = "t";
  tool.wanted.client.log_level = mcp::Severity::kDebug;
  tool.wanted.client.capabilities = kCanBeAsked;
  mcp::Invocation& invocation = tool.begin();
  invocation.error(RpcError(ErrorCode::kToolFailed, "no"));
  CHECK(tool.told() == Events{"error -32002 no"});
  CHECK(invocation.ended());
  invocation.progress(1, std::nullopt, "late");
  invocation.notify("notifications/other", Json::object());
  invocation.log(mcp::Severity::kError, "tool", "late");
  invocation.result(Json::object());
  invocation.error(RpcError(ErrorCode::kToolFailed, "late"));
  invocation.ask({input_wanted("day")});
  invocation.on_cancelled(tool.note("cancelled"));
  invocation.when_ended(tool.note("ended"));
  tool.client_cancels();
  tool.invocation.reset();
  CHECK(tool.told().empty());
  CHECK(tool.session->active() == 0);
}

// --- what it asks ---------------------------------------------------------------------------------------------------

TEST_CASE("a client is asked all or nothing: one question that it cannot answer, and none of them is asked") {
  InvokedTool tool;
  tool.wanted.client.capabilities = kCanBeAsked;
  mcp::Invocation& invocation = tool.begin();
  CHECK(invocation.can_ask("elicitation/create"));
  CHECK_FALSE(invocation.can_ask("sampling/createMessage"));
  CHECK(refusal_of([&] {
          invocation.ask({input_wanted("day"), input_wanted("hour", "sampling/createMessage")});
        }) == ErrorCode::kMissingCapability);
  CHECK(tool.told().empty());
  invocation.ask({input_wanted("day"), input_wanted("hour")}, "half");
  CHECK(tool.told() == Events{R"(ask for 2 with "half")"});
  CHECK_FALSE(invocation.ended());
}

TEST_CASE("a client that takes only answers can be asked where questions are answers, or if it is asked for nothing") {
  for (const auto& [revision, can_be] :
       std::vector<std::pair<std::string, bool>>{{"2025-11-25", false}, {"2026-07-28", true}}) {
    INFO(revision);
    InvokedTool tool;
    const auto peer = std::make_shared<FakePeer>(
        PeerFacts{.transport = TransportKind::kHttp, .address = "test", .takes_messages = false});
    tool.wanted.reply = std::make_shared<Reply>(*peer, "1");
    tool.wanted.client = mcp::ClientContext{mcp::find_revision(revision), kCanBeAsked, std::nullopt};
    mcp::Invocation& invocation = tool.begin();
    CHECK(invocation.can_ask("elicitation/create") == can_be);
    CHECK(refusal_of([&] { invocation.ask({input_wanted("day")}); }).has_value() != can_be);
    CHECK(tool.told().size() == (can_be ? 1 : 0));
    CHECK_NOTHROW(invocation.ask({}));
    CHECK(tool.told() == Events{"ask for 0 with null"});
  }
}

// --- its end --------------------------------------------------------------------------------------------------------

TEST_CASE(
    "a tool that listens for it is a request in progress until it ends, and hears of its end behind the outcome") {
  InvokedTool tool;
  mcp::Invocation& invocation = tool.begin();
  CHECK(tool.session->active() == 0);
  invocation.on_cancelled(tool.note("cancelled"));
  invocation.when_ended(tool.note("first"));
  invocation.when_ended(tool.note("second"));
  CHECK(tool.session->active() == 1);
  invocation.result(Json::object());
  CHECK(tool.told() == Events{"result {}", "first", "second"});
  CHECK(tool.session->active() == 0);
  tool.client_cancels();
  CHECK(tool.told().empty());
}

TEST_CASE("a client that cancels is told nothing more, and its tool hears once: of the cancelling, then of the end") {
  InvokedTool tool;
  mcp::Invocation& invocation = tool.begin();
  invocation.on_cancelled(tool.note("forgotten for the next"));
  invocation.on_cancelled(tool.note("cancelled"));
  invocation.when_ended(tool.note("ended"));
  tool.client_cancels();
  CHECK(tool.told() == Events{"cancelled", "ended"});
  CHECK(tool.reply->answered());
  CHECK(tool.peer->sent.empty());
  CHECK(tool.session->active() == 0);
  tool.client_cancels();
  invocation.result(Json::object());
  tool.invocation.reset();
  CHECK(tool.told().empty());
}

TEST_CASE("a tool that answers as it hears of the cancelling has ended once, and its client hears nothing") {
  InvokedTool tool;
  mcp::Invocation& invocation = tool.begin();
  invocation.on_cancelled([&] {
    tool.events.emplace_back("cancelled");
    tool.reply->result(Json::object());
    invocation.result(Json::object());
  });
  invocation.when_ended(tool.note("ended"));
  tool.client_cancels();
  CHECK(tool.told() == Events{"cancelled", "result {}", "ended"});
  CHECK(tool.peer->sent.empty());
}

TEST_CASE("a tool may let go of its invocation as it hears of the cancelling, or of the end") {
  for (const bool is_cancelled : {true, false}) {
    InvokedTool tool;
    mcp::Invocation& invocation = tool.begin();
    if (is_cancelled) invocation.on_cancelled([&tool] { tool.invocation.reset(); });
    invocation.when_ended([&tool] {
      tool.invocation.reset();
      tool.events.emplace_back("ended");
    });
    const std::weak_ptr<mcp::Invocation> weak = tool.invocation;
    is_cancelled ? tool.client_cancels() : invocation.result(Json::object());
    CHECK(tool.told() == (is_cancelled ? Events{"ended"} : Events{"result {}", "ended"}));
    CHECK(weak.expired());
  }
}

TEST_CASE("what a tool has left to be called is released at the end, whoever still holds the invocation") {
  const auto held = std::make_shared<int>();
  InvokedTool tool;
  mcp::Invocation& invocation = tool.begin();
  invocation.on_cancelled([held] {});
  invocation.when_ended([held] {});
  CHECK(held.use_count() == 3);
  invocation.result(Json::object());
  CHECK(held.use_count() == 1);
}

TEST_CASE("a broken HTTP exchange cancels an invocation, unless that outlives it") {
  for (const bool outlives : {true, false}) {
    InvokedTool tool;
    tool.wanted.outlives_exchange = outlives;
    tool.begin().on_cancelled(tool.note("cancelled"));
    tool.session->exchange_gone(*tool.peer);
    CHECK(tool.told() == (outlives ? Events{} : Events{"cancelled"}));
    CHECK(tool.invocation->ended() == !outlives);
  }
}

TEST_CASE("an invocation may outlive the table of requests, and ends all the same") {
  InvokedTool tool;
  tool.begin().when_ended(tool.note("ended"));
  tool.table.reset();
  tool.invocation->result(Json::object());
  CHECK(tool.told() == Events{"result {}", "ended"});
}

namespace {

const Json kSchema = Json::parse(R"({"type":"object","required":["text"],"properties":{
    "text": {"type":"string","minLength":2,"maxLength":4},
    "kind": {"type":"string","enum":["one","two"]},
    "count": {"type":"integer","minimum":-1,"maximum":10,"default":3},
    "share": {"type":"number","minimum":0,"maximum":1},
    "exact": {"type":"boolean"}}})");

Json checked(const std::string& arguments) { return mcp::checked_arguments(kSchema, Json::parse(arguments)); }

}  // namespace

TEST_CASE("arguments come with defaults, without nulls, and without what the schema does not know") {
  CHECK(checked(R"({"text":"ab"})") == Json{{"text", "ab"}, {"count", 3}});
  CHECK(checked(R"({"text":"ab","kind":null,"other":1,"count":7})") == Json{{"text", "ab"}, {"count", 7}});
  CHECK(checked(R"({"text":"ab","share":1,"exact":false,"kind":"two"})") ==
        Json{{"text", "ab"}, {"kind", "two"}, {"count", 3}, {"share", 1}, {"exact", false}});
}

TEST_CASE("a whole number is an integer however it is written, and a length is of characters") {
  CHECK(checked(R"({"text":"ab","count":5.0})")["count"].is_number_integer());
  CHECK(checked(R"({"text":"ab","count":1e1})")["count"] == 10);
  CHECK(checked(R"({"text":"răng"})")["text"] == "răng");  // four characters of five bytes
}

TEST_CASE("arguments that the schema does not allow are refused with their place") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[]", "params.arguments: expected object"},
      {"null", "params.arguments: expected object"},
      {"{}", "params.arguments.text: missing"},
      {R"({"text":null})", "params.arguments.text: missing"},
      {R"({"text":5})", "params.arguments.text: expected string"},
      {R"({"text":"a"})", "params.arguments.text: is too short"},
      {R"({"text":"abcde"})", "params.arguments.text: is longer than 4 characters"},
      {R"({"text":"ab","kind":"three"})", R"(params.arguments.kind: expected one of ["one","two"])"},
      {R"({"text":"ab","count":"3"})", "params.arguments.count: expected integer"},
      {R"({"text":"ab","count":3.5})", "params.arguments.count: expected integer"},
      {R"({"text":"ab","count":1e300})", "params.arguments.count: expected integer"},
      {R"({"text":"ab","count":-2})", "params.arguments.count: is less than -1"},
      {R"({"text":"ab","count":11})", "params.arguments.count: is more than 10"},
      {R"({"text":"ab","count":18446744073709551615})", "params.arguments.count: is more than 10"},
      {R"({"text":"ab","share":true})", "params.arguments.share: expected number"},
      {R"({"text":"ab","share":1.01})", "params.arguments.share: is more than 1"},
      {R"({"text":"ab","exact":"yes"})", "params.arguments.exact: expected true or false"},
      {R"({"text":"ab","exact":1})", "params.arguments.exact: expected true or false"},
  };
  for (const auto& [arguments, complaint] : cases) {
    INFO(arguments);
    CHECK_THROWS_WITH(checked(arguments), complaint);
  }
}
