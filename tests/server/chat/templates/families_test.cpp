#include "chat/templates/family.hpp"

#include "chat/templates/render.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

std::string family_name(std::string_view file) {
  const Family* family = family_of_file(built_in_families(), file);
  return family == nullptr ? "" : family->name;
}

const Family& family_named(std::string_view name) {
  const Family* family = find_family(built_in_families(), name);
  REQUIRE(family != nullptr);
  return *family;
}

}  // namespace

TEST_CASE("all families that are built in can be read, and have their file's name") {
  CHECK(built_in_families().size() == 15);
  for (const Family& family : built_in_families()) CHECK(!family.title.empty());
}

TEST_CASE("a model file's name tells its family, whatever its case and separators") {
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"Qwen2.5-1.5B-Instruct_W8A8_RK3588.rkllm", "qwen2"},
      {"/models/qwen2_0.5b.rkllm", "qwen2"},
      {"Qwen1.5-0.5B-Chat.rkllm", "chatml"},
      {"Qwen3-0.6B-rk3588-w8a8.rkllm", "qwen3"},
      {"Qwen3-4B-Instruct-2507_w8a8.rkllm", "qwen3_instruct"},
      {"qwen3_4b_thinking_2507.rkllm", "qwen3_thinking"},
      {"DeepSeek-R1-Distill-Qwen-1.5B_W8A8_RK3588.rkllm", "deepseek_r1"},
      {"DeepSeek-R1-0528-Qwen3-8B.rkllm", "deepseek_r1"},
      {"Llama-3.2-1B-Instruct.rkllm", "llama3"},
      {"TinyLlama-1.1B-Chat-v1.0.rkllm", "tinyllama"},
      {"Phi-3-mini-4k-instruct.rkllm", "phi3"},
      {"phi-4-mini-instruct.rkllm", "phi4_mini"},
      {"gemma-2-2b-it.rkllm", "gemma"},
      {"gemma3_1b.rkllm", "gemma"},
      {"internlm2-chat-1_8b.rkllm", "internlm2"},
      {"MiniCPM-2B-dpo.rkllm", "minicpm"},
      {"MiniCPM3-4B.rkllm", "chatml"},
      {"MiniCPM4-0.5B.rkllm", "chatml"},
      {"chatglm3-6b.rkllm", "chatglm3"},
      {"RWKV7-1B5.rkllm", ""},
      {"model.rkllm", ""},
      {"", ""},
  };
  for (const auto& [file, family] : expected) {
    CAPTURE(file);
    CHECK(family_name(file) == family);
  }
}

TEST_CASE("a family's file with a member or hole that nobody knows is refused") {
  const auto message_of = [](std::string_view text) {
    try {
      read_families({{"wrong", text}});
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(message_of(R"({"name":"wrong","usr":"${content}"})"), test::has_text("unknown member 'usr'"));
  CHECK_THAT(message_of(R"({"name":"wrong","user":"${contents}"})"), test::has_text("wrong.user: no such hole"));
  CHECK_THAT(message_of(R"({"name":"wrong","user":"${content"})"), test::has_text("wrong.user: a hole does not end"));
  CHECK_THAT(message_of(R"({"name":"wrong","user":5})"), test::has_text("wrong.user: expected string"));
  CHECK_THAT(message_of(R"({"name":"wrong"})"), test::has_text("wrong"));
  CHECK_THAT(message_of(R"({"name":"wrong","like":"absent"})"), test::has_text("there is no family 'absent'"));
  CHECK_THAT(message_of(R"({"name":"wrong","like":"wrong"})"), test::has_text("like itself"));
  CHECK_THAT(message_of("["), test::has_text("not a JSON object"));
}

TEST_CASE("holes are filled once: what is filled in has none") {
  CHECK(filled("a${x}b${y}", {{"x", "${y}"}, {"y", "2"}}) == "a${y}b2");
  CHECK(filled("${z} ${", {{"x", "1"}}) == "${z} ${");
}

TEST_CASE("text that looks like a special token becomes text") {
  const Family& chatml = family_named("qwen2");
  CHECK(neutral_text(chatml, "a<|im_end|>\n<|im_start|>system") == "a< |im_end|>\n< |im_start|>system");
  CHECK(neutral_text(chatml, "<|fim_prefix|>") == "< |fim_prefix|>");
  CHECK(neutral_text(chatml, "a <| b |> c <|") == "a <| b |> c <|");
  CHECK(neutral_text(chatml, "<<|im_end|>|im_end|>") == "<< |im_end|>|im_end|>");
  CHECK(neutral_text(chatml, "</tool_response>") == "< /tool_response>");
  CHECK(neutral_text(family_named("deepseek_r1"), "<｜User｜>tiếng Việt") == "< ｜User｜>tiếng Việt");
  CHECK(neutral_text(family_named("gemma"), "<end_of_turn>") == "< end_of_turn>");
  CHECK(neutral_text(family_named("minicpm"), "<用户>你好") == "< 用户>你好");
  CHECK(neutral_text(family_named("chatglm3"), "[gMASK]sop") == "[ gMASK]sop");
}

TEST_CASE("what has been made harmless stays so") {
  for (const Family& family : built_in_families()) {
    CAPTURE(family.name);
    for (const std::string& token : family.special_tokens) {
      const std::string once = neutral_text(family, token + token);
      CHECK(once.find(token) == std::string::npos);
      CHECK(neutral_text(family, once) == once);
    }
  }
}

TEST_CASE("JSON is written as Python does it") {
  const Json value = Json::parse(R"({"b":[1,2.5,"é\n"],"a":{},"c":{"d":[]}})");
  CHECK(python_json(value) == R"({"b": [1, 2.5, "é\n"], "a": {}, "c": {"d": []}})");
  CHECK(python_json(Json::parse(R"({"a":[1,{"b":2}]})"), 4) ==
        "{\n    \"a\": [\n        1,\n        {\n            \"b\": 2\n        }\n    ]\n}");
}
