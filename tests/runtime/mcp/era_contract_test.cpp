// What mcp/protocol/era.hpp promises (Era), held against both eras: the same tool, called and asked something in
// either.
#include "mcp/protocol/era.hpp"

#include "mcp/protocol/agreed_names.hpp"
#include "mcp/protocol/revisions.hpp"
#include "runtime/fake_client.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

// What a client is asked: by whose words, and by which method.
using Questions = std::map<std::string, std::string>;

// A client that calls the one tool there is, answers what it is asked, and sees how the call ends.
class CallerOfAsker {
 public:
  explicit CallerOfAsker(mcp::InvokeFunction run) {
    mcp::Tool tool;
    tool.name = "ask";
    tool.input_schema = Json{{"type", "object"}};
    tool.run = std::move(run);
    client.catalogue.add(std::move(tool));
  }

  Questions questions() const {
    Questions all;
    for (const Question& each : open_) {
      all.emplace(each.params.at("message").get<std::string>(), each.method);
    }
    return all;
  }

  Client client;
  std::vector<Json> endings;  // messages with "result" or "error"

 protected:
  struct Question {
    Json key;  // how its answer names it
    std::string method;
    Json params;
  };

  static Json answer_to(const Question& question) {
    return Json{{"action", "accept"}, {"content", {{"to", question.params.at("message")}}}};
  }

  const Json capabilities_{{"elicitation", Json::object()}};
  std::vector<Question> open_;
};

// HandshakeEra
struct WithHandshake : CallerOfAsker {
  static const mcp::Era& era() { return mcp::handshake_era(); }

