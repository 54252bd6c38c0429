#include "chat/answer/answer_splitter.hpp"

#include "chat/templates/family.hpp"

#include "support/catch.hpp"

#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

const Family& split_family(std::string_view name) {
  const Family* family = find_family(built_in_families(), name);
  REQUIRE(family != nullptr);
  return *family;
}

// Events as text, neighbours of one kind joined: what is the same however the text was cut.
std::string told(const std::vector<AnswerEvent>& events) {
  std::string text;
  std::size_t last = 3;
  for (const AnswerEvent& event : events) {
    if (event.index() != last || event.index() == 2)
      text += event.index() == 0 ? "[think]" : event.index() == 1 ? "[text]" : "";
    last = event.index();
    if (const auto* thought = std::get_if<ThinkingDelta>(&event))
      text += thought->text;
    else if (const auto* said = std::get_if<TextDelta>(&event))
      text += said->text;
    else {
      const auto& call = std::get<ToolCall>(event);
      text += "[" + call.id + " " + call.name + " " + call.arguments + "]";
    }
  }
  return text;
}

std::string split(std::string_view family, const SplitRules& rules, const std::vector<std::string>& pieces) {
  int calls = 0;
  AnswerSplitter splitter(split_family(family), rules, [&calls] { return "c" + std::to_string(++calls); });
  std::vector<AnswerEvent> events;
  for (const std::string& piece : pieces) splitter.feed(piece, events);
  splitter.finish(events);
  for (const AnswerEvent& event : events) {
    if (const auto* said = std::get_if<TextDelta>(&event)) CHECK_FALSE(said->text.empty());
  }
  return told(events);
}

constexpr SplitRules kPlain{};
constexpr SplitRules kCalls{.calls = true};
constexpr SplitRules kShowing{.calls = true, .special_tokens = SpecialTokens::kShown};
constexpr SplitRules kInThinking{.calls = true, .begins_in_thinking = true};

struct SplitCase {
  std::string family;
  SplitRules rules;
  std::string text;
  std::string expected;
};

