#include "call/chunk_writer.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

CallOutcome ended_run() {
  CallOutcome outcome;
  outcome.state = "FINISH";
  outcome.result = Json{{"status", 0}};
  return outcome;
}

const Json& chunk_in(const Json& message) {
  return message.contains("result") ? message.at("result").at("chunk") : message.at("params");
}

}  // namespace

TEST_CASE("a chunk is one line of JSON and has its text unchanged, whatever that is") {
  const std::vector<std::string> texts{"",
                                       "\"}}} {\"jsonrpc\":\"2.0\"",
                                       "\\ \\u0041 \\\\",
                                       "\n\r\n\t\b\f",
                                       std::string("\0\x01\x1F\x7F", 4),
                                       "\xE2\x80\xA8\xE2\x80\xA9",
                                       "\xF0\x9F\x98\x80",
                                       "</script>"};
  auto replies = ChunkWriter::replies("1", "run");
  auto notifications = ChunkWriter::notifications("run", "s");
  for (const std::string& text : texts) {
    for (ChunkWriter* const writer : {&replies, &notifications}) {
      for (const std::string& message : {writer->chunk({0, text, {}}), writer->end({0, text, {}}, ended_run())}) {
        CHECK(message.find('\n') == std::string::npos);
        CHECK(chunk_in(Json::parse(message))["delta"] == text);
      }
    }
  }
}

TEST_CASE("names and ids of streams are escaped") {
  const std::string odd = "a\"b\\\n";
  CHECK(Json::parse(ChunkWriter::replies("1", odd).nothing_new())["method"] == odd);
  const Json told = Json::parse(ChunkWriter::notifications(odd, odd).nothing_new());
  CHECK(told["method"] == odd);
  CHECK(told["params"]["stream_id"] == odd);
}

TEST_CASE("chunks are counted from 0, the end included, and what says nothing new does not count") {
  for (auto writer : {ChunkWriter::replies("1", "run"), ChunkWriter::notifications("run", "s")}) {
    const auto seq = [](const std::string& message) { return chunk_in(Json::parse(message))["seq"]; };
    CHECK(writer.next_seq() == 0);
    CHECK(seq(writer.nothing_new()) == 0);
    CHECK(seq(writer.chunk({0, "a", {}})) == 0);
    writer.queue_position(3);
    CHECK(seq(writer.nothing_new()) == 1);
    CHECK(seq(writer.nothing_new()) == 1);
    CHECK(seq(writer.chunk({})) == 1);
    CHECK(seq(writer.end({}, ended_run())) == 2);
    CHECK(writer.next_seq() == 3);
  }
}

TEST_CASE("every reply has the id as its request has written it, and a poll's after another's goes on counting") {
  auto writer = ChunkWriter::replies("0", "run");
  std::uint64_t seq = 0;
  for (const std::string id : {"12345678901234567890123", "-0", "1e2", R"("\u00e9\"")", "null"}) {
    writer.answer_as(id);
    const std::string beginning = R"({"jsonrpc":"2.0","id":)" + id + ",";
    const std::string chunk = writer.chunk({0, "a", {}});
    CHECK(chunk ==
          beginning + R"("method":"run","result":{"chunk":{"seq":)" + std::to_string(seq++) + R"(,"delta":"a"}}})");
    CHECK(writer.nothing_new().starts_with(beginning));
    CHECK(writer.queue_position(1).starts_with(beginning));
    CHECK(writer.failure(RpcError(ErrorCode::kInternalError, "x")).starts_with(beginning));
    CHECK(ChunkWriter(writer).end({}, ended_run()).starts_with(beginning));
  }
}

