#include "chat/dialects/tool_fields.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

std::vector<FunctionTool> nested_tools(const std::string& text) {
  const Json value = Json::parse(text);
  return read_nested_tools(JsonReader(value, "tools"));
}

// A turn with the tools f, g and h, and this choice among them.
Turn turn_choosing(const std::string& choice, FunctionForm form = FunctionForm::kNested) {
  const Json value = Json::parse(choice);
  Turn turn;
  for (const std::string name : {"f", "g", "h"}) turn.tools.push_back(FunctionTool{name});
  read_tool_choice(JsonReader(value, "tool_choice"), form, turn);
  return turn;
}

std::string names_of_tools(const Turn& turn) {
  std::string names;
  for (const FunctionTool& tool : turn.tools) names += tool.name;
  return names;
}

SamplingWish sampling_of(const Json& options) {
  SamplingWish sampling;
  read_sampling(JsonReader(options, "options"), sampling);
  return sampling;
}

Thinking thinking_of_effort(const std::string& word) {
  const Json value = word;
  return read_effort(JsonReader(value, "effort"));
}

std::int64_t token_limit_of(const Json& value, std::int64_t least = 1) {
  return read_token_limit(JsonReader(value, "max_tokens"), least);
}

}  // namespace

TEST_CASE("a tool has a name, and perhaps a description and the schema of its arguments") {
  const Json full = Json::parse(R"({"name":"f","description":"d","input_schema":{"type":"object"}})");
  CHECK(read_tool(JsonReader(full, "tool"), "input_schema") == FunctionTool{"f", "d", Json{{"type", "object"}}});
  CHECK(read_tool(JsonReader(full, "tool"), "parameters") == FunctionTool{"f", "d", nullptr});
  for (const std::string text : {R"({})", R"({"name":""})", R"({"name":5})", R"({"name":"f","description":1})",
                                 R"({"name":"f","parameters":[]})", "[]"}) {
    CAPTURE(text);
    const Json wrong = Json::parse(text);
    CHECK_THROWS_AS(read_tool(JsonReader(wrong, "tool"), "parameters"), InvalidParams);
  }
}

TEST_CASE("nested tools are functions, also where they do not say so") {
  const auto tools = nested_tools(R"([{"type":"function","function":{"name":"f"}},{"function":{"name":"g"}}])");
  CHECK(tools == std::vector<FunctionTool>{{"f"}, {"g"}});
  CHECK(nested_tools("[]").empty());
  CHECK_THROWS_WITH(nested_tools(R"([{"type":"web_search"}])"),
                    "tools[0].type: only tools of type function can be offered");
  CHECK_THROWS_WITH(nested_tools(R"([{"type":"function"}])"), rkllm_mcp::test::has_text("tools[0].function"));
}

TEST_CASE("two tools of one name are refused, and case tells names apart") {
  CHECK_THROWS_WITH(nested_tools(R"([{"function":{"name":"f"}},{"function":{"name":"g"}},{"function":{"name":"f"}}])"),
                    "tools: two tools have the same name");
  CHECK(nested_tools(R"([{"function":{"name":"f"}},{"function":{"name":"F"}}])").size() == 2);
}

TEST_CASE("a choice is a word or a function, in either form") {
  CHECK(turn_choosing(R"("auto")").tool_choice == ToolChoice{});
  CHECK(turn_choosing(R"("none")").tool_choice == ToolChoice{ToolUse::kNone, ""});
  CHECK(turn_choosing(R"("required")").tool_choice == ToolChoice{ToolUse::kRequired, ""});
  const ToolChoice named{ToolUse::kNamed, "g"};
  CHECK(turn_choosing(R"({"type":"function","function":{"name":"g"}})").tool_choice == named);
  CHECK(turn_choosing(R"({"function":{"name":"g"}})").tool_choice == named);
  CHECK(turn_choosing(R"({"type":"function","name":"g"})", FunctionForm::kFlat).tool_choice == named);
  CHECK(names_of_tools(turn_choosing(R"({"function":{"name":"g"}})")) == "fgh");
  CHECK_THROWS_AS(turn_choosing(R"({"type":"function","name":"g"})"), InvalidParams);
  CHECK_THROWS_AS(turn_choosing(R"("any")"), InvalidParams);
  CHECK_THROWS_AS(turn_choosing("5"), InvalidParams);
}

TEST_CASE("tools that are not allowed are not offered") {
  const std::string allowed =
      R"({"type":"allowed_tools","mode":"required","tools":[{"name":"h"},{"type":"function","name":"f"}]})";
  const Turn turn = turn_choosing(allowed, FunctionForm::kFlat);
  CHECK(names_of_tools(turn) == "fh");
  CHECK(turn.tool_choice.use == ToolUse::kRequired);
  const Turn nested = turn_choosing(
      R"({"type":"allowed_tools","allowed_tools":{"tools":[{"type":"function","function":{"name":"g"}}]}})");
  CHECK(names_of_tools(nested) == "g");
  CHECK(nested.tool_choice.use == ToolUse::kAuto);
  CHECK(names_of_tools(turn_choosing(R"({"type":"allowed_tools","tools":[]})", FunctionForm::kFlat)).empty());
}

