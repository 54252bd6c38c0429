#include "chat/host/turn_plan.hpp"

#include "chat/templates/family.hpp"
#include "chat/turn/turn_error.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

const Family* of_family(const std::string& name) { return find_family(built_in_families(), name); }

// Messages of a user and of an assistant, in turn, each with its number.
Turn turn_of_messages(int count, std::size_t bytes = 1) {
  Turn turn;
  for (int number = 1; number <= count; ++number) {
    turn.messages.push_back(text_message(number % 2 == 1 ? Role::kUser : Role::kAssistant,
                                         std::string(bytes, 'x') + "#" + std::to_string(number)));
  }
  turn.thinking = Thinking::kOff;
  return turn;
}

std::optional<TurnError> refusal_of_plan(Turn turn, const Family* family) {
  try {
    const TurnPlan plan(std::move(turn), family, 4096);
    return std::nullopt;
  } catch (const TurnError& error) {
    return error;
  }
}

bool has_part(const TurnPlan& plan, const std::string& part) {
  return plan.prompt().text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a model's family is that of the settings, else that of its file's name") {
  CHECK(family_for("qwen3", "llama-3.2.rkllm") == of_family("qwen3"));
  CHECK(family_for("", "Qwen3-0.6B.rkllm") == of_family("qwen3"));
  CHECK(family_for("", "unknown.rkllm") == nullptr);
  try {
    family_for("no-such", "Qwen3-0.6B.rkllm");
    FAIL("a template that does not exist was taken");
  } catch (const TurnError& error) {
    CHECK(error.kind() == ErrorKind::kNotSupported);
    CHECK_THAT(error.what(), rkllm_mcp::test::has_text("\"no-such\""));
    CHECK_THAT(error.what(), rkllm_mcp::test::has_text("qwen3, "));
  }
}

TEST_CASE("a turn is written in the form of its family, and the plan says how its answer is read") {
  const TurnPlan plan(turn_of_messages(3), of_family("qwen3"), {});
  CHECK(&plan.family() == of_family("qwen3"));
  CHECK(has_part(plan, "<|im_start|>user\nx#1<|im_end|>\n<|im_start|>assistant\n"));
  CHECK(plan.prompt().text.ends_with("<|im_start|>assistant\n<think>\n\n</think>\n\n"));
  CHECK_FALSE(plan.uses_own_template());
  CHECK(plan.schema() == nullptr);
  CHECK(plan.goes_on());
  CHECK(plan.honours_thinking());
  CHECK_FALSE(plan.needs_special_tokens());
  Turn alone = turn_of_messages(1);
  alone.goes_on = false;
  CHECK_FALSE(TurnPlan(alone, of_family("qwen3"), {}).goes_on());
}

TEST_CASE("a family that always thinks does not honour a wish that it should not") {
  CHECK_FALSE(TurnPlan(turn_of_messages(1), of_family("qwen3_thinking"), {}).honours_thinking());
  Turn raw;
  raw.raw_prompt = "Once";
  CHECK(TurnPlan(raw, of_family("qwen3"), {}).honours_thinking());
  raw.thinking = Thinking::kOff;
  CHECK_FALSE(TurnPlan(raw, of_family("qwen3"), {}).honours_thinking());
  CHECK(TurnPlan(turn_of_messages(1), nullptr, {}).honours_thinking());
}

TEST_CASE("without a family one message of a user is possible, and its marks are made harmless") {
  Turn turn = turn_of_messages(1);
  turn.messages[0] = text_message(Role::kUser, "Hi <|im_end|>");
  const TurnPlan plan(turn, nullptr, {});
  CHECK(plan.uses_own_template());
  CHECK_FALSE(plan.goes_on());
  CHECK(has_part(plan, "Hi <"));
  CHECK_FALSE(has_part(plan, "<|im_end|>"));
  CHECK(plan.family().thinking.open == "<think>");

  Turn with_tools = turn_of_messages(1);
  with_tools.tools = {FunctionTool{"f"}};
  Turn of_system;
  of_system.messages = {text_message(Role::kSystem, "Be kind.")};
  Turn raw;
  raw.raw_prompt = "Once";
  for (const Turn& each : {turn_of_messages(3), turn_of_messages(0), with_tools, of_system, raw}) {
    const auto refusal = refusal_of_plan(each, nullptr);
    REQUIRE(refusal);
    CHECK(refusal->kind() == ErrorKind::kNotSupported);
    CHECK(refusal->field() == "messages");
  }
}

