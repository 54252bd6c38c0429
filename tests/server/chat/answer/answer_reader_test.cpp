#include "chat/answer/answer_reader.hpp"

#include "chat/templates/family.hpp"

#include "support/catch.hpp"

#include <random>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

struct ReadAnswer {
  Answer answer;
  Finish finish;
  std::string stop;
};

ReadAnswer read_answer(const Turn& turn, const std::vector<std::string>& pieces, const Prompt& prompt = {},
                       bool hit_limit = false, std::string_view family = "qwen3") {
  AnswerReader reader(*find_family(built_in_families(), family), turn, prompt, [] { return std::string("id"); });
  ReadAnswer result;
  const auto add = [&result](const std::vector<AnswerEvent>& events) {
    for (const AnswerEvent& event : events) append(result.answer, event);
  };
  for (const std::string& piece : pieces) add(reader.feed(piece));
  add(reader.finish());
  result.finish = reader.finish_reason(hit_limit);
  result.stop = reader.stop_string();
  return result;
}

std::vector<std::string> bytes_of(const std::string& text) {
  std::vector<std::string> pieces;
  for (const char character : text) pieces.emplace_back(1, character);
  return pieces;
}

}  // namespace

TEST_CASE("a stop string ends the text before it, wherever it is cut") {
  Turn turn;
  turn.stop = {"###", "\n\nUser", "Huế"};
  for (const auto* text : {"One##two###three", "One##two\n\nUser: x", "One##twoHuế và"}) {
    CAPTURE(text);
    for (const auto& pieces : {std::vector<std::string>{text}, bytes_of(text)}) {
      const ReadAnswer read = read_answer(turn, pieces);
      CHECK(read.answer.text == "One##two");
      CHECK(read.finish == Finish::kStopString);
    }
  }
  CHECK(read_answer(turn, {"One##"}).answer.text == "One##");
  CHECK(read_answer(turn, {"One##"}).finish == Finish::kStop);
}

TEST_CASE("the stop string that begins first is the one that counts") {
  Turn turn;
  turn.stop = {"c", "bcd"};
  CHECK(read_answer(turn, bytes_of("abcd")).stop == "bcd");
  CHECK(read_answer(turn, bytes_of("abcx")).stop == "c");
  CHECK(read_answer(turn, {"abcx"}).answer.text == "ab");
  turn.stop = {"ab", "abc"};
  CHECK(read_answer(turn, {"xabc"}).stop == "ab");
  CHECK(read_answer(turn, bytes_of("xabc")).stop == "ab");
}

TEST_CASE("any stop strings in any text give the same, wherever it is cut") {
  std::mt19937 random(7);
  const auto word = [&random](std::size_t most) {
    std::string text;
    for (std::size_t i = random() % (most + 1); i > 0; --i) text += "abc"[random() % 3];
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    Turn turn;
    for (int i = 0; i < 3; ++i) turn.stop.push_back(word(4));
    const std::string text = word(20);
    const ReadAnswer whole = read_answer(turn, {text});
    const ReadAnswer cut = read_answer(turn, bytes_of(text));
    CAPTURE(turn.stop, text);
    REQUIRE(cut.answer.text == whole.answer.text);
    REQUIRE(cut.stop == whole.stop);
  }
}

TEST_CASE("stop strings are looked for in text, and not in thinking or calls") {
  Turn turn;
  turn.stop = {"stop"};
  turn.tools = {{"stop"}};
  const ReadAnswer read =
      read_answer(turn, {"<think>I may stop.</think>Fine.\n<tool_call>{\"name\":\"stop\"}</tool_call>"});
  CHECK(read.answer.thinking == "I may stop.");
  CHECK(read.answer.text == "Fine.");
  CHECK(read.answer.calls == std::vector<ToolCall>{{"id", "stop", "{}"}});
  CHECK(read.finish == Finish::kToolCalls);
}

TEST_CASE("a stop string does not reach over a call") {
  Turn turn;
  turn.stop = {"ab"};
  turn.tools = {{"t"}};
  const ReadAnswer read = read_answer(turn, bytes_of("a<tool_call>{\"name\":\"t\"}</tool_call>b"));
  CHECK(read.answer.text == "ab");
  CHECK(read.finish == Finish::kToolCalls);
}

TEST_CASE("a stop string behind a call ends the answer, and the call is still what the client has to look at") {
  Turn turn;
  turn.stop = {"END"};
  turn.tools = {{"t"}};
  const ReadAnswer read = read_answer(turn, {"<tool_call>{\"name\":\"t\"}</tool_call>\nSo END of it"});
  CHECK(read.answer.calls.size() == 1);
  CHECK_THAT(read.answer.text, !test::has_text("END"));
  CHECK(read.finish == Finish::kToolCalls);
}

TEST_CASE("a call that was forced is read with its beginning, which the prompt has") {
  Turn turn;
  turn.tools = {{"weather"}};
  CHECK(read_answer(turn, {"{\"city\": \"x\"}}\n</tool_call>"},
                    {.text = "", .forced = "<tool_call>\n{\"name\": \"weather\", \"arguments\": "})
            .answer.calls == std::vector<ToolCall>{{"id", "weather", R"({"city":"x"})"}});
  CHECK(read_answer(turn, {"{\"city\": \"x\"}}"}, {.text = "", .forced = "{\"name\": \"weather\", \"parameters\": "},
                    false, "llama3")
            .answer.calls == std::vector<ToolCall>{{"id", "weather", R"({"city":"x"})"}});
  CHECK(read_answer(turn, {"{}\n```<｜tool▁call▁end｜>"},
                    {.text = "",
                     .forced = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n"},
                    false, "deepseek_r1")
            .answer.calls == std::vector<ToolCall>{{"id", "weather", "{}"}});
}

TEST_CASE("the answer is over with the only call that is wanted") {
  Turn turn;
  turn.tools = {{"t"}};
  turn.parallel_calls = false;
  AnswerReader reader(*find_family(built_in_families(), "qwen3"), turn, {}, [] { return std::string("id"); });
  CHECK(reader.feed("<tool_call>{\"name\":\"t\"}</tool_call>").size() == 1);
  CHECK(reader.is_over());
  CHECK(reader.feed("more").empty());
  CHECK(reader.finish().empty());
  CHECK(reader.finish_reason(true) == Finish::kToolCalls);
}

TEST_CASE("an answer that was cut short says so") {
  CHECK(read_answer({}, {"One"}, {}, true).finish == Finish::kLength);
  CHECK(read_answer({}, {"One"}, {}, false).finish == Finish::kStop);
}
