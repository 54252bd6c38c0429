// Section "prompt, role, template, tools" of the runtime's contract.
#include "simulated.hpp"

using namespace simulated;

namespace {

constexpr const char* kWeather =
    R"([{"type":"function","function":{"name":"get_weather","description":"","parameters":{"type":"object",)"
    R"("properties":{"city":{"type":"string"},"days":{"type":"integer"}}}}}])";

int prompt_size(Llm& llm, RKLLMInput input, int keep_history = 0) {
  REQUIRE(rkllm_clear_kv_cache(llm.handle, 0, nullptr, nullptr) == 0);
  REQUIRE(llm.run(input, infer(1, keep_history)) == 0);
  return llm.kv_size();
}

}  // namespace

TEST_CASE("every role but tool is the user") {
  Llm llm;
  const int user = prompt_size(llm, prompt("Hello"));
  CHECK(prompt_size(llm, prompt("Hello", nullptr)) == user);
  CHECK(prompt_size(llm, prompt("Hello", "assistant")) == user);
  CHECK(prompt_size(llm, prompt("Hello", "nobody")) == user);
}

TEST_CASE("a model without a template takes prompts as they are") {
  const Directory directory;
  Llm plain(directory.model({{"chat_template", "none"}}));
  CHECK(prompt_size(plain, prompt("<|im_end|><|im_end|>")) == 3);  // with the BOS token
}

TEST_CASE("special tokens in a prompt are special tokens") {
  Llm llm;
  CHECK(prompt_size(llm, prompt("<|im_end|><|im_end|>")) == prompt_size(llm, prompt("")) + 2);
}

TEST_CASE("set_chat_template puts its texts around the prompt, the system text only in the first turn") {
  Llm llm;
  REQUIRE(llm.run("Hello", infer(1)) == 0);
  REQUIRE(rkllm_set_chat_template(llm.handle, "<|im_start|>", "<|im_end|>", "<|im_end|>") == 0);
  CHECK(llm.kv_size() == 0);  // it wipes the cache
  CHECK(prompt_size(llm, prompt("<|im_end|>"), 1) == 4);
  REQUIRE(llm.run("<|im_end|>", infer(1, 1)) == 0);
  CHECK(llm.kv_size() == 4 + 3);
}

TEST_CASE("a default system block of the model is repeated in each turn of a conversation") {
  const Directory directory;
  Llm llm(directory.model({{"default_system", "<|im_end|>"}}));
  Llm without;
  REQUIRE(llm.run("a", infer(1, 1)) == 0);
  REQUIRE(without.run("a", infer(1, 1)) == 0);
  const int block = llm.kv_size() - without.kv_size();
  CHECK(block > 0);
  REQUIRE(llm.run("a", infer(1, 1)) == 0);
  REQUIRE(without.run("a", infer(1, 1)) == 0);
  CHECK(llm.kv_size() - without.kv_size() == 2 * block);
}

TEST_CASE("a thinking model thinks, unless it is told not to") {
  const Directory directory;
  Llm llm(directory.model({{"thinking", true}}));
  RKLLMInput input = prompt("Hello");
  input.enable_thinking = true;
  REQUIRE(llm.run(input) == 0);
  CHECK(llm.text().find("<think>\n") == 0);
  CHECK(llm.text().find("</think>\n\nThis is a simulated answer.") != std::string::npos);
  input.enable_thinking = false;
  REQUIRE(llm.run(input) == 0);
  CHECK(llm.text().find("<think>") == std::string::npos);

  // After set_chat_template the switch has no effect.
  REQUIRE(rkllm_set_chat_template(llm.handle, "", "", "") == 0);
  REQUIRE(llm.run(input) == 0);
  CHECK(llm.text().find("<think>\n") == 0);
}

TEST_CASE("function tools must be JSON, and need a tag and a template") {
  Llm llm;
  const auto set = [&](const char* tools, const char* tag = "tool_response") {
    return rkllm_set_function_tools(llm.handle, "system", tools, tag);
  };
  CHECK(set(kWeather) == 0);
  CHECK(set("{}") == 0);
  CHECK(set("[]") == 0);
  CHECK(set("") == -1);
  CHECK(set("no json") == -1);
  CHECK(set(kWeather, "") == -1);

  const Directory directory;
  Llm plain(directory.model({{"chat_template", "none"}}));
  CHECK(rkllm_set_function_tools(plain.handle, "", kWeather, "tag") == -1);
}

TEST_CASE("set_function_tools wipes the cache") {
  Llm llm;
  REQUIRE(llm.run("Hello", infer(1)) == 0);
  REQUIRE(rkllm_set_function_tools(llm.handle, "system", kWeather, "tag") == 0);
  CHECK(llm.kv_size() == 0);
}

TEST_CASE("a prompt that names a tool gets a tool call") {
  Llm llm;
  REQUIRE(rkllm_set_function_tools(llm.handle, "system", kWeather, "tool_response") == 0);
  REQUIRE(llm.run("Please use get_weather for Hanoi.") == 0);
  CHECK(llm.text() ==
        "<tool_call>\n{\"name\":\"get_weather\",\"arguments\":{\"city\":\"Hanoi\",\"days\":1}}\n</tool_call>");
  REQUIRE(llm.run("Hello") == 0);
  CHECK(llm.text().find("<tool_call>") == std::string::npos);
}

TEST_CASE("after set_chat_template tools are accepted but have no effect") {
  Llm llm;
  REQUIRE(rkllm_set_chat_template(llm.handle, "", "", "") == 0);
  CHECK(rkllm_set_function_tools(llm.handle, "system", kWeather, "tag") == 0);
  REQUIRE(llm.run("Please use get_weather for Hanoi.") == 0);
  CHECK(llm.text().find("<tool_call>") == std::string::npos);
}

TEST_CASE("tool results must be a JSON array, anything else returns -1 without a callback") {
  Llm llm;
  CHECK(llm.run(prompt(R"([{"temperature":31}])", "tool")) == 0);
  for (const char* bad : {R"({"temperature":31})", "\"text\"", "no json"}) {
    CHECK(llm.run(prompt(bad, "tool")) == -1);
    CHECK(llm.events.empty());
  }
}
