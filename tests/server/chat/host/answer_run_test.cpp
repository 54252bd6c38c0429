#include "chat/host/answer_run.hpp"

#include "chat/templates/family.hpp"
#include "support/catch.hpp"

#include <string>
#include <utility>
#include <variant>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

using Events = std::vector<AnswerEvent>;

// A run of a family that thinks, which has to give this, and the tokens that it makes.
struct RunOfTokens {
  explicit RunOfTokens(Turn for_turn = {}, const Prompt& prompt = {}, const JsonSchema* schema = nullptr)
      : turn(std::move(for_turn)),
        run(
            *find_family(built_in_families(), "qwen3"), turn, prompt, schema, [] { return std::string("id"); },
            SpecialTokens::kHidden) {}

  // What has gone out of all of them.
  Events take(const std::vector<std::string>& tokens) {
    Events all;
    for (const std::string& token : tokens) {
      for (AnswerEvent& event : run.take(token)) all.push_back(std::move(event));
    }
    return all;
  }

  const Turn turn;
  AnswerRun run;
};

std::string text_of_events(const Events& events) {
  Answer answer;
  for (const AnswerEvent& event : events) append(answer, event);
  return answer.text;
}

Turn turn_with_tool(ToolUse use = ToolUse::kAuto) {
  Turn turn;
  turn.tools = {FunctionTool{"add"}};
  turn.tool_choice.use = use;
  return turn;
}

const std::string kCallOfAdd = "<tool_call>{\"name\":\"add\"}</tool_call>";
const ToolCall kAdd{"id", "add", "{}"};

JsonSchema integer_schema() {
  return {Json::parse(R"({"properties":{"a":{"type":"integer"}},"required":["a"]})"), "s"};
}

}  // namespace

TEST_CASE("tokens become text at once, and are counted, those without text too") {
  RunOfTokens answer;
  CHECK(text_of_events(answer.take({"Hel", "lo", ""})) == "Hello");
  CHECK(answer.run.generated() == 3);
  CHECK(answer.run.reasoning() == 0);
  const auto outcome = answer.run.finish(false);
  CHECK(outcome.events.empty());
  CHECK_FALSE(outcome.complaint);
  CHECK(outcome.finish == Finish::kStop);
}

TEST_CASE("what was held back goes out at the end") {
  Turn turn;
  turn.stop = {"END"};
  RunOfTokens answer(turn);
  CHECK(text_of_events(answer.take({"a", "EN"})) == "a");
  const auto outcome = answer.run.finish(true);
  CHECK(text_of_events(outcome.events) == "EN");
  CHECK(outcome.finish == Finish::kLength);
}

TEST_CASE("tokens of the thinking are counted apart, the one that ends it among them") {
  RunOfTokens answer({}, {.text = "", .forced = "", .in_thinking = true});
  const Events events = answer.take({"Hm", ".", "</think>", "Yes"});
  CHECK(text_of_events(events) == "Yes");
  CHECK(answer.run.generated() == 4);
  CHECK(answer.run.reasoning() == 3);
}

TEST_CASE("behind a stop string the run is over, and further tokens do not count") {
  Turn turn;
  turn.stop = {"END"};
  RunOfTokens answer(turn);
  CHECK(text_of_events(answer.take({"a", "EN", "D", "b", "c"})) == "a");
  CHECK(answer.run.is_over());
  CHECK(answer.run.generated() == 3);
  CHECK(answer.run.stop_string() == "END");
  CHECK(answer.run.finish(true).finish == Finish::kStopString);
}

TEST_CASE("JSON that was asked for goes out whole, once it is known to fit") {
  const JsonSchema schema = integer_schema();
  RunOfTokens answer({}, {}, &schema);
  CHECK(answer.take({"```json\n", "{\"a\":", " 1", "}"}).empty());
  CHECK(answer.run.is_over());
  CHECK(answer.take({"more"}).empty());
  CHECK(answer.run.generated() == 4);
  const auto outcome = answer.run.finish(false);
  CHECK(outcome.events == Events{TextDelta{"{\"a\": 1}"}});
  CHECK_FALSE(outcome.complaint);
}

TEST_CASE("whole JSON is no answer that was cut off, though it took all the tokens that there were") {
  const JsonSchema schema = integer_schema();
  RunOfTokens answer({}, {}, &schema);
  answer.take({"{\"a\":1}"});
  CHECK(answer.run.finish(true).finish == Finish::kStop);
}

TEST_CASE("an answer that cannot become the JSON is over, and of it there is only why") {
  const JsonSchema schema = integer_schema();
  RunOfTokens wrong({}, {}, &schema);
  CHECK(wrong.take({"{\"a\":", "true"}).empty());
  CHECK(wrong.run.is_over());
  const auto outcome = wrong.run.finish(false);
  CHECK(outcome.complaint);
  CHECK(outcome.events.empty());
  RunOfTokens cut({}, {}, &schema);
  cut.take({"{\"a\":", "1"});
  CHECK_FALSE(cut.run.is_over());
  CHECK(cut.run.finish(true).complaint);
}

TEST_CASE("the thinking before the JSON waits with it, and stands before it") {
  const JsonSchema schema = integer_schema();
  RunOfTokens answer({}, {.text = "", .forced = "", .in_thinking = true}, &schema);
  CHECK(answer.take({"{Hm}", "</think>", "{\"a\":1}"}).empty());
  const Events events = answer.run.finish(false).events;
  REQUIRE(events.size() >= 2);
  CHECK(std::holds_alternative<ThinkingDelta>(events.front()));
  CHECK(events.back() == AnswerEvent(TextDelta{"{\"a\":1}"}));
}

TEST_CASE("calls that come instead of the JSON are the answer") {
  const JsonSchema schema = integer_schema();
  RunOfTokens answer(turn_with_tool(), {}, &schema);
  CHECK(answer.take({kCallOfAdd}).empty());
  const auto outcome = answer.run.finish(false);
  CHECK_FALSE(outcome.complaint);
  CHECK(outcome.events == Events{kAdd});
  CHECK(outcome.finish == Finish::kToolCalls);
}

TEST_CASE("a call that has been begun for the model goes out, and another answer is a complaint") {
  const Prompt prompt{.text = "", .forced = "<tool_call>\n{\"name\": \"", .in_thinking = false};
  RunOfTokens right(turn_with_tool(ToolUse::kRequired), prompt);
  Events events = right.take({"add\"}", "</tool_call>"});
  auto outcome = right.run.finish(false);
  for (AnswerEvent& event : outcome.events) events.push_back(std::move(event));
  CHECK(events == Events{kAdd});
  CHECK_FALSE(outcome.complaint);

  RunOfTokens wrong(turn_with_tool(ToolUse::kRequired), prompt);
  CHECK(wrong.take({"remove\"}", "</tool_call>"}).empty());
  const auto refused = wrong.run.finish(false);
  CHECK(refused.events.empty());
  CHECK(refused.complaint);
  CHECK(wrong.run.is_over());
}

TEST_CASE("where a call is forced it comes first, whatever schema there is for later") {
  const JsonSchema schema = integer_schema();
  RunOfTokens answer(turn_with_tool(ToolUse::kRequired),
                     {.text = "", .forced = "<tool_call>\n{\"name\": \"", .in_thinking = false}, &schema);
  CHECK_FALSE(answer.take({"add\"}", "</tool_call>"}).empty());
  CHECK_FALSE(answer.run.finish(false).complaint);
}
