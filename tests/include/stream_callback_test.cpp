#include "recording_sink.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/v1_3_0/methods.hpp>

using namespace rkllm_mcp;
using namespace rkllm_mcp::v1_3_0;
using rkllm_mcp::test::RecordingSink;

namespace {

using Events = std::vector<std::string>;

RKLLMResult token(const char* text, int id) {
  RKLLMResult result{};
  result.text = text;
  result.token_id = id;
  return result;
}

}  // namespace

TEST_CASE("a token arrives with its text, and without one where the runtime gave NULL") {
  RecordingSink sink;
  RKLLMResult hello = token("Hello", 7);
  RKLLMResult unfinished = token(nullptr, 8);
  CHECK(any_version::deliver_LLMResultCallback<Abi>(&hello, static_cast<ResultSink*>(&sink), RKLLM_RUN_NORMAL) == 0);
  sink.answer = CallbackReturn::kGoOnAndFreeRows;
  CHECK(any_version::deliver_LLMResultCallback<Abi>(&unfinished, static_cast<ResultSink*>(&sink), RKLLM_RUN_WAITING) ==
        2);
  CHECK(sink.events == Events{"token 0 'Hello' 7", "token 0 - 8"});
}

TEST_CASE("every entry of a batch is delivered") {
  RecordingSink sink;
  sink.batch = 2;
  RKLLMResult results[] = {token("a", 1), token(nullptr, -1)};
  any_version::deliver_LLMResultCallback<Abi>(results, static_cast<ResultSink*>(&sink), RKLLM_RUN_NORMAL);
  CHECK(sink.events == Events{"token 0 'a' 1", "token 1 - -1"});
}

TEST_CASE("the end brings the performance, a failure brings nothing") {
  RecordingSink sink;
  RKLLMResult result{};
  result.perf = {1.5F, 2, 3.5F, 4, 0.9F};
  any_version::deliver_LLMResultCallback<Abi>(&result, static_cast<ResultSink*>(&sink), RKLLM_RUN_FINISH);
  any_version::deliver_LLMResultCallback<Abi>(nullptr, static_cast<ResultSink*>(&sink), RKLLM_RUN_ERROR);
  CHECK(sink.events ==
        Events{R"(end RKLLM_RUN_FINISH {"perf":{"prefill_time_ms":1.5,"prefill_tokens":2,"generate_time_ms":3.5,)"
               R"("generate_tokens":4,"memory_usage_mb":0.9}})",
               "end RKLLM_RUN_ERROR null"});
}

TEST_CASE("hidden states come instead of a token, logits beside it") {
  RecordingSink sink;
  const float values[6] = {};
  RKLLMResult hidden{};
  hidden.last_hidden_layer = {values, 3, 2};
  RKLLMResult logits = token("x", 5);
  logits.logits = {values, 6, 1};
  any_version::deliver_LLMResultCallback<Abi>(&hidden, static_cast<ResultSink*>(&sink), RKLLM_RUN_NORMAL);
  any_version::deliver_LLMResultCallback<Abi>(&logits, static_cast<ResultSink*>(&sink), RKLLM_RUN_NORMAL);
  CHECK(sink.events == Events{"rows last_hidden_layer.hidden_states num_tokens=2 embd_size=3",
                              "rows logits.logits num_tokens=1 vocab_size=6", "token 0 'x' 5"});
}

TEST_CASE("a callback without a receiver, a result or a known state is survived") {
  RecordingSink sink;
  RKLLMResult result{};
  CHECK(any_version::deliver_LLMResultCallback<Abi>(&result, nullptr, RKLLM_RUN_NORMAL) == 0);
  any_version::deliver_LLMResultCallback<Abi>(nullptr, static_cast<ResultSink*>(&sink), RKLLM_RUN_NORMAL);
  any_version::deliver_LLMResultCallback<Abi>(&result, static_cast<ResultSink*>(&sink), static_cast<LLMCallState>(9));
  CHECK(sink.events.empty());
  any_version::deliver_LLMResultCallback<Abi>(nullptr, static_cast<ResultSink*>(&sink), RKLLM_RUN_FINISH);
  CHECK(sink.events == Events{"end RKLLM_RUN_FINISH null"});
}