const std::string kDeepSeekCall =
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{\"city\": "
    "\"Huế\"}\n```<｜tool▁call▁end｜>";

const std::vector<SplitCase>& split_cases() {
  static const std::vector<SplitCase> cases = {
      {"qwen3", kPlain, "", ""},
      {"qwen3", kPlain, "Xin chào, Huế! 😀", "[text]Xin chào, Huế! 😀"},
      {"qwen3", kPlain, "  \n", "[text]  \n"},
      {"qwen3", kPlain, " leading and trailing \n", "[text] leading and trailing \n"},
      {"qwen3", kPlain, "<think>\nHm, 5 < 6.\n\nSo.\n</think>\n\nYes.\n", "[think]Hm, 5 < 6.\n\nSo.[text]Yes.\n"},
      {"qwen3", kPlain, "\n<think></think>Yes", "[text]Yes"},
      {"qwen3", kPlain, "<think>\n\n</think>\n\n", ""},
      {"qwen3", kPlain, "<think>never ends </thin", "[think]never ends </thin"},
      {"qwen3", kPlain, "The tag <think> opens it.", "[text]The tag <think> opens it."},
      {"qwen3", kPlain, "<think>a</think><think>b</think>", "[think]a[text]<think>b</think>"},
      {"qwen3", kPlain, "<thin", "[text]<thin"},
      {"qwen3", kPlain, "<thinner", "[text]<thinner"},
      {"qwen3", kPlain, "<tool_call>\n{\"name\": \"a\"}\n</tool_call>",
       "[text]<tool_call>\n{\"name\": \"a\"}\n</tool_call>"},
      {"qwen2", kPlain, "<think>no thinking here</think>", "[text]<think>no thinking here</think>"},
      {"qwen3", kCalls, "<tool_call>\n{\"name\": \"a\", \"arguments\": {\"x\": [1, \"é\"]}}\n</tool_call>",
       "[c1 a {\"x\":[1,\"é\"]}]"},
      {"qwen3", kCalls,
       "<think>t</think>\n\nLet me "
       "see.\n<tool_call>{\"name\":\"a\"}</tool_call>\n<tool_call>{\"name\":\"b\",\"arguments\":{}}</tool_call>\n",
       "[think]t[text]Let me see.[c1 a {}][c2 b {}]"},
      {"qwen3", kCalls, "Trailing space stays \n", "[text]Trailing space stays \n"},
      {"qwen3", kCalls, "a\n\nb", "[text]a\n\nb"},
      {"qwen3", kCalls, "<tool_call>{\"name\":\"a\",\"arguments\":\"{\\\"x\\\":1}\"}</tool_call>", "[c1 a {\"x\":1}]"},
      {"qwen3", kCalls, "<tool_call>{\"name\":\"a\",\"arguments\":{\"t\":\"</tool_call> \\\" \"}}</tool_call>",
       "[c1 a {\"t\":\"</tool_call> \\\" \"}]"},
      {"qwen3", kCalls, "x <tool_call>{\"name\": a}</tool_call> y", "[text]x <tool_call>{\"name\": a}</tool_call> y"},
      {"qwen3", kCalls, "<tool_call>{\"arguments\":{}}</tool_call>", "[text]<tool_call>{\"arguments\":{}}</tool_call>"},
      {"qwen3", kCalls, "<tool_call>{\"name\":\"a\",\"arguments\":5}</tool_call>",
       "[text]<tool_call>{\"name\":\"a\",\"arguments\":5}</tool_call>"},
      {"qwen3", kCalls, "<tool_call>{\"name\":\"a\",\"name\":\"b\"}</tool_call>",
       "[text]<tool_call>{\"name\":\"a\",\"name\":\"b\"}</tool_call>"},
      {"qwen3", kCalls, "<tool_call>{\"name\":\"a\",\"arguments\":{}}", "[c1 a {}]"},
      {"qwen3", kCalls, "<tool_call>{\"name\":\"a\",\"argum", "[text]<tool_call>{\"name\":\"a\",\"argum"},
      {"qwen3", kCalls, "<tool_call>{\"name\":\"a\"}</tool_ca", "[text]<tool_call>{\"name\":\"a\"}</tool_ca"},
      {"qwen3", kCalls, "5 <tool", "[text]5 <tool"},
      {"qwen3", kCalls, "<tool_call>bad</tool_call>\n<tool_call>{\"name\":\"a\"}</tool_call>",
       "[text]<tool_call>bad</tool_call>[c1 a {}]"},
      {"gemma", kCalls, "<tool_call>\n[{\"name\":\"a\"},{\"name\":\"b\"}]\n</tool_call>", "[c1 a {}][c2 b {}]"},
      {"qwen3",
       {.calls = true, .most_calls = 1},
       "<tool_call>{\"name\":\"a\"}</tool_call>\n<tool_call>{\"name\":\"b\"}</tool_call> more",
       "[c1 a {}]"},
      {"deepseek_r1", kInThinking, "Okay.\n</think>\n\nHi", "[think]Okay.[text]Hi"},
      {"deepseek_r1", kInThinking, "I see.</think>" + kDeepSeekCall + "<｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
       "[think]I see.[c1 weather {\"city\":\"Huế\"}]"},
      {"deepseek_r1", kCalls,
       kDeepSeekCall +
           "\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>b\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
       "[c1 weather {\"city\":\"Huế\"}][c2 b {}]"},
      {"deepseek_r1", kCalls, "<｜tool▁call▁begin｜>function weather<｜tool▁call▁end｜>",
       "[text]<｜tool▁call▁begin｜>function weather<｜tool▁call▁end｜>"},
      {"deepseek_r1", kPlain, "Hi<｜end▁of▁sentence｜>", "[text]Hi"},
      {"llama3", kCalls, "{\"name\": \"a\", \"parameters\": {\"x\": \"}\"}}<|eot_id|>", "[c1 a {\"x\":\"}\"}]"},
      {"llama3", kCalls, "<|python_tag|>{\"name\": \"a\", \"parameters\": {}}<|eom_id|>", "[c1 a {}]"},
      {"llama3", kCalls, "{\"name\":\"a\",\"parameters\":{}}; {\"name\":\"b\",\"parameters\":{}}",
       "[c1 a {}][c2 b {}]"},
      {"llama3", kCalls, "{\"name\":\"a\",\"parameters\":{}}\nDone.", "[c1 a {}][text]\nDone."},
      {"llama3", kCalls, "{\"answer\": 42} is it.", "[text]{\"answer\": 42} is it."},
      {"llama3", kCalls, " {\"answer\": 42", "[text] {\"answer\": 42"},
      {"llama3", kCalls, "<|python_tag|>print(1)", "[text]<|python_tag|>print(1)"},
      {"llama3", kCalls, "It is {\"name\":\"a\",\"parameters\":{}}", "[text]It is {\"name\":\"a\",\"parameters\":{}}"},
      {"llama3", kPlain, "{\"name\":\"a\",\"parameters\":{}}", "[text]{\"name\":\"a\",\"parameters\":{}}"},
      {"phi4_mini", kCalls, "<|tool_call|>[{\"name\": \"a\", \"arguments\": {\"x\": 1}}]<|/tool_call|><|end|>",
       "[c1 a {\"x\":1}]"},
      {"internlm2", kCalls,
       "I look.<|action_start|><|plugin|>\n{\"name\": \"a\", \"parameters\": {}}<|action_end|><|im_end|>",
       "[text]I look.[c1 a {}]"},
      {"internlm2", kCalls, "<|action_start|><|plugin|>\n{\"name\": \"a\", \"parameters\": {}}<|im_end|>", "[c1 a {}]"},
      {"deepseek_r1", kCalls, "<｜tool▁call▁begin｜>function<｜tool▁sep｜>b\n```json\n{}\n```<｜end▁of▁sentence｜>",
       "[c1 b {}]"},
      {"llama3", kCalls, "{\"name\": \"a<|eot_id|>", "[text]{\"name\": \"a"},
      {"internlm2", kPlain, "<|action_start|><|plugin|>\n{\"name\": \"a\"}<|action_end|><|im_end|>",
       "[text]\n{\"name\": \"a\"}"},
      {"llama3", kPlain, "<|python_tag|>Hi<|eom_id|>", "[text]Hi"},
      {"qwen2", kPlain, "Hi<|im_end|>", "[text]Hi<|im_end|>"},
      {"qwen2", kShowing, "Hi<|im_end|>", "[text]Hi"},
      {"qwen2", kShowing, "<tool_call>{\"name\":\"a\"}<|im_end|>", "[c1 a {}]"},
      {"plain", kPlain, "half \xE1\xBA", "[text]half \xEF\xBF\xBD"},
      {"plain", kPlain, "bad \xFF byte", "[text]bad \xEF\xBF\xBD byte"},
  };
  return cases;
}

std::vector<std::string> single_bytes(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char character : text) pieces.emplace_back(1, character);
  return pieces;
}

}  // namespace

