// Section "prompt, role, template, tools" of the runtime's contract.
#include "simulated.hpp"

#include <memory>

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

// What is tokenised for an input, as the log says it at level 2.
std::string rendered(RKLLMInput input, const std::function<void(LLMHandle)>& prepare = {},
                     const std::string& path = model("fast")) {
  const Environment level("RKLLM_LOG_LEVEL", "2");
  Llm llm(path);
  if (prepare) prepare(llm.handle);
  int status = -1;
  const Written written = written_by([&] { status = llm.run(input, infer(1)); });
  REQUIRE(status == 0);
  const std::string before = "I rkllm: prompt: ";
  const auto start = written.out.find(before) + before.size();
  return written.out.substr(start, written.out.find("\nI rkllm: tokens:", start) - start);
}

}  // namespace

TEST_CASE("every role but tool is the user") {
  Llm llm;
  const int user = prompt_size(llm, prompt("Hello"));
  CHECK(prompt_size(llm, prompt("Hello", nullptr)) == user);
  CHECK(prompt_size(llm, prompt("Hello", "assistant")) == user);
  CHECK(prompt_size(llm, prompt("Hello", "system")) == user);
  CHECK(prompt_size(llm, prompt("Hello", "nobody")) == user);
}

TEST_CASE("the model's template wraps the prompt") {
  CHECK(rendered(prompt("Hello")) == "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n");
}

TEST_CASE("set_chat_template makes system, prefix, prompt, postfix of it") {
  const std::string text =
      rendered(prompt("Hello"), [](LLMHandle handle) { CHECK(rkllm_set_chat_template(handle, "S", "A", "Z") == 0); });
  CHECK(text == "SAHelloZ");
  CHECK(rendered(prompt("Hello"), [](LLMHandle handle) { rkllm_set_chat_template(handle, "", "", ""); }) == "Hello");
}

TEST_CASE("a template that cannot be parsed is warned about at init, and fails prompts until it is replaced") {
  const Directory directory;
  const std::string path = directory.model({{"chat_template", "unparseable"}});
  std::unique_ptr<Llm> llm;
  const Written at_init = written_by([&] { llm = std::make_unique<Llm>(path); });
  CHECK(contains(at_init.out, "W rkllm: the model's chat template cannot be parsed"));
  int status = 0;
  const Written at_run = written_by([&] { status = llm->run("Hello"); });
  CHECK(status == -1);
  CHECK(llm->events.empty());
  CHECK(contains(at_run.err, "configure it via rkllm_set_chat_template"));
  CHECK(rkllm_set_function_tools(llm->handle, "", kWeather, "tag") == -1);
  REQUIRE(rkllm_set_chat_template(llm->handle, "", "", "") == 0);
  CHECK(llm->run("Hello") == 0);
}

TEST_CASE("enable_thinking=false adds an empty think block to the prompt, true adds nothing") {
  const Directory directory;
  const std::string path = directory.model({{"thinking", true}});
  RKLLMInput input = prompt("Hello");
  const std::string plain = "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n";
  CHECK(rendered(input, {}, path) == plain + "<think>\n\n</think>\n\n");
  input.enable_thinking = true;
  CHECK(rendered(input, {}, path) == plain);
}

TEST_CASE("tools and their system text become the system message") {
  const std::string text = rendered(prompt("Hello"), [](LLMHandle handle) {
    CHECK(rkllm_set_function_tools(handle, "Be brief.", R"({"type": "function"})", "tag") == 0);
  });
  CHECK(text.find("<|im_start|>system\nBe brief.") == 0);
  CHECK(contains(text, "<tools>\n{\"type\":\"function\"}\n</tools><|im_end|>\n<|im_start|>user\nHello"));
}

TEST_CASE("each tool result stands compact in its tag, in one turn of the user, the default tag is tool_response") {
  const RKLLMInput results = prompt(R"([{"a": 1}, "b"])", "tool");
  CHECK(rendered(results) ==
        "<|im_start|>user\n<tool_response>\n{\"a\":1}\n</tool_response>\n<tool_response>\n\"b\"\n</tool_response>"
        "<|im_end|>\n<|im_start|>assistant\n");
  const std::string tagged =
      rendered(results, [](LLMHandle handle) { rkllm_set_function_tools(handle, "", "[]", "result"); });
  CHECK(contains(tagged, "<result>\n{\"a\":1}\n</result>\n<result>\n\"b\"\n</result>"));
}

TEST_CASE("token ids and embeddings are not wrapped") {
  std::vector<int> three = ids(3);
  CHECK(rendered(tokens(three)).empty());
  std::vector<float> values = rows(3, kEmbedding);
  CHECK(rendered(embeds(values)).empty());
}

TEST_CASE("a multimodal prompt is wrapped, each tag becomes start, content for each row, end") {
  Picture picture(1, 3);
  auto& image = picture.input.multimodal_input.image;
  image.image_start = "(";
  image.image_end = ")";
  image.image_content = "*";
  CHECK(rendered(picture.input) == "<|im_start|>user\nWhat is in (***)?<|im_end|>\n<|im_start|>assistant\n");
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

TEST_CASE("without a template each later turn has a BOS token of its own") {
  const Directory directory;
  Llm plain(directory.model({{"chat_template", "none"}}));
  REQUIRE(plain.run("<|im_end|>", infer(1, 1)) == 0);
  CHECK(plain.kv_size() == 2);
  REQUIRE(plain.run("<|im_end|>", infer(1, 1)) == 0);
  CHECK(plain.kv_size() == 4);
  REQUIRE(plain.run("", infer(1, 1)) == 0);
  CHECK(plain.kv_size() == 5);
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
  // A prompt that has an empty thought at its end says the same.
  REQUIRE(llm.run(prompt("Hello<think>\n\n</think>\n\n")) == 0);
  CHECK_FALSE(llm.text().starts_with("<think>"));
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
  constexpr std::size_t kDeep = 1'000'000;
  CHECK(set((std::string(kDeep, '[') + std::string(kDeep, ']')).c_str()) == -1);

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
