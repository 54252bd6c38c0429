#include "call/value_text.hpp"

#include "support/catch.hpp"

#include <memory>
#include <string>

using namespace rkllm_mcp;

namespace {

constexpr std::size_t kValues = 1'000'000;
constexpr std::size_t kBytes = kValues * sizeof(float);

// The end of a run whose rows count in `streams`.
CallOutcome many_values(const MemoryBudget& streams) {
  CallOutcome outcome;
  outcome.result = Json{{"status", 0}};
  outcome.rows.push_back(
      {"logits", "logits", "num_tokens", "vocab_size", std::vector<float>(kValues, 0.25F), 1, kValues});
  outcome.memory = MemoryShare(streams);
  outcome.memory.set(kBytes);
  return outcome;
}

Json refusal_of(CallOutcome outcome, const ValueWriting& how) {
  try {
    write_rows(outcome, how);
  } catch (const RpcError& error) {
    return Json{{"code", static_cast<int>(error.code())}, {"data", error.data()}};
  }
  return nullptr;
}

}  // namespace

TEST_CASE("values count in the memory as rows, as text, and as an answer, and give it back") {
  const MemoryBudget memory(std::size_t{64} << 20U);
  const MemoryBudget streams(std::size_t{8} << 20U, memory);
  CallOutcome outcome = many_values(streams);
  CHECK(memory.used() == kBytes);
  {
    std::size_t as_text = 0;
    const WrittenAnswer answer = write_answer(outcome, {.memory = memory}, [&] {
      as_text = outcome.memory.bytes();
      CHECK(memory.used() == 2 * as_text);
      CHECK(streams.used() == 0);
      return std::string(5 * kValues, 'x');  // the values, and commas
    });
    CHECK(as_text >= 5 * kValues);
    CHECK(memory.used() == 5 * kValues);
  }
  CHECK(memory.used() == 0);
}

TEST_CASE("values for whose text there is no memory are not written") {
  const MemoryBudget memory(kBytes + kBytes / 2);
  for (const auto encoding : {ArrayEncoding::kJson, ArrayEncoding::kBase64}) {
    CHECK(refusal_of(many_values(memory), {.encoding = encoding, .memory = memory})["code"] == 4004);
    CHECK(memory.used() == 0);
  }
}

TEST_CASE("values are written no further than an answer may be long") {
  const Json numbers = refusal_of(many_values({}), {.most_bytes = 1000});
  CHECK(numbers["code"] == 4006);
  CHECK(numbers["data"]["bytes"].get<std::size_t>() < 1050);
  const Json base64 = refusal_of(many_values({}), {.encoding = ArrayEncoding::kBase64, .most_bytes = 1000});
  CHECK(base64["code"] == 4006);
  CHECK(base64["data"] == Json{{"bytes", (kBytes + 2) / 3 * 4}, {"limit", 1000}});
}