TEST_CASE("a chunk names its entry of a batch, but for the first, and its tokens if they are kept") {
  auto writer = ChunkWriter::replies("1", "run");
  const auto members = [&](const Chunk& chunk) {
    Json all = chunk_in(Json::parse(writer.chunk(chunk)));
    all.erase("seq");
    return all;
  };
  CHECK(members({0, "a", {}}) == Json{{"delta", "a"}});
  CHECK(members({2, "a", {}}) == Json{{"batch", 2}, {"delta", "a"}});
  CHECK(members({0, "a", {-1}}) == Json{{"delta", "a"}, {"token_id", -1}});
  CHECK(members({1, "", {0}}) == Json{{"batch", 1}, {"delta", ""}, {"token_id", 0}});
  CHECK(members({0, "ab", {7, -8}}) == Json{{"delta", "ab"}, {"token_ids", {7, -8}}});
}

TEST_CASE("the end of a stream of replies stands beside the chunk, that of notifications beside the text") {
  auto outcome = ended_run();
  outcome.values = Json{{"perf", {{"tokens", 2}}}};
  outcome.aborted = true;
  const std::string ending = R"("state":"FINISH","status":0,"perf":{"tokens":2},"aborted":true)";
  CHECK(ChunkWriter::replies("1", "run").end({0, "a", {}}, outcome) ==
        R"({"jsonrpc":"2.0","id":1,"method":"run","result":{"chunk":{"seq":0,"delta":"a","end":true},)" + ending +
            "}}");
  CHECK(ChunkWriter::notifications("run", "s").end({0, "a", {}}, outcome) ==
        R"({"jsonrpc":"2.0","method":"run","params":{"stream_id":"s","seq":0,"delta":"a","end":true,)" + ending + "}}");
}

TEST_CASE("an outcome that says nothing makes an end without further members") {
  CHECK(ending_of({}) == Json::object());
  CHECK(Json::parse(ChunkWriter::replies("1", "run").end({}, {}))["result"] ==
        Json{{"chunk", {{"seq", 0}, {"delta", ""}, {"end", true}}}});
  CHECK(chunk_in(Json::parse(ChunkWriter::notifications("run", "s").end({}, {}))) ==
        Json{{"stream_id", "s"}, {"seq", 0}, {"delta", ""}, {"end", true}});
}

TEST_CASE("an error ends replies as the request's error, and notifications as their last one") {
  const RpcError error(ErrorCode::kTooLarge, "too \"large\"", Json{{"bytes", 3}, {"limit", 2}});
  const Json body{{"code", 4006}, {"message", "too \"large\""}, {"data", {{"bytes", 3}, {"limit", 2}}}};
  CHECK(Json::parse(ChunkWriter::replies("1", "run").failure(error)) ==
        Json{{"jsonrpc", "2.0"}, {"id", 1}, {"error", body}});
  auto notifications = ChunkWriter::notifications("run", "s");
  notifications.chunk({});
  CHECK(Json::parse(notifications.failure(error)) ==
        Json{{"jsonrpc", "2.0"},
             {"method", "run"},
             {"params", {{"stream_id", "s"}, {"seq", 1}, {"delta", ""}, {"end", true}, {"error", body}}}});
}

TEST_CASE("a place in the queue is told without a chunk") {
  CHECK(Json::parse(ChunkWriter::replies("1", "run").queue_position(0)) ==
        Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", "run"}, {"result", {{"queue_position", 0}}}});
  CHECK(Json::parse(ChunkWriter::notifications("run", "s").queue_position(2)) ==
        Json{{"jsonrpc", "2.0"}, {"method", "run"}, {"params", {{"stream_id", "s"}, {"queue_position", 2}}}});
}

TEST_CASE("a chunk is no longer than its escaped text and what the writer says comes to it") {
  constexpr auto kBatch = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  for (auto writer : {ChunkWriter::replies("\"a long id\"", "run"), ChunkWriter::notifications("run", "s")}) {
    const Chunk longest{kBatch, "\n\x01\"", {std::numeric_limits<std::int32_t>::min()}};
    CHECK(writer.chunk(longest).size() <= Json(longest.delta).dump().size() - 2 + writer.overhead_bytes());
  }
}