TEST_CASE("what is allowed has to be offered, to be functions, and to have a known mode") {
  const auto flat = [](const std::string& rest) {
    return turn_choosing(R"({"type":"allowed_tools",)" + rest + "}", FunctionForm::kFlat);
  };
  CHECK_THROWS_WITH(flat(R"("tools":[{"name":"x"}])"), "tool_choice.tools[0].name: there is no tool with this name");
  CHECK_THROWS_WITH(flat(R"("tools":[{"type":"mcp"}])"),
                    "tool_choice.tools[0].type: only functions can be allowed here");
  CHECK_THROWS_WITH(flat(R"("mode":"none","tools":[])"),
                    rkllm_mcp::test::has_text("tool_choice.mode: expected auto or required"));
  CHECK_THROWS_AS(flat(R"("mode":"auto")"), InvalidParams);
}

TEST_CASE("sampling is read by its names, and what is not said stays open") {
  CHECK(sampling_of(Json::object()) == SamplingWish{});
  const SamplingWish all = sampling_of({{"temperature", 0.5},
                                        {"top_p", 0.25},
                                        {"top_k", 3},
                                        {"frequency_penalty", -1},
                                        {"presence_penalty", 1},
                                        {"mirostat", 2},
                                        {"mirostat_tau", 5},
                                        {"mirostat_eta", 0.125},
                                        {"repetition_penalty", 1.5}});
  CHECK(all.temperature == 0.5);
  CHECK(all.top_p == 0.25);
  CHECK(all.top_k == 3);
  CHECK(all.frequency_penalty == -1);
  CHECK(all.presence_penalty == 1);
  CHECK(all.mirostat == 2);
  CHECK(all.mirostat_tau == 5);
  CHECK(all.mirostat_eta == 0.125);
  CHECK(all.repeat_penalty == 1.5);
  CHECK(sampling_of({{"repeat_penalty", 1.25}}).repeat_penalty == 1.25);
}

TEST_CASE("a top_k of 0 or -1 lets every token come") {
  CHECK(sampling_of({{"top_k", 0}}).top_k == 1'000'000);
  CHECK(sampling_of({{"top_k", -1}}).top_k == 1'000'000);
  CHECK(sampling_of({{"top_k", 1}}).top_k == 1);
  CHECK_THROWS_AS(sampling_of({{"top_k", -2}}), InvalidParams);
  CHECK_THROWS_AS(sampling_of({{"top_k", 1'000'001}}), InvalidParams);
}

TEST_CASE("sampling has bounds, which are among what is allowed") {
  const std::vector<std::pair<std::string, std::pair<double, double>>> bounds{
      {"temperature", {0, 2}},       {"top_p", {0, 1}},           {"frequency_penalty", {-2, 2}},
      {"presence_penalty", {-2, 2}}, {"repeat_penalty", {0, 10}}, {"repetition_penalty", {0, 10}},
      {"mirostat_tau", {0, 100}},    {"mirostat_eta", {0, 1}},    {"mirostat", {0, 2}}};
  for (const auto& [name, range] : bounds) {
    CAPTURE(name);
    CHECK_NOTHROW(sampling_of({{name, range.first}}));
    CHECK_NOTHROW(sampling_of({{name, range.second}}));
    CHECK_THROWS_AS(sampling_of({{name, range.first - 1}}), InvalidParams);
    CHECK_THROWS_AS(sampling_of({{name, range.second + 1}}), InvalidParams);
    CHECK_THROWS_AS(sampling_of({{name, "1"}}), InvalidParams);
  }
  SamplingWish sampling;
  const Json warm{{"temperature", 1.5}};
  CHECK_THROWS_AS(read_sampling(JsonReader(warm, "options"), sampling, 1), InvalidParams);
}

TEST_CASE("an effort says whether to think") {
  for (const std::string none : {"none", "minimal"}) CHECK(thinking_of_effort(none) == Thinking::kOff);
  for (const std::string some : {"low", "medium", "high", "xhigh", "max"}) {
    CHECK(thinking_of_effort(some) == Thinking::kOn);
  }
  CHECK_THROWS_AS(thinking_of_effort("much"), InvalidParams);
  CHECK_THROWS_AS(thinking_of_effort(""), InvalidParams);
}

TEST_CASE("a number of tokens is at least what is asked for, and fits what the runtime counts with") {
  CHECK(token_limit_of(1) == 1);
  CHECK(token_limit_of(2'147'483'647) == 2'147'483'647);
  CHECK(token_limit_of(3.0) == 3);
  CHECK(token_limit_of(0, 0) == 0);
  for (const Json& wrong : {Json(0), Json(-1), Json(2'147'483'648), Json(1.5), Json("1")}) {
    CHECK_THROWS_AS(token_limit_of(wrong), InvalidParams);
  }
}
