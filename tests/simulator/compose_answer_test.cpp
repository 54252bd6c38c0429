// What a simulated model answers.
#include "simulated.hpp"

using namespace simulated;

TEST_CASE("an answer says that it is simulated, and depends on the prompt") {
  Llm llm;
  REQUIRE(llm.run("Why is the sky blue?") == 0);
  const std::string first = llm.text();
  CHECK(first.find("This is a simulated answer. You wrote: \"Why is the sky blue?\".") == 0);
  REQUIRE(llm.run("Xin chào 你好 🙂") == 0);
  CHECK(llm.text().find("You wrote: \"Xin chào 你好 🙂\".") != std::string::npos);
}

TEST_CASE("of a conversation in ChatML an answer repeats what the user said last, without the marks") {
  Llm llm;
  REQUIRE(
      llm.run("<|im_start|>system\nBe short<|im_end|>\n<|im_start|>user\nfirst<|im_end|>\n"
              "<|im_start|>assistant\nyes<|im_end|>\n<|im_start|>user\nand now?<|im_end|>\n<|im_start|>assistant\n") ==
      0);
  CHECK(llm.text().find("This is a simulated answer. You wrote: \"and now?\".") == 0);
  CHECK(llm.token_count() >= 40);
}

TEST_CASE("an answer has 40 to 120 tokens") {
  Llm llm;
  for (int i = 0; i < 100; ++i) {
    const std::string text = "Question " + std::to_string(i);
    REQUIRE(llm.run(text.c_str()) == 0);
    CHECK(llm.token_count() >= 40);
    CHECK(llm.token_count() <= 120);
  }
}

TEST_CASE("the same question has the same answer, on any handle and with a warm cache") {
  Llm one;
  Llm other;
  REQUIRE(one.run("Hello") == 0);
  const std::string text = one.text();
  REQUIRE(one.run("Hello") == 0);
  CHECK(one.text() == text);
  REQUIRE(other.run("something else") == 0);
  REQUIRE(other.run("Hello") == 0);
  CHECK(other.text() == text);
}

TEST_CASE("at temperature 0 the other sampling values do not matter, above it they do") {
  const auto answer = [](float temperature, float top_p) {
    Llm llm(model("fast"), [=](RKLLMParam& param) {
      param.temperature = temperature;
      param.top_p = top_p;
    });
    REQUIRE(llm.run("Hello") == 0);
    return llm.text();
  };
  CHECK(answer(0, 0.5F) == answer(0, 0.9F));
  CHECK(answer(1, 0.5F) != answer(1, 0.9F));
}

TEST_CASE("a conversation remembers what was said, and forgets it with the cache") {
  Llm llm;
  REQUIRE(llm.run("My name is Linh.", infer(0, 1)) == 0);
  REQUIRE(llm.run("What is my name?", infer(0, 1)) == 0);
  CHECK(llm.text().find("Earlier you said: \"My name is Linh.\"") != std::string::npos);
  REQUIRE(rkllm_clear_kv_cache(llm.handle, 0, nullptr, nullptr) == 0);
  REQUIRE(llm.run("What is my name?", infer(0, 1)) == 0);
  CHECK(llm.text().find("Linh") == std::string::npos);
}

TEST_CASE("text that is not UTF-8 is quoted as valid UTF-8") {
  Llm llm;
  REQUIRE(llm.run("a\xFF\xC0z\xE4\xBD") == 0);
  CHECK(llm.text().find("You wrote: \"a  z  \".") != std::string::npos);
}
