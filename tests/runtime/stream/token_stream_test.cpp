#include "stream/token_stream.hpp"

#include "call/value_text.hpp"
#include "jsonrpc/envelope.hpp"

#include "support/catch.hpp"
#include "support/usual_limits.hpp"

#include <chrono>
#include <limits>
#include <string>
#include <thread>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();

CallOutcome finished() {
  CallOutcome outcome;
  outcome.result = Json{{"status", 0}};
  outcome.state = "DONE";
  return outcome;
}

std::vector<std::string> take_each(TokenStream& stream) {
  std::vector<std::string> deltas;
  while (const auto chunk = stream.take(ChunkOf::kOneToken, kUnlimited)) deltas.push_back(chunk->delta);
  return deltas;
}

}  // namespace

TEST_CASE("tokens come out one by one, or joined when asked") {
  TokenStream stream(usual_limits<TokenStream::Options>(), [] {});
  for (const char* const token : {"a", "b", "c"}) stream.on_token(0, token, 1);
  CHECK(stream.take(ChunkOf::kOneToken, kUnlimited)->delta == "a");
  CHECK(stream.take(ChunkOf::kAllThatWaits, kUnlimited)->delta == "bc");
  CHECK_FALSE(stream.take(ChunkOf::kAllThatWaits, kUnlimited));
}

TEST_CASE("a token that ends inside a character waits for the rest") {
  TokenStream stream(usual_limits<TokenStream::Options>(), [] {});
  stream.on_token(0, "x\xF0\x9F", 1);
  stream.on_token(0, "\x98", 2);
  stream.on_token(0, "\x80y", 3);
  CHECK(take_each(stream) == std::vector<std::string>{"x", "\xF0\x9F\x98\x80y"});  // no chunk says nothing
}