  explicit WithHandshake(mcp::InvokeFunction run) : CallerOfAsker(std::move(run)) {
    client.say(
        call("0", "initialize", Json{{"protocolVersion", "2025-11-25"}, {"capabilities", capabilities_}}.dump()));
    client.say(call("0", "logging/setLevel", R"({"level":"warning"})"));
  }
  void begin() { hear(client.say(call("1", "tools/call", R"({"name":"ask"})"))); }
  void begin_without_saying_who() { begin(); }
  void answer() {
    for (const Question& each : std::exchange(open_, {})) {
      hear(client.say(Json{{"jsonrpc", "2.0"}, {"id", each.key}, {"result", answer_to(each)}}.dump()));
    }
  }
  void give_up() {
    hear(client.say(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"));
  }

 private:
  void hear(const Texts& texts) {
    for (const std::string& text : texts) {
      const Json message = Json::parse(text);
      if (message.contains("method")) {
        open_.push_back({message["id"], message["method"], message["params"]});
      } else {
        endings.push_back(message);
      }
    }
  }
};

// StatelessEra
struct WithoutHandshake : CallerOfAsker {
  static const mcp::Era& era() { return mcp::stateless_era(); }

  explicit WithoutHandshake(mcp::InvokeFunction run) : CallerOfAsker(std::move(run)) {}
  void begin() { say(Json{{"name", "ask"}}); }
  void begin_without_saying_who() {
    const Json params{{"name", "ask"}, {"_meta", {{mcp::kMetaRevision, "2026-07-28"}}}};
    hear(client.say(call("1", "tools/call", params.dump())));
  }
  void answer() {
    Json again{{"name", "ask"}};
    for (const Question& each : std::exchange(open_, {})) {
      again["inputResponses"][each.key.get<std::string>()] = answer_to(each);
    }
    if (!state_.is_null()) again["requestState"] = std::exchange(state_, nullptr);
    say(std::move(again));
  }
  void give_up() {}  // whoever does not ask again has given up

 private:
  void say(Json params) {
    params["_meta"][mcp::kMetaLogLevel] = "warning";
    hear(client.say(call("1", "tools/call", stateless(std::move(params), capabilities_))));
  }
  void hear(const Texts& texts) {
    for (const std::string& text : texts) {
      Json message = Json::parse(text);
      if (!message.contains("result") || message["result"].value("resultType", "") != "input_required") {
        endings.push_back(std::move(message));
        continue;
      }
      state_ = message["result"].value("requestState", Json());
      const Json requests = message["result"].value("inputRequests", Json::object());
      for (const auto& [key, request] : requests.items()) {
        open_.push_back({key, request["method"], request["params"]});
      }
    }
  }

  Json state_;
};

mcp::InputRequest question(const std::string& key, const std::string& words) {
  return {key, "elicitation/create", Json{{"message", words}}};
}

std::string words_answered(const mcp::Invocation& invocation, const std::string& key) {
  const Json* const answer = invocation.input(key);
  return answer == nullptr ? "nothing" : answer->at("content").at("to").get<std::string>();
}

std::string text_of(const Json& ending) { return ending.at("result").at("content").at(0).at("text"); }

}  // namespace

#define BOTH_ERAS WithHandshake, WithoutHandshake

TEMPLATE_TEST_CASE("a tool sees of its client what it has said of itself, in either era", "", BOTH_ERAS) {
  std::optional<mcp::ClientContext> seen;
  TestType caller([&seen](mcp::Invocation& invocation) {
    seen = invocation.request().client;
    invocation.result(mcp::text_result("done"));
  });
  caller.begin();
  REQUIRE(seen);
  CHECK(&seen->revision->era == &TestType::era());
  CHECK(seen->capabilities == Json{{"elicitation", Json::object()}});
  CHECK(seen->log_level == mcp::Severity::kWarning);
}

TEMPLATE_TEST_CASE("an era has a handshake if a client need not say in each request who it is", "", BOTH_ERAS) {
  bool is_run = false;
  TestType caller([&is_run](mcp::Invocation& invocation) {
    is_run = invocation.request().client.capabilities == Json{{"elicitation", Json::object()}};
    invocation.result(mcp::text_result("done"));
  });
  caller.begin_without_saying_who();
  CHECK(is_run == TestType::era().has_handshake());
  REQUIRE(caller.endings.size() == 1);
  if (!is_run) CHECK(caller.endings[0]["error"]["code"] == ErrorCode::kInvalidParams);
}

TEMPLATE_TEST_CASE("a result has all that it was made of, in either era", "", BOTH_ERAS) {
  const Json server{{"name", "x"}, {"version", "1"}};
  const Json body{
      {"content", Json::array({1, 2})}, {"more", {{"a", 1}}}, {"resultType", "kept"}, {"_meta", {{"b", 2}}}};
  const mcp::Freshness freshness{std::chrono::milliseconds(5), mcp::Freshness::Scope::kPublic};
  for (const auto& lasting : {std::optional<mcp::Freshness>(), std::optional(freshness)}) {
    Json result = TestType::era().result(body, lasting, server);
    CHECK(result["_meta"]["b"] == 2);
    for (const char* const member : {"content", "more", "resultType"}) CHECK(result[member] == body[member]);
    CHECK(TestType::era().result(Json::object(), lasting, server).is_object());
  }
}

TEMPLATE_TEST_CASE("what a tool asks comes to its client, and every answer to the tool, with its state, round by round",
                   "", BOTH_ERAS) {
  std::vector<std::string> runs;
  TestType caller([&runs](mcp::Invocation& invocation) {
    const Json state = invocation.state();
    if (state.is_null()) {
      return invocation.ask({question("who", "Who are you?"), question("why", "Why?")}, Json{{"round", 1}});
    }
    if (state == Json{{"round", 1}}) {
      runs.push_back(words_answered(invocation, "who") + " " + words_answered(invocation, "why"));
      return invocation.ask({question("when", "When?")}, Json{{"round", 2}});
    }
    runs.push_back(state.dump() + " " + words_answered(invocation, "when") + " " + words_answered(invocation, "who"));
    invocation.result(mcp::text_result("done"));
  });
  caller.begin();
  CHECK(caller.questions() == Questions{{"Who are you?", "elicitation/create"}, {"Why?", "elicitation/create"}});
  CHECK(caller.endings.empty());
  caller.answer();
  CHECK(caller.questions() == Questions{{"When?", "elicitation/create"}});
  CHECK(caller.endings.empty());
  caller.answer();
  CHECK(caller.questions().empty());
  CHECK(runs == std::vector<std::string>{"Who are you? Why?", R"({"round":2} When? nothing)"});
  REQUIRE(caller.endings.size() == 1);
  CHECK(text_of(caller.endings[0]) == "done");
}

TEMPLATE_TEST_CASE("a tool that asks nothing, but wants to be called again, is, with its state", "", BOTH_ERAS) {
  std::vector<Json> states;
  TestType caller([&states](mcp::Invocation& invocation) {
    states.push_back(invocation.state());
    if (states.size() == 1) return invocation.ask({}, Json{{"round", 1}});
    invocation.result(mcp::text_result("done"));
  });
  caller.begin();
  if (caller.endings.empty()) caller.answer();  // where it is the client who calls it again
  CHECK(states == std::vector<Json>{nullptr, Json{{"round", 1}}});
  CHECK(caller.questions().empty());
  REQUIRE(caller.endings.size() == 1);
  CHECK(text_of(caller.endings[0]) == "done");
}

TEMPLATE_TEST_CASE(
    "a client that gives up instead of answering leaves nothing behind, and the tool is not called again", "",
    BOTH_ERAS) {
  int runs = 0;
  std::weak_ptr<mcp::Invocation> asking;
  TestType caller([&](mcp::Invocation& invocation) {
    ++runs;
    asking = invocation.weak_from_this();
    invocation.ask({question("who", "Who are you?")}, Json{{"round", 1}});
  });
  caller.begin();
  CHECK(caller.questions().size() == 1);
  caller.give_up();
  CHECK(asking.expired());
  CHECK(runs == 1);
  CHECK(caller.endings.empty());
}
