#include "chat/host/answer_run.hpp"

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

using Events = std::vector<AnswerEvent>;

Turn turn_requiring(ToolUse use, const std::string& name = "") {
  Turn turn;
  turn.tools = {FunctionTool{"add"}, FunctionTool{"look_up"}};
  turn.tool_choice = {use, name};
  return turn;
}

ToolCall call_of_tool(const std::string& name) { return {"1", name, "{}"}; }

}  // namespace

TEST_CASE("an answer that begins with a call of a tool that is offered is what was asked for") {
  const Turn turn = turn_requiring(ToolUse::kRequired);
  RequiredCall required(turn);
  CHECK(required.take({call_of_tool("look_up")}) == Events{call_of_tool("look_up")});
  CHECK_FALSE(required.has_failed());
  CHECK_FALSE(required.complaint());
}

TEST_CASE("nothing goes out before the call, and all but wrong calls goes out behind it") {
  const Turn turn = turn_requiring(ToolUse::kRequired);
  RequiredCall required(turn);
  CHECK(required.take({}).empty());
  CHECK_FALSE(required.has_failed());
  const Events events{call_of_tool("add"), call_of_tool("remove"), TextDelta{"There."}};
  CHECK(required.take(events) == Events{call_of_tool("add"), TextDelta{"There."}});
  CHECK(required.take({call_of_tool("remove")}).empty());
  CHECK(required.take({call_of_tool("add")}) == Events{call_of_tool("add")});
  CHECK_FALSE(required.complaint());
}

TEST_CASE("an answer that begins with text or thinking has failed, whatever follows") {
  const Turn turn = turn_requiring(ToolUse::kRequired);
  for (const AnswerEvent& first : {AnswerEvent(TextDelta{"Well"}), AnswerEvent(ThinkingDelta{"Hm"})}) {
    RequiredCall required(turn);
    CHECK(required.take({first, call_of_tool("add")}).empty());
    CHECK(required.has_failed());
    CHECK(required.take({call_of_tool("add")}).empty());
    CHECK(required.complaint() == "it is no call of a tool");
  }
}

TEST_CASE("a call of a tool that is not offered is a failure that names it") {
  const Turn turn = turn_requiring(ToolUse::kRequired);
  RequiredCall required(turn);
  CHECK(required.take({call_of_tool("re\"move")}).empty());
  CHECK(required.complaint() == R"(it calls "re\"move", which was not asked for)");
  RequiredCall of_long_name(turn);
  CHECK(of_long_name.take({call_of_tool(std::string(10'000, 'x'))}).empty());
  CHECK(of_long_name.complaint().value().size() < 1000);
}

TEST_CASE("where one tool is named no other one may be called, though it is offered") {
  const Turn turn = turn_requiring(ToolUse::kNamed, "add");
  RequiredCall right(turn);
  CHECK(right.take({call_of_tool("add"), call_of_tool("look_up")}) == Events{call_of_tool("add")});
  RequiredCall wrong(turn);
  CHECK(wrong.take({call_of_tool("look_up")}).empty());
  CHECK(wrong.has_failed());
  RequiredCall other_case(turn);
  CHECK(other_case.take({call_of_tool("Add")}).empty());
}

TEST_CASE("an answer without anything is no call, which is known at its end") {
  const Turn turn = turn_requiring(ToolUse::kRequired);
  const RequiredCall required(turn);
  CHECK_FALSE(required.has_failed());
  CHECK(required.complaint() == "it is no call of a tool");
}
