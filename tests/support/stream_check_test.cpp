#include "support/stream_check.hpp"

#include "support/catch.hpp"
#include "support/rpc_client.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

using namespace rkllm_mcp;
using test::StreamCheck;

namespace {

constexpr auto* kMethod = "rkllm_run";

Json chunk_message(const Json& chunk, Json beside = Json::object()) {
  beside["chunk"] = chunk;
  return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", kMethod}, {"result", beside}};
}
Json piece(std::uint64_t seq, const std::string& delta) { return chunk_message({{"seq", seq}, {"delta", delta}}); }
Json end_at(std::uint64_t seq) {
  return chunk_message({{"seq", seq}, {"delta", ""}, {"end", true}}, {{"state", "RKLLM_RUN_FINISH"}});
}

// Hands out what it was given, and may have lost something.
class Lossy final : public client::Connection {
 public:
  explicit Lossy(std::deque<Json> messages) : messages_(std::move(messages)) {}
  void send(std::string_view /*message*/) override {}
  std::optional<std::string> receive(Clock::time_point /*deadline*/) override {
    if (messages_.empty()) return std::nullopt;
    const std::string message = messages_.front().dump();
    messages_.pop_front();
    return message;
  }
  bool reliable() const override { return false; }

 private:
  std::deque<Json> messages_;
};

}  // namespace

TEST_CASE("chunks that come again after the end of their stream are not what comes next") {
  const Json gone{{"jsonrpc", "2.0"}, {"id", 1}, {"error", {{"code", 4003}, {"message", "chunks are gone"}}}};
  const Json next{{"jsonrpc", "2.0"}, {"id", 8}, {"result", Json::object()}};
  test::RpcClient client(std::make_unique<Lossy>(
      std::deque<Json>{piece(0, "a"), end_at(1), piece(0, "a"), end_at(1), gone, next, piece(0, "b"), end_at(1)}));
  CHECK(client.stream(1, kMethod).text() == "a");
  CHECK(client.receive() == next);
  CHECK(client.stream(1, kMethod).text() == "b");
  CHECK(client.receive() == std::nullopt);
}

TEST_CASE("a stream is taken whole, and its ending is what came beside the last chunk") {
  StreamCheck stream(1, kMethod);
  CHECK(stream.take(piece(0, "a")));
  CHECK(stream.take(piece(1, "b")));
  CHECK(stream.take(end_at(2)));
  CHECK(stream.ended());
  CHECK(stream.text() == "ab");
  CHECK(stream.chunks() == 3);
  CHECK(stream.ending() == Json{{"state", "RKLLM_RUN_FINISH"}});
}

TEST_CASE("a poll that brings nothing new uses no seq up") {
  StreamCheck stream(1, kMethod);
  stream.take(piece(0, "a"));
  CHECK(stream.take(piece(1, "")));
  CHECK(stream.take(piece(1, "")));
  CHECK(stream.chunks() == 1);
  stream.take(piece(1, "b"));
  CHECK(stream.take(piece(2, "")));
  stream.take(end_at(2));
  CHECK(stream.text() == "ab");
  CHECK(stream.ended());
}

TEST_CASE("a gap, a chunk that comes twice and one behind the end are noticed, also where they are empty") {
  StreamCheck stream(1, kMethod);
  CHECK_THROWS_AS(stream.take(piece(1, "b")), std::runtime_error);
  CHECK_THROWS_AS(stream.take(piece(1, "")), std::runtime_error);
  stream.take(piece(0, "a"));
  CHECK_THROWS_AS(stream.take(piece(0, "a")), std::runtime_error);
  CHECK_THROWS_AS(stream.take(piece(0, "")), std::runtime_error);
  stream.take(end_at(1));
  CHECK_THROWS_AS(stream.take(piece(2, "")), std::runtime_error);
}

TEST_CASE("on a connection that loses messages chunks are put in order, and the one that is missing is told") {
  StreamCheck stream(1, kMethod, StreamCheck::Delivery::kLossy);
  stream.take(end_at(2));
  stream.take(piece(1, "b"));
  CHECK(stream.missing() == 0);
  CHECK(stream.has_gap());
  CHECK_FALSE(stream.ended());
  stream.take(piece(0, "a"));
  CHECK(stream.ended());
  CHECK(stream.text() == "ab");
  stream.take(piece(1, "b"));
  CHECK(stream.text() == "ab");
}

TEST_CASE("messages of other requests are none of the stream's") {
  StreamCheck stream(2, kMethod);
  CHECK_FALSE(stream.take(piece(0, "a")));
  CHECK_FALSE(stream.take(Json::array()));
  CHECK(stream.chunks() == 0);
}