TEST_CASE("an answer is split into thinking, text and calls") {
  for (const SplitCase& each : split_cases()) {
    CAPTURE(each.family, each.text);
    CHECK(split(each.family, each.rules, {each.text}) == each.expected);
  }
}

TEST_CASE("an answer is split the same wherever it is cut") {
  for (const SplitCase& each : split_cases()) {
    CAPTURE(each.family, each.text);
    CHECK(split(each.family, each.rules, single_bytes(each.text)) == each.expected);
    for (std::size_t cut = 0; cut <= each.text.size(); ++cut) {
      CAPTURE(cut);
      CHECK(split(each.family, each.rules, {each.text.substr(0, cut), each.text.substr(cut)}) == each.expected);
    }
  }
}

TEST_CASE("any mixture of markers and text is split the same wherever it is cut") {
  const std::vector<std::string> parts = {"<think>",
                                          "</think>",
                                          "<tool_call>",
                                          "</tool_call>",
                                          "{\"name\":\"a\"}",
                                          "{\"name\": \"b\", \"arguments\": {\"x\": \"\\\"\"}}",
                                          "\"",
                                          "\\",
                                          " ",
                                          "\n",
                                          "<",
                                          "text",
                                          "é",
                                          "{",
                                          "}",
                                          "[",
                                          ";",
                                          "<|python_tag|>",
                                          "<|eot_id|>",
                                          "<｜tool▁call▁begin｜>",
                                          "<｜tool▁call▁end｜>",
                                          "function<｜tool▁sep｜>f\n```json\n{}\n```",
                                          "<｜end▁of▁sentence｜>",
                                          "\xC3"};
  std::mt19937 random(20261123);  // the same in every run
  const auto pick = [&random](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (int round = 0; round < 3000; ++round) {
    const std::string family = std::vector<std::string>{"qwen3", "llama3", "deepseek_r1", "phi4_mini"}[pick(4)];
    const SplitRules rules{.calls = pick(2) == 0, .begins_in_thinking = pick(4) == 0};
    std::string text;
    for (std::size_t i = pick(9); i > 0; --i) text += parts[pick(parts.size())];
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t bytes = 1 + pick(5);
      pieces.push_back(text.substr(at, bytes));
      at += bytes;
    }
    const std::string whole = split(family, rules, {text});
    if (split(family, rules, pieces) != whole || split(family, rules, single_bytes(text)) != whole) {
      CAPTURE(family, rules.calls, rules.begins_in_thinking, text, pieces, whole);
      CHECK(split(family, rules, pieces) == whole);
      CHECK(split(family, rules, single_bytes(text)) == whole);
      break;
    }
  }
}

TEST_CASE("text goes out as soon as it is certain") {
  AnswerSplitter splitter(split_family("qwen3"), kCalls, [] { return std::string(); });
  std::vector<AnswerEvent> events;
  splitter.feed("Hello <b", events);
  CHECK(told(events) == "[text]Hello <b");
  splitter.feed(" <tool_c", events);
  CHECK(told(events) == "[text]Hello <b");
  splitter.feed("ar", events);
  CHECK(told(events) == "[text]Hello <b <tool_car");
}
