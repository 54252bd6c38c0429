// Section "modes" of the runtime's contract: hidden states and logits.
#include "simulated.hpp"

#include <algorithm>
#include <cmath>

using namespace simulated;

namespace {

constexpr int kVocabulary = 8192;  // of fast.json

std::vector<float> last_row(Llm& llm, const char* text) {
  REQUIRE(rkllm_clear_kv_cache(llm.handle, 0, nullptr, nullptr) == 0);
  REQUIRE(llm.run(text, infer(0, 0, RKLLM_INFER_GET_LAST_HIDDEN_LAYER)) == 0);
  const std::vector<float>& all = llm.events[0].hidden;
  return {all.end() - static_cast<std::ptrdiff_t>(kEmbedding), all.end()};
}

double cosine(const std::vector<float>& left, const std::vector<float>& right) {
  double dot = 0, left_square = 0, right_square = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    dot += static_cast<double>(left[i]) * static_cast<double>(right[i]);
    left_square += static_cast<double>(left[i]) * static_cast<double>(left[i]);
    right_square += static_cast<double>(right[i]) * static_cast<double>(right[i]);
  }
  return dot / std::sqrt(left_square * right_square);
}

}  // namespace

TEST_CASE("the last hidden layer comes in one NORMAL with NULL text, then FINISH") {
  Llm llm;
  const int wish = GENERATE(0, 1, 2);  // neither a pause nor a release changes anything
  llm.answer = [wish](std::size_t) { return wish; };
  std::vector<int> seven = ids(7);
  REQUIRE(llm.run(tokens(seven), infer(50, 0, RKLLM_INFER_GET_LAST_HIDDEN_LAYER)) == 0);
  REQUIRE(llm.events.size() == 2);
  CHECK(llm.events[0].state == RKLLM_RUN_NORMAL);
  CHECK_FALSE(llm.events[0].text);
  CHECK(llm.events[0].token == 0);
  CHECK(llm.events[0].hidden_rows == 7);
  CHECK(llm.events[0].hidden.size() == 7 * kEmbedding);
  CHECK(llm.finished());
  CHECK(llm.kv_size() == 7);

  // Tokens found in the cache have no row.
  REQUIRE(llm.run(tokens(seven), infer(50, 0, RKLLM_INFER_GET_LAST_HIDDEN_LAYER)) == 0);
  CHECK(llm.events[0].hidden_rows == 1);
}

TEST_CASE("hidden states are the same every time, whether from the cache or not") {
  Llm llm;
  const auto first = last_row(llm, "the harbour in the rain");
  CHECK(last_row(llm, "the harbour in the rain") == first);
  REQUIRE(llm.run("the harbour in the rain", infer(0, 0, RKLLM_INFER_GET_LAST_HIDDEN_LAYER)) == 0);
  CHECK(llm.events[0].hidden == first);
}

TEST_CASE("similar texts have closer hidden states than different ones") {
  Llm llm;
  const auto harbour = last_row(llm, "boats stayed in the harbour all morning");
  const auto similar = last_row(llm, "boats stayed in the harbour all day");
  const auto different = last_row(llm, "请把结果写在纸上，并注明日期。");
  CHECK(cosine(harbour, similar) > cosine(harbour, different) + 0.1);
}

TEST_CASE("logits come with every token: first a row for each computed prompt token, then one") {
  Llm llm;
  std::vector<int> seven = ids(7);
  llm.answer = [](std::size_t call) { return call == 2 ? 2 : 0; };  // a release in between
  REQUIRE(llm.run(tokens(seven), infer(3, 0, RKLLM_INFER_GET_LOGITS)) == 0);
  REQUIRE(llm.token_count() == 3);
  CHECK(llm.events[0].logit_rows == 7);
  CHECK(llm.events[1].logit_rows == 1);
  CHECK(llm.events[2].logits.size() == kVocabulary);
  CHECK(llm.events[0].text);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& logits = llm.events[i].logits;
    const auto best = std::max_element(logits.end() - kVocabulary, logits.end()) - (logits.end() - kVocabulary);
    CHECK(best == llm.events[i].token);
  }
}

TEST_CASE("each row of prompt logits is highest for the next token of the prompt") {
  Llm llm;
  std::vector<int> five = {400, 401, 402, 403, 404};
  REQUIRE(llm.run(tokens(five), infer(1, 0, RKLLM_INFER_GET_LOGITS)) == 0);
  for (int row = 0; row < 4; ++row) {
    const auto begin = llm.events[0].logits.begin() + row * kVocabulary;
    CHECK(std::max_element(begin, begin + kVocabulary) - begin == 401 + row);
  }
}

TEST_CASE("rows stay allocated until a callback returns 2") {
  const auto resident_mb = [] {
    std::size_t all = 0;
    std::size_t resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1048576;
  };
  const Directory directory;
  const std::string path = directory.model({{"vocab_size", 1 << 19}});
  // 100 rows of 2 MB with the first token, one with the second.
  static double during = 0;
  static double after = 0;
  static int wish = 0;
  static double (*resident)() = resident_mb;
  wish = GENERATE(0, 2);
  RKLLMParam param = param_for(path);
  RKLLMCallback callback{};
  callback.result_callback = [](RKLLMResult* result, void*, LLMCallState state) {
    if (state != RKLLM_RUN_NORMAL) return 0;
    (result->logits.num_tokens == 100 ? during : after) = resident();
    return wish;
  };
  LLMHandle handle = nullptr;
  REQUIRE(rkllm_init(&handle, &param, &callback) == 0);
  std::vector<int> hundred = ids(100);
  RKLLMInput input = tokens(hundred);
  RKLLMInferParam params = infer(2, 0, RKLLM_INFER_GET_LOGITS);
  CHECK(rkllm_run(handle, &input, &params, nullptr) == 0);
  rkllm_destroy(handle);
  CHECK((during - after > 150) == (wish == 2));
}

TEST_CASE("embeddings that differ are computed anew in RKLLM_INFER_GET_LOGITS") {
  Llm llm;
  std::vector<float> values = rows(5, kEmbedding);
  REQUIRE(llm.run(embeds(values), infer(1, 0, RKLLM_INFER_GET_LOGITS)) == 0);
  values = rows(5, kEmbedding, 1000);
  REQUIRE(llm.run(embeds(values), infer(1, 0, RKLLM_INFER_GET_LOGITS)) == 0);
  CHECK(llm.events[0].logit_rows == 5);
}

TEST_CASE("plain generation has neither hidden states nor logits") {
  Llm llm;
  REQUIRE(llm.run("Hello", infer(2)) == 0);
  CHECK(llm.events[0].hidden.empty());
  CHECK(llm.events[0].logits.empty());
}
