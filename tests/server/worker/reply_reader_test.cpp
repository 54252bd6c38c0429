// What a worker says while it makes a call: what of it the server takes, and what ends the worker.
#include "worker/reply_reader.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/errors.hpp>

#include <string>
#include <string_view>

using namespace rkllm_mcp;

namespace {

constexpr std::uint32_t kCall = 7;

class Recorder final : public CallObserver {
 public:
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id) noexcept override {
    told += std::to_string(batch) + ":" + std::string(text.value_or("-")) + ":" + std::to_string(id) + " ";
  }
  void on_rows(const FloatRows& rows) noexcept override { told += std::to_string(rows.rows) + " rows "; }
  void on_done(CallOutcome) noexcept override {}
  bool wants_to_stop() const noexcept override { return had_enough; }

  std::string told;
  bool had_enough = false;
};

Frame frame(FrameType type, std::string_view content, std::uint32_t call = kCall) {
  return {{.bytes = static_cast<std::uint32_t>(content.size()), .type = type, .call = call}, content};
}

}  // namespace

TEST_CASE("tokens are given on in their order, and the end says how the run ended") {
  Recorder recorder;
  ReplyReader::Run run{kCall, recorder, 2, [] { return true; }};
  ReplyReader reader(kCall, &run);
  std::string tokens;
  append_token(tokens, {0, "a", 1});
  append_token(tokens, {1, std::nullopt, 2});
  CHECK_FALSE(reader.take(frame(FrameType::kTokens, tokens)));
  const auto end = reader.take(frame(FrameType::kEnd, R"({"result":{"status":0},"state":"RKLLM_RUN_FINISH",
      "values":{"perf":{}},"aborted":true,"loaded":true,"handle_values":{"n_batch":2}})"));
  REQUIRE(end);
  CHECK(recorder.told == "0:a:1 1:-:2 ");
  CHECK(end->outcome.state == "RKLLM_RUN_FINISH");
  CHECK(end->outcome.result == Json{{"status", 0}});
  CHECK(end->outcome.aborted);
  CHECK(end->loaded);
  CHECK(end->handle_values == Model::Values{{"n_batch", 2}});
  CHECK_FALSE(end->outcome.error);
}

TEST_CASE("an error comes back as it was thrown") {
  ReplyReader reader(kCall, nullptr);
  const auto end = reader.take(frame(FrameType::kEnd, R"({"error":{"code":4001,"message":"m","data":{"status":-1}}})"));
  REQUIRE(end);
  REQUIRE(end->outcome.error);
  try {
    std::rethrow_exception(end->outcome.error);
  } catch (const RpcError& error) {
    CHECK(error.code() == ErrorCode::kCallFailed);
    CHECK(error.what() == std::string("m"));
    CHECK(error.data() == Json{{"status", -1}});
  }
}

TEST_CASE("a run is told to stop until it could be told, and once then") {
  Recorder recorder;
  recorder.had_enough = true;
  int stops = 0;
  ReplyReader::Run run{kCall, recorder, 1, [&stops] { return ++stops > 1; }};
  ReplyReader reader(kCall, &run);
  std::string token;
  append_token(token, {0, "a", 1});
  reader.take(frame(FrameType::kTokens, token));
  CHECK(stops == 1);  // which did not leave
  reader.take(frame(FrameType::kTokens, token));
  CHECK(stops == 2);
  reader.take(frame(FrameType::kTokens, token));
  CHECK(stops == 2);
}

TEST_CASE("what does not belong to the call is refused") {
  Recorder recorder;
  ReplyReader::Run run{kCall, recorder, 1, [] { return true; }};
  ReplyReader reader(kCall, &run);
  std::string of_second_entry;
  append_token(of_second_entry, {1, "a", 1});
  CHECK_THROWS_AS(reader.take(frame(FrameType::kTokens, of_second_entry)), BadFrame);
  CHECK_THROWS_AS(reader.take(frame(FrameType::kEnd, "{}", kCall + 1)), BadFrame);
  CHECK_THROWS_AS(reader.take(frame(FrameType::kCall, "{}")), BadFrame);
  CHECK_THROWS_AS(ReplyReader(kCall, nullptr).take(frame(FrameType::kTokens, "")), BadFrame);
}

TEST_CASE("an end in the middle of rows is refused") {
  Recorder recorder;
  ReplyReader::Run run{kCall, recorder, 1, [] { return true; }};
  ReplyReader reader(kCall, &run);
  std::string head;
  append_rows_head(head, {"f", "v", "r", "c", nullptr, 1, 1});
  Frame rows = frame(FrameType::kRows, head);
  rows.head.flags = kBegins;
  reader.take(rows);
  CHECK_THROWS_AS(reader.take(frame(FrameType::kEnd, "{}")), BadFrame);
}

TEST_CASE("an end that cannot be read is refused") {
  const std::string_view text =
      GENERATE("", "nonsense", "[]", R"({"handle_values":{"n_batch":"two"}})", R"({"state":1})",
               R"({"error":{"code":"x"}})", R"({"error":{"data":[1]}})", R"({"a":1,"a":2})");
  ReplyReader reader(kCall, nullptr);
  CHECK_THROWS_AS(reader.take(frame(FrameType::kEnd, text)), BadFrame);
}