TEST_CASE("a raw prompt goes to the model as it is, and its answer is text") {
  Turn turn;
  turn.raw_prompt = "Once <|im_end|> upon";
  turn.drop_oldest_turns = true;
  TurnPlan plan(turn, of_family("qwen3"), {});
  CHECK(plan.prompt().text == "Once <|im_end|> upon");
  CHECK(plan.family().name == "plain");
  CHECK(plan.family().tokens_in_answers == of_family("qwen3")->tokens_in_answers);
  CHECK_FALSE(plan.goes_on());
  CHECK_FALSE(plan.shorten(1));
}

TEST_CASE("a picture is refused by the field that it stands in") {
  Turn turn = turn_of_messages(1);
  turn.messages[0].parts.emplace_back(ImagePart{"image/png", "aGk="});
  CHECK(refusal_of_plan(turn, of_family("qwen3")).value().field() == "messages");
  turn.images_field = "images";
  const auto refusal = refusal_of_plan(turn, of_family("qwen3")).value();
  CHECK(refusal.field() == "images");
  CHECK(refusal.kind() == ErrorKind::kNotSupported);
}

TEST_CASE("a prompt may have as many bytes as any context holds, and no more") {
  Turn turn = turn_of_messages(1, kMostPromptBytes - 2);
  REQUIRE(bytes_of(turn) == kMostPromptBytes);
  CHECK_FALSE(refusal_of_plan(turn, of_family("qwen3")));
  turn.messages[0] = text_message(Role::kUser, std::string(kMostPromptBytes + 1, 'x'));
  turn.prompt_field = "input";
  const auto refusal = refusal_of_plan(turn, of_family("qwen3")).value();
  CHECK(refusal.kind() == ErrorKind::kContext);
  CHECK(refusal.field() == "input");
  CHECK(refusal.context_tokens() == 4096);
  turn.drop_oldest_turns = true;
  CHECK(refusal_of_plan(turn, of_family("qwen3")));
}

TEST_CASE("of a turn that lets its oldest turns go so many are dropped that the rest is no longer too long") {
  Turn turn = turn_of_messages(5, kMostPromptBytes / 4);
  CHECK(refusal_of_plan(turn, of_family("qwen3")));
  turn.drop_oldest_turns = true;
  const TurnPlan plan(turn, of_family("qwen3"), {});
  CHECK(plan.dropped() == 2);
  CHECK_FALSE(has_part(plan, "#2"));
  CHECK(has_part(plan, "#3"));
}

TEST_CASE("a plan is shortened by its oldest turns until it fits, or only the last is left") {
  Turn turn = turn_of_messages(7, 100);
  turn.messages.insert(turn.messages.begin(), text_message(Role::kSystem, "Be kind."));
  CHECK_FALSE(TurnPlan(turn, of_family("qwen3"), {}).shorten(1));
  turn.drop_oldest_turns = true;
  TurnPlan plan(turn, of_family("qwen3"), {});
  const std::size_t whole = plan.prompt().text.size();
  CHECK(plan.shorten(whole));
  CHECK(plan.dropped() == 2);
  CHECK(plan.prompt().text.size() < whole);
  CHECK(has_part(plan, "#3"));
  CHECK(plan.shorten(1));
  CHECK(plan.dropped() == 6);
  CHECK(has_part(plan, "Be kind."));
  CHECK(has_part(plan, "#7"));
  CHECK_FALSE(plan.shorten(1));
}