TEST_CASE("bytes that can be no character become U+FFFD, at the end also those never completed") {
  TokenStream stream(usual_limits<TokenStream::Options>(), [] {});
  stream.on_token(0,
                  "a\xFF"
                  "b",
                  1);
  stream.on_token(0, "\xE4\xBD", 2);
  stream.on_done(finished());
  std::string all;
  for (const auto& delta : take_each(stream)) all += delta;
  CHECK(all ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD");
  CHECK(stream.drained());
}

TEST_CASE("a chunk never exceeds the room it is given, and nothing is lost") {
  TokenStream stream(usual_limits<TokenStream::Options>(), [] {});
  std::string sent;
  for (int at = 0; at < 100; ++at) {
    const std::string token = at % 3 == 0 ? "\n" : (at % 3 == 1 ? "\xE4\xBD\xA0" : "word ");
    sent += token;
    stream.on_token(0, token, at);
  }
  std::string received;
  while (const auto chunk = stream.take(ChunkOf::kAllThatWaits, 7)) {
    CHECK(Json(chunk->delta).dump().size() <= 7 + 2);
    received += chunk->delta;
  }
  CHECK(received == sent);
}

TEST_CASE("kept tokens carry their ids and are never joined") {
  auto options = usual_limits<TokenStream::Options>();
  options.keep_tokens = true;
  TokenStream stream(options, [] {});
  stream.on_token(0, "a", 11);
  stream.on_token(0, std::nullopt, 12);
  stream.on_token(0, "b", 13);
  std::vector<std::int32_t> ids;
  while (const auto chunk = stream.take(ChunkOf::kAllThatWaits, kUnlimited))
    ids.insert(ids.end(), chunk->token_ids.begin(), chunk->token_ids.end());
  CHECK(ids == std::vector<std::int32_t>{11, 12, 13});
}

TEST_CASE("the entries of a batch are kept apart") {
  TokenStream stream(usual_limits<TokenStream::Options>(), [] {});
  stream.on_token(0, "a", 1);
  stream.on_token(1, "x", 1);
  stream.on_token(0, "b", 1);
  stream.on_token(1, "y", 1);
  std::vector<std::string> texts(2);
  while (const auto chunk = stream.take(ChunkOf::kAllThatWaits, kUnlimited)) texts[chunk->batch] += chunk->delta;
  CHECK(texts == std::vector<std::string>{"ab", "xy"});
}

TEST_CASE("all that waits for one entry of a batch is taken with the ids of its tokens") {
  auto options = usual_limits<TokenStream::Options>();
  options.keep_tokens = true;
  TokenStream stream(options, [] {});
  stream.on_token(0, "a", 1);
  stream.on_token(1, "x", 2);
  stream.on_token(0, "b", 3);
  const auto first = stream.take_entry();
  const auto second = stream.take_entry();
  REQUIRE(first.has_value());
  REQUIRE(second.has_value());
  CHECK(first->batch == 0);
  CHECK(first->delta == "ab");
  CHECK(first->token_ids == std::vector<std::int32_t>{1, 3});
  CHECK(second->batch == 1);
  CHECK(second->delta == "x");
  CHECK(second->token_ids == std::vector<std::int32_t>{2});
  CHECK_FALSE(stream.take_entry().has_value());
}

TEST_CASE("one wake-up serves many tokens") {
  int woken = 0;
  TokenStream stream(usual_limits<TokenStream::Options>(), [&] { ++woken; });
  for (int at = 0; at < 10; ++at) stream.on_token(0, "t", at);
  CHECK(woken == 1);
  stream.rearm();
  stream.on_token(0, "t", 1);
  CHECK(woken == 2);
}

TEST_CASE("a full buffer stops a polled run and ends it with error 4006 after its text") {
  auto options = usual_limits<TokenStream::Options>();
  options.buffer_bytes = 100;
  options.when_full = TokenStream::WhenFull::kStop;
  TokenStream stream(options, [] {});
  for (int at = 0; at < 100; ++at) stream.on_token(0, "0123456789", at);
  CHECK(stream.wants_to_stop());
  stream.on_done(finished());
  CHECK_FALSE(stream.drained());
  CHECK_FALSE(take_each(stream).empty());
  REQUIRE(stream.drained());
  const CallOutcome outcome = stream.take_outcome();
  REQUIRE(outcome.error);
  try {
    std::rethrow_exception(outcome.error);
  } catch (const RpcError& error) {
    CHECK(error.code() == ErrorCode::kTooLarge);
    CHECK(error.data()["limit"] == 100);
  }
}

TEST_CASE("a full buffer makes a pushed run wait until the reader has taken something") {
  auto options = usual_limits<TokenStream::Options>();
  options.buffer_bytes = 100;
  TokenStream stream(options, [] {});
  std::thread producer([&] {
    for (int at = 0; at < 1000; ++at) stream.on_token(0, "0123456789", at);
    stream.on_done(finished());
  });
  std::string received;
  while (!stream.drained()) {
    while (const auto chunk = stream.take(ChunkOf::kAllThatWaits, kUnlimited)) received += chunk->delta;
    std::this_thread::yield();
  }
  producer.join();
  CHECK(received.size() == 10'000);
  CHECK_FALSE(stream.take_outcome().error);
}

TEST_CASE("who must not wait is refused while the buffer is full, and told once there may be room") {
  auto options = usual_limits<TokenStream::Options>();
  options.buffer_bytes = 45;  // room for two of these
  TokenStream stream(options, [] {});
  int told = 0;
  const auto offer = [&](int id) { return stream.offer_token(0, "0123456789", id, [&told] { ++told; }); };
  CHECK(offer(1));
  CHECK(offer(2));
  CHECK_FALSE(offer(3));
  CHECK_FALSE(offer(3));
  CHECK(stream.tokens_so_far() == 2);
  CHECK(told == 0);
  stream.take(ChunkOf::kOneToken, kUnlimited);
  CHECK(told == 1);
  CHECK(offer(3));
  stream.take(ChunkOf::kOneToken, kUnlimited);
  CHECK(told == 1);
  CHECK(offer(4));
  CHECK_FALSE(offer(5));
  stream.stop();
  CHECK(told == 2);
  CHECK(offer(5));  // the token that a run is stopped at
  CHECK(stream.tokens_so_far() == 5);
  CHECK(stream.take(ChunkOf::kAllThatWaits, kUnlimited)->delta.size() == 30);
}

TEST_CASE("who is refused for as long as a stall is borne has the run ended with error 4006") {
  auto options = usual_limits<TokenStream::Options>();
  options.buffer_bytes = 15;
  options.stall = std::chrono::milliseconds(1);
  TokenStream stream(options, [] {});
  CHECK(stream.offer_token(0, "0123456789", 1, {}));
  while (!stream.offer_token(0, "0123456789", 2, {})) std::this_thread::yield();
  CHECK(stream.wants_to_stop());
  CHECK(stream.take(ChunkOf::kAllThatWaits, kUnlimited)->delta.size() == 10);
  stream.on_done(finished());
  const CallOutcome outcome = stream.take_outcome();
  REQUIRE(outcome.error);
  CHECK(as_rpc_error(outcome.error).code() == ErrorCode::kTooLarge);
}

TEST_CASE("stop() lets a waiting callback go at once") {
  auto options = usual_limits<TokenStream::Options>();
  options.buffer_bytes = 30;
  TokenStream stream(options, [] {});
  std::thread producer([&] {
    for (int at = 0; at < 10; ++at) stream.on_token(0, "0123456789", at);
  });
  stream.stop();
  producer.join();
  CHECK(stream.wants_to_stop());
}

TEST_CASE("the token that a run is stopped at is not lost, but a run that goes on all the same fills no memory") {
  auto options = usual_limits<TokenStream::Options>();
  options.buffer_bytes = 300;  // room for two of these
  const std::string token(100, 't');
  TokenStream stream(options, [] {});
  std::thread producer([&] {
    for (int at = 0; at < 3; ++at) stream.on_token(0, token, at);
  });
  stream.stop();
  producer.join();
  CHECK(stream.take(ChunkOf::kAllThatWaits, kUnlimited)->delta.size() == 3 * token.size());
  for (int at = 0; at < 100; ++at) stream.on_token(0, token, at);
  CHECK(stream.take(ChunkOf::kAllThatWaits, kUnlimited)->delta.size() <= 2 * options.buffer_bytes);
}

TEST_CASE("rows of floats are gathered and written under their C names") {
  TokenStream stream(usual_limits<TokenStream::Options>(), [] {});
  const std::vector<float> rows{0.5F, 1.0F, 0.1F, -2.0F};
  stream.on_rows({"logits", "logits", "num_tokens", "vocab_size", rows.data(), 1, 2});
  stream.on_rows({"logits", "logits", "num_tokens", "vocab_size", rows.data() + 2, 1, 2});
  stream.on_done(finished());
  CallOutcome outcome = stream.take_outcome();
  write_rows(outcome, {});
  CHECK(to_text(outcome.values) == R"({"logits":{"logits":[0.5,1.0,0.1,-2.0],"vocab_size":2,"num_tokens":2}})");
}

TEST_CASE("rows beyond the limit end the run with error 4006") {
  auto options = usual_limits<TokenStream::Options>();
  options.values_bytes = 8;
  TokenStream stream(options, [] {});
  const std::vector<float> rows(3);
  stream.on_rows({"logits", "logits", "num_tokens", "vocab_size", rows.data(), 1, 3});
  CHECK(stream.wants_to_stop());
  stream.on_done(finished());
  CHECK(stream.take_outcome().error);
}

TEST_CASE("a run that finds no memory is told whose is used up: that of all streams, or the server's") {
  const auto code_of = [](const MemoryBudget& streams) {
    auto options = usual_limits<TokenStream::Options>();
    options.memory = streams;
    TokenStream stream(options, [] {});
    const std::vector<float> rows(50'000);
    stream.on_rows({"logits", "logits", "num_tokens", "vocab_size", rows.data(), 1, rows.size()});
    stream.on_done(finished());
    try {
      std::rethrow_exception(stream.take_outcome().error);
    } catch (const RpcError& error) {
      return error.code();
    }
  };
  const MemoryBudget whole(std::size_t{1} << 20U);
  CHECK(code_of(MemoryBudget(100'000, whole)) == ErrorCode::kTooLarge);
  MemoryShare others(whole);
  others.set(whole.limit());
  CHECK(code_of(MemoryBudget(std::size_t{1} << 20U, whole)) == ErrorCode::kQueueFull);
}

TEST_CASE("rows count in the memory until whoever took them lets go of them") {
  auto options = usual_limits<TokenStream::Options>();
  options.memory = MemoryBudget(std::size_t{1} << 20U);
  TokenStream stream(options, [] {});
  const std::vector<float> rows(1000);
  stream.on_rows({"logits", "logits", "num_tokens", "vocab_size", rows.data(), 1, rows.size()});
  stream.on_done(finished());
  {
    const CallOutcome outcome = stream.take_outcome();
    CHECK(options.memory.used() == 4000);
  }
  CHECK(options.memory.used() == 0);
}
