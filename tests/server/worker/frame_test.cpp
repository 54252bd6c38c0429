// Bytes between server and worker, and what they stand for.
#include "worker/frame.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

std::string frame(FrameHead head, std::string_view content) {
  head.bytes = static_cast<std::uint32_t>(content.size());
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) + std::string(content);
}

void put(FrameReader& reader, std::string_view bytes) {
  const auto room = reader.room();
  REQUIRE(bytes.size() <= room.size());
  std::memcpy(room.data(), bytes.data(), bytes.size());
  reader.filled(bytes.size());
}

struct Rows {
  std::string field;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<float> values;
};

// What a reader gives for these rows when each frame holds so many floats.
Rows passed_on(const FloatRows& sent, std::size_t floats_per_frame) {
  RowsReader reader(100);
  Rows got;
  const auto give = [&got](const FloatRows& rows) {
    got.field = rows.field;
    got.rows += rows.rows;
    got.columns = rows.columns;
    got.values.insert(got.values.end(), rows.values, rows.values + rows.rows * rows.columns);
  };
  std::string content;
  append_rows_head(content, sent);
  const std::size_t count = sent.rows * sent.columns;
  std::uint16_t flags = kBegins;
  for (std::size_t at = 0; at < count || flags == kBegins; at += floats_per_frame) {
    const std::size_t part = std::min(floats_per_frame, count - at);
    if (part > 0) content.append(reinterpret_cast<const char*>(sent.values + at), part * sizeof(float));
    reader.add({{.flags = std::exchange(flags, std::uint16_t{0})}, content}, give);
    content.clear();
  }
  return got;
}

}  // namespace

TEST_CASE("frames are the same however their bytes arrive") {
  const std::size_t piece = GENERATE(1, 7, 12, 13, 1000);
  const std::string text(kMaxFrameBytes, 'x');
  const std::string bytes = frame({.type = FrameType::kStop, .call = 3}, "") +
                            frame({.type = FrameType::kEnd, .flags = kMoreFollows, .call = 4}, text) +
                            frame({.type = FrameType::kEnd, .call = 5}, "{}");
  FrameReader reader;
  std::vector<std::string> seen;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    put(reader, std::string_view(bytes).substr(at, piece));
    while (const auto next = reader.next()) {
      seen.push_back(std::to_string(static_cast<int>(next->head.type)) + " " + std::to_string(next->head.call) + " " +
                     std::to_string(next->content.size()));
    }
  }
  CHECK(seen == std::vector<std::string>{"2 3 0", "5 4 65536", "5 5 2"});
}

TEST_CASE("a frame that is too long, or of no known type, is refused before it is whole") {
  FrameHead head{.type = FrameType::kEnd, .call = 1};
  SECTION("too long") { head.bytes = kMaxFrameBytes + 1; }
  SECTION("of type 0") { head.type = FrameType{}; }
  SECTION("of a type to come") { head.type = static_cast<FrameType>(6); }
  FrameReader reader;
  put(reader, {reinterpret_cast<const char*>(&head), sizeof head});
  CHECK_THROWS_AS(reader.next(), BadFrame);
}

TEST_CASE("tokens come back as they were, whatever their bytes are") {
  const std::vector<TokenRecord> sent{
      {0, "Hello", 7}, {1, "", 8}, {65535, std::nullopt, -1}, {2, std::string_view("\0\xFF\xC3", 3), 2147483647}};
  std::string content;
  for (const auto& each : sent) append_token(content, each);
  std::string_view left = content;
  for (const auto& each : sent) {
    const TokenRecord got = take_token(left);
    CHECK(got.batch == each.batch);
    CHECK(got.text == each.text);
    CHECK(got.id == each.id);
  }
  CHECK(left.empty());
}

TEST_CASE("a token that does not end within its frame is refused") {
  std::string content;
  append_token(content, {0, "Hello", 7});
  for (std::size_t size = 0; size < content.size(); ++size) {
    std::string_view cut = std::string_view(content).substr(0, size);
    CHECK_THROWS_AS(take_token(cut), BadFrame);
  }
}

TEST_CASE("rows come back as they were, in whatever pieces") {
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const FloatRows sent{"logits", "logits", "num_tokens", "vocab_size", values.data(), 2, 3};
  for (std::size_t per_frame = 1; per_frame <= 7; ++per_frame) {
    const Rows got = passed_on(sent, per_frame);
    CHECK(got.field == "logits");
    CHECK(got.rows == 2);
    CHECK(got.columns == 3);
    CHECK(got.values == values);
  }
}

TEST_CASE("no rows are told as well") {
  const Rows got = passed_on({"logits", "logits", "num_tokens", "vocab_size", nullptr, 0, 3}, 1);
  CHECK(got.field == "logits");
  CHECK(got.rows == 0);
}

TEST_CASE("rows that are not what was announced are refused") {
  RowsReader reader(4);
  const auto nobody = [](const FloatRows&) {};
  const float value = 1;
  const auto add = [&](std::size_t rows, std::size_t columns, std::string_view more) {
    std::string content;
    append_rows_head(content, {"f", "v", "r", "c", &value, rows, columns});
    content += more;
    reader.add({{.flags = kBegins}, content}, nobody);
  };
  SECTION("longer than a row may be") { CHECK_THROWS_AS(add(1, 5, ""), BadFrame); }
  SECTION("more numbers") { CHECK_THROWS_AS(add(1, 1, "12345678"), BadFrame); }
  SECTION("half a number") { CHECK_THROWS_AS(add(1, 1, "12"), BadFrame); }
  SECTION("numbers without rows") { CHECK_THROWS_AS(reader.add({{}, "1234"}, nobody), BadFrame); }
  SECTION("others before these have ended") {
    add(2, 1, "1234");
    CHECK_THROWS_AS(add(1, 1, ""), BadFrame);
  }
  SECTION("no head") { CHECK_THROWS_AS(reader.add({{.flags = kBegins}, "123"}, nobody), BadFrame); }
}

TEST_CASE("a text in pieces has a bound") {
  FramedText text(4);
  CHECK_FALSE(text.add({{.flags = kMoreFollows}, "ab"}));
  CHECK(text.add({{}, "cd"}));
  CHECK(text.take() == "abcd");
  CHECK_FALSE(text.add({{.flags = kMoreFollows}, "abc"}));
  CHECK_THROWS_AS(text.add({{}, "de"}), BadFrame);
}
