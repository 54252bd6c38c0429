// @n= prompts, and the record of what was generated.
#include "simulated.hpp"

using namespace simulated;

namespace {

std::vector<Json> lines_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<Json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(Json::parse(line));
  return lines;
}

bool is_utf8(const std::string& text) {
  // nlohmann's serialiser refuses anything else.
  try {
    return !Json(text).dump().empty();
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace

TEST_CASE("@n=N generates exactly N tokens, whatever max_new_tokens and EOS say, and ends with a whole character") {
  Llm llm;
  for (int count = 1; count <= 300; ++count) {
    const std::string text = "@n=" + std::to_string(count);
    REQUIRE(llm.run(text.c_str(), infer(5)) == 0);
    REQUIRE(llm.token_count() == static_cast<std::size_t>(count));
    REQUIRE(llm.finished());
    REQUIRE(llm.events[llm.events.size() - 2].state == RKLLM_RUN_NORMAL);
    REQUIRE(llm.events[llm.events.size() - 2].token != kEos);
  }
}

TEST_CASE("@n=20000 runs past the context, and @seed varies its text") {
  Llm llm;
  REQUIRE(llm.run("@n=20000") == 0);
  CHECK(llm.token_count() == 20000);
  CHECK(llm.kv_size() == 512);
  const std::string plain = llm.text();
  CHECK(is_utf8(plain));
  REQUIRE(llm.run("@n=20000 @seed=7") == 0);
  CHECK(llm.token_count() == 20000);
  CHECK(llm.text() != plain);
  REQUIRE(llm.run("@n=20000") == 0);
  CHECK(llm.text() == plain);
}

TEST_CASE("@n works for every entry of a batch and behind the template of set_chat_template") {
  Llm llm;
  REQUIRE(rkllm_set_chat_template(llm.handle, "system", "prefix", "postfix") == 0);
  REQUIRE(llm.run("@n=77") == 0);
  CHECK(llm.token_count() == 77);

  Llm batch(model("fast"), [](RKLLMParam& param) { param.extend_param.n_batch = 2; });
  RKLLMInput inputs[] = {prompt("@n=5"), prompt("@n=9")};
  RKLLMInferParam params{};
  REQUIRE(rkllm_run(batch.handle, inputs, &params, nullptr) == 0);
  std::size_t counts[] = {0, 0};
  for (std::size_t i = 0; i + 2 < batch.events.size(); ++i) counts[i % 2] += batch.events[i].token != -1;
  CHECK(counts[0] == 5);
  CHECK(counts[1] == 9);
}

TEST_CASE("a word that is no directive makes an ordinary prompt") {
  Llm llm;
  REQUIRE(llm.run("@nobody=5") == 0);
  CHECK(llm.text().find("You wrote: \"@nobody=5\"") != std::string::npos);
  REQUIRE(llm.run("@n=0") == 0);
  CHECK(llm.token_count() >= 40);
  REQUIRE(llm.run("say @n=3") == 0);
  CHECK(llm.token_count() >= 40);
}

TEST_CASE("the record holds the exact bytes that were delivered, before the last callback is made") {
  const Directory directory;
  const Environment record("RKLLM_SIM_RECORD", directory.file("record"));
  Llm llm;
  std::string at_finish;
  llm.answer = [&](std::size_t) {
    if (llm.finished()) at_finish = read(directory.file("record/1-1.txt"));
    return 0;
  };
  REQUIRE(llm.run("@n=20000") == 0);
  CHECK(at_finish == llm.text());

  llm.answer = [&](std::size_t call) {
    if (call == 3) rkllm_abort(llm.handle);
    return 0;
  };
  REQUIRE(llm.run("Hello") == 0);
  CHECK(read(directory.file("record/1-2.txt")) == llm.text());

  const std::vector<Json> lines = lines_of(directory.file("record/runs.jsonl"));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["handle"] == 1);
  CHECK(lines[0]["run"] == 1);
  CHECK(lines[0]["prompt"] == "@n=20000");
  CHECK(lines[0]["tokens"] == 20000);
  CHECK(lines[0]["text_bytes"] == at_finish.size());
  CHECK(lines[0]["aborted"] == false);
  CHECK(lines[0]["status"] == 0);
  CHECK(lines[0]["ending"] == "finish");
  CHECK(lines[1]["aborted"] == true);
  CHECK(lines[1]["tokens"] == 3);
}

TEST_CASE("a second handle has a number of its own") {
  const Directory directory;
  const Environment record("RKLLM_SIM_RECORD", directory.file("record"));
  Llm first;
  Llm second;
  REQUIRE(second.run("Hello") == 0);
  REQUIRE(first.run("Good bye") == 0);
  CHECK(read(directory.file("record/2-1.txt")) == second.text());
  CHECK(read(directory.file("record/1-1.txt")) == first.text());
}

TEST_CASE("paused and failed runs are recorded too") {
  const Directory directory;
  const Environment record("RKLLM_SIM_RECORD", directory.file("record"));
  Llm llm(directory.model({{"faults", {{{"when", 8}, {"what", "fail"}}}}}));
  CHECK(llm.run("Hello") == -1);
  llm.answer = [](std::size_t call) { return call == 2 ? 1 : 0; };
  CHECK(llm.run("Hello") == 0);
  const std::vector<Json> lines = lines_of(directory.file("record/runs.jsonl"));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["ending"] == "failure");
  CHECK(lines[0]["status"] == -1);
  CHECK(lines[0]["tokens"] == 7);
  CHECK(lines[1]["ending"] == "pause");
}

