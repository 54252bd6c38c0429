// What a run produces, as the frames that its worker sends.
#include "worker/token_writer.hpp"

#include "process/descriptor.hpp"
#include "server/worker/receive_some.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

constexpr std::uint32_t kCallNumber = 3;
constexpr std::chrono::seconds kUntilRead{60};

struct Writing {
  void token(std::string_view text, std::int32_t id) const { run->on_token(0, text, id); }
  // The text of tokens frames, until `bytes` of it are there.
  std::string text_of(std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) {
      const Frame frame = server.receive();
      // On a thread of its own where much is sent: nothing is asserted here.
      if (frame.head.type != FrameType::kTokens || frame.head.call != kCallNumber)
        throw std::runtime_error("odd frame");
      ++frames;
      for (std::string_view content = frame.content; !content.empty();) {
        const TokenRecord record = take_token(content);
        text += record.text.value_or("");
        if (record.id != kNoTokenId) ids.push_back(record.id);
      }
    }
    return text;
  }
  // Whether nothing is left to be received.
  bool is_silent() {
    test::receive_some(server);
    return !server.received();
  }

  DescriptorPair ends = make_stream_pair();
  FrameSocket server{std::move(ends.first)};
  std::shared_ptr<TokenWriter> writer = std::make_shared<TokenWriter>(std::move(ends.second));
  std::shared_ptr<CallObserver> run = writer->open(kCallNumber);
  std::size_t frames = 0;
  std::vector<std::int32_t> ids;
};

}  // namespace

TEST_CASE("a token that nothing follows is sent by itself") {
  Writing writing;
  writing.token("alone", 7);
  CHECK(writing.text_of(5) == "alone");
  writing.token(" again", 8);  // soon after it: it waits a moment, and not for the next one
  CHECK(writing.text_of(6) == " again");
  CHECK(writing.ids == std::vector<std::int32_t>{7, 8});
}

TEST_CASE("tokens that come fast travel together, whole and in their order") {
  Writing writing;
  constexpr int kTokens = 20'000;
  std::string all;
  for (int n = 0; n < kTokens; ++n) all += std::to_string(n) + " ";
  auto reading = std::async(std::launch::async, [&] { return writing.text_of(all.size()); });
  for (int n = 0; n < kTokens; ++n) writing.token(std::to_string(n) + " ", n);
  writing.writer->close();
  REQUIRE(reading.wait_for(kUntilRead) == std::future_status::ready);
  CHECK(reading.get() == all);
  CHECK(writing.frames < kTokens);
  CHECK(writing.ids.size() == kTokens);
}

TEST_CASE("all that a run told before its end has been sent when close() returns, and what comes later is dropped") {
  Writing writing;
  writing.token("first", 1);
  writing.token("last", 2);
  writing.writer->close();
  writing.token("late", 3);
  CHECK(writing.text_of(9) == "firstlast");
  const auto next = writing.writer->open(kCallNumber + 1);
  writing.token("of the run before", 4);
  writing.writer->close();
  CHECK(writing.is_silent());
}

TEST_CASE("a token that is longer than a record goes in several, of which the last has its id") {
  Writing writing;
  const std::string text(2 * kMostTextInRecord + 100, 'x');
  auto reading = std::async(std::launch::async, [&] { return writing.text_of(text.size()); });
  writing.token(text, 5);
  REQUIRE(reading.wait_for(kUntilRead) == std::future_status::ready);
  CHECK(reading.get() == text);
  CHECK(writing.ids == std::vector<std::int32_t>{5});
}

TEST_CASE("a token without text is a token all the same") {
  Writing writing;
  writing.run->on_token(0, std::nullopt, 9);
  writing.token("x", 10);
  CHECK(writing.text_of(1) == "x");
  CHECK(writing.ids == std::vector<std::int32_t>{9, 10});
}

TEST_CASE("rows come behind the tokens before them, in as many frames as they take") {
  Writing writing;
  constexpr std::size_t kRows = 40;
  constexpr std::size_t kColumns = 1000;  // more than two frames
  std::vector<float> values(kRows * kColumns);
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = static_cast<float>(at);
  auto sending = std::async(std::launch::async, [&] {
    writing.token("before", 1);
    writing.run->on_rows({"logits", "values", "tokens", "width", values.data(), kRows, kColumns});
  });
  CHECK(writing.text_of(6) == "before");
  RowsReader rows(kColumns);
  std::vector<float> got;
  do {
    const Frame frame = writing.server.receive();
    REQUIRE(frame.head.type == FrameType::kRows);
    rows.add(frame, [&](const FloatRows& whole) {
      CHECK(whole.field == "logits");
      got.insert(got.end(), whole.values, whole.values + whole.rows * whole.columns);
    });
  } while (!rows.are_whole());
  CHECK(got == values);
  REQUIRE(sending.wait_for(kUntilRead) == std::future_status::ready);
}

TEST_CASE("a run for which nobody reads is to stop, and blocks nobody") {
  Writing writing;
  CHECK_FALSE(writing.run->wants_to_stop());
  writing.server.shut_down();
  for (int n = 0; n < 100 && !writing.run->wants_to_stop(); ++n) {
    writing.token(std::string(kMostTextInRecord, 'x'), n);
  }
  CHECK(writing.run->wants_to_stop());
  CHECK(writing.writer->nobody_reads());
  const float value = 1;
  writing.run->on_rows({"logits", "values", "tokens", "width", &value, 1, 1});
}