TEST_CASE("a plan of many short messages is shortened until it fits, though most of it are marks") {
  Turn turn = turn_of_messages(61);
  turn.drop_oldest_turns = true;
  TurnPlan plan(turn, of_family("qwen3"), {});
  const std::size_t half = plan.prompt().text.size() / 2;
  CHECK(plan.shorten(half));
  CHECK(plan.prompt().text.size() <= half);
  CHECK(plan.dropped() < 40);
}

TEST_CASE("a format has a schema, is asked for in the prompt, and is asked for anew with what was wrong") {
  Turn turn = turn_of_messages(1);
  turn.format = {OutputKind::kJsonSchema, Json{{"type", "array"}}};
  for (const Family* family : {of_family("qwen3"), static_cast<const Family*>(nullptr)}) {
    TurnPlan plan(turn, family, {});
    REQUIRE(plan.schema() != nullptr);
    CHECK(plan.schema()->complaint(Json::object()));
    CHECK(has_part(plan, R"({"type":"array"})"));
    CHECK_FALSE(has_part(plan, "wrong"));
    plan.ask_again("$: expected array");
    CHECK(has_part(plan, "An earlier answer was wrong: $: expected array"));
    plan.ask_again("$[0]: missing");
    CHECK_FALSE(has_part(plan, "$: expected array"));
  }
  turn.format.schema = Json{{"type", "text"}};
  turn.format_field = "format";
  CHECK(refusal_of_plan(turn, of_family("qwen3")).value().field() == "format.type");
}

TEST_CASE("where a call is forced it is asked for first, and JSON not before its result") {
  Turn turn = turn_of_messages(1);
  turn.tools = {FunctionTool{"add"}};
  turn.tool_choice.use = ToolUse::kRequired;
  turn.format.kind = OutputKind::kJsonObject;
  TurnPlan plan(turn, of_family("qwen3"), {});
  CHECK_FALSE(plan.prompt().forced.empty());
  CHECK_FALSE(has_part(plan, "JSON object only"));
  CHECK_FALSE(has_part(plan, "Call a tool."));
  plan.ask_again("it is no call of a tool");
  CHECK(has_part(plan, "Call a tool. An earlier answer was wrong: it is no call of a tool"));
}

TEST_CASE("special tokens are needed where calls are marked by them, and may come") {
  Family special = *of_family("qwen3");
  special.calls_are_special = true;
  Turn turn = turn_of_messages(1);
  CHECK_FALSE(TurnPlan(turn, &special, {}).needs_special_tokens());
  turn.tools = {FunctionTool{"add"}};
  CHECK(TurnPlan(turn, &special, {}).needs_special_tokens());
  CHECK_FALSE(TurnPlan(turn, of_family("qwen3"), {}).needs_special_tokens());
  turn.tool_choice.use = ToolUse::kNone;
  CHECK_FALSE(TurnPlan(turn, &special, {}).needs_special_tokens());
  turn.tool_choice.use = ToolUse::kAuto;
  special.tools.syntax = CallSyntax::kBare;
  CHECK_FALSE(TurnPlan(turn, &special, {}).needs_special_tokens());
}

TEST_CASE("the next turn's prompt begins with the answer, or with the message that the answer has gone on with") {
  Answer answer;
  answer.text = "Fine.";
  answer.thinking = "Hm.";
  const TurnPlan plan(turn_of_messages(1), of_family("qwen3"), {});
  const std::string next = plan.text_after(answer);
  CHECK(next.ends_with("<|im_start|>assistant\nFine.<|im_end|>\n"));
  const TurnPlan begun(turn_of_messages(2), of_family("qwen3"), {});
  CHECK(begun.text_after(answer).ends_with("<|im_start|>assistant\nx#2Fine.<|im_end|>\n"));
  answer.calls = {ToolCall{"1", "add", "{}"}};
  CHECK_THAT(plan.text_after(answer), rkllm_mcp::test::has_text("<tool_call>\n{\"name\": \"add\""));
}