TEST_CASE("@say is answered word for word, a list of texts one after the other, runs of one token not counting") {
  Llm llm;
  REQUIRE(llm.run(R"(@say="\u003cthink\u003eHm\u003c/think\u003e\n\nYes")") == 0);
  CHECK(llm.text() == "<think>Hm</think>\n\nYes");
  const char* const list = R"(@say=["wrong","right"])";
  REQUIRE(llm.run(list, infer(1)) == 0);
  REQUIRE(llm.run(list, infer(100)) == 0);
  CHECK(llm.text() == "wrong");
  REQUIRE(llm.run(list, infer(100)) == 0);
  CHECK(llm.text() == "right");
  REQUIRE(llm.run(list, infer(100)) == 0);
  CHECK(llm.text() == "right");
  REQUIRE(llm.run(R"(@bytes @say="<tool_call>é")") == 0);
  CHECK(llm.text() == "<tool_call>é");
  CHECK(llm.token_count() == 14);  // 13 bytes, and EOS
}

TEST_CASE("directives count in a line within a prompt, the last of them, and @n keeps to max_new_tokens there") {
  Llm llm;
  REQUIRE(llm.run("<|im_start|>user\n@say=\"one\"<|im_end|>\n<|im_start|>user\n@say=\"two\"<|im_end|>\n") == 0);
  CHECK(llm.text() == "two");
  REQUIRE(llm.run("user:\n@n=30<|im_end|>", infer(100)) == 0);
  CHECK(llm.token_count() == 30);
  REQUIRE(llm.run("user:\n@n=30<|im_end|>", infer(5)) == 0);
  CHECK(llm.token_count() == 5);
}

TEST_CASE("the record tells how much of a prompt was computed, and how much was there") {
  const Directory directory;
  const Environment record("RKLLM_SIM_RECORD", directory.file("record"));
  Llm llm;
  REQUIRE(llm.run("Hello") == 0);
  REQUIRE(llm.run("Hello") == 0);
  const std::vector<Json> lines = lines_of(directory.file("record/runs.jsonl"));
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["reused"] == 0);
  CHECK(lines[1]["prefilled"] == 1);  // the last token is always computed
  CHECK(lines[1]["reused"] == lines[0]["prefilled"].get<int>() - 1);
}
