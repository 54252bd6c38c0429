#include "stream/token_lane.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;

namespace {

constexpr std::size_t kAnyRoom = std::numeric_limits<std::size_t>::max();
constexpr std::string_view kEuroSign = "\xE2\x82\xAC";  // three bytes
constexpr std::string_view kReplaced = "\xEF\xBF\xBD";  // U+FFFD
constexpr auto kVisible = TokenLane::Keep::kVisible;

using LaneTokens = std::vector<std::string>;

// The next token as "text#id".
std::string taken_token(TokenLane& lane, std::size_t max_escaped_bytes = kAnyRoom) {
  std::string text;
  const std::int32_t id = lane.take(text, max_escaped_bytes);
  return text + "#" + std::to_string(id);
}

LaneTokens taken_tokens(TokenLane& lane, std::size_t max_escaped_bytes = kAnyRoom) {
  LaneTokens tokens;
  while (!lane.empty()) tokens.push_back(taken_token(lane, max_escaped_bytes));
  return tokens;
}

}  // namespace

TEST_CASE("a lane that nothing has been put into is empty") {
  TokenLane lane;
  CHECK(lane.empty());
  CHECK(lane.waiting_tokens() == 0);
  CHECK(lane.waiting_bytes() == 0);
  lane.join();
  lane.end();
  CHECK(lane.empty());
}

TEST_CASE("a lane gives its tokens in turn, each with its id, and counts those that wait") {
  TokenLane lane;
  lane.append("one ", 1);
  lane.append("two ", 2);
  CHECK_FALSE(lane.empty());
  CHECK(lane.waiting_tokens() == 2);
  const std::size_t both = lane.waiting_bytes();
  CHECK(both >= 8);
  CHECK(taken_token(lane) == "one #1");
  CHECK(lane.waiting_tokens() == 1);
  CHECK(lane.waiting_bytes() < both);
  lane.append("three", 3);
  CHECK(taken_tokens(lane) == LaneTokens{"two #2", "three#3"});
  CHECK(lane.waiting_tokens() == 0);
  CHECK(lane.waiting_bytes() == 0);
}

TEST_CASE("what is taken from a lane is put behind what is there already") {
  TokenLane lane;
  lane.append("b", 1);
  lane.append("c", 2);
  std::string text = "a";
  lane.take(text, kAnyRoom);
  lane.take(text, kAnyRoom);
  CHECK(text == "abc");
}

TEST_CASE("a token without text comes out by itself only where every token is kept") {
  TokenLane every;
  every.append("", 1);
  CHECK(every.waiting_tokens() == 1);
  CHECK(every.waiting_bytes() > 0);  // many of them are not free of charge
  every.append("a", 2);
  every.append("", 3);
  CHECK(taken_tokens(every, 0) == LaneTokens{"#1", "a#2", "#3"});

  TokenLane visible;
  visible.append("", 1, kVisible);
  CHECK(visible.empty());
  CHECK(visible.waiting_bytes() == 0);
  visible.append("a", 2, kVisible);
  visible.append("", 3, kVisible);
  CHECK(taken_tokens(visible) == LaneTokens{"a#2"});
}

TEST_CASE("the bytes of a character come with the token that completes it") {
  TokenLane every;
  every.append("\xF0", 1);
  every.append("\x9F\x98", 2);
  every.append("", 3);
  every.append("\x80!", 4);
  CHECK(taken_tokens(every) == LaneTokens{"#1", "#2", "#3", "\xF0\x9F\x98\x80!#4"});

  TokenLane visible;
  visible.append("\xF0", 1, kVisible);
  visible.append("\x9F\x98", 2, kVisible);
  CHECK(visible.empty());
  visible.append("\x80!", 3, kVisible);
  CHECK(taken_tokens(visible) == LaneTokens{"\xF0\x9F\x98\x80!#3"});
}

TEST_CASE("what stands before a character that is not whole does not wait for it") {
  TokenLane lane;
  lane.append("price: \xE2", 1, kVisible);
  CHECK(taken_token(lane) == "price: #1");
  CHECK(lane.empty());
  lane.append("\x82\xAC\xE2\x82", 2, kVisible);
  CHECK(taken_token(lane) == std::string(kEuroSign) + "#2");
  lane.append("\xAC.", 3, kVisible);
  CHECK(taken_token(lane) == std::string(kEuroSign) + ".#3");
}

TEST_CASE("bytes that no character can have become U+FFFD in a lane, and the text goes on") {
  TokenLane lane;
  lane.append("a\xFF", 1);
  lane.append("b\xE2", 2);
  lane.append("c", 3);  // so that the byte before it can be no character's
  CHECK(taken_tokens(lane) == LaneTokens{"a" + std::string(kReplaced) + "#1", "b#2", std::string(kReplaced) + "c#3"});
}

TEST_CASE("a character that is never completed becomes one U+FFFD at the end, of no token") {
  for (const char* const beginning : {"\xE2", "\xE2\x82", "\xF0\x9F\x98"}) {
    TokenLane lane;
    lane.append(beginning, 7, kVisible);
    CHECK(lane.empty());
    lane.end();
    lane.end();  // nothing is left that could become another one
    CHECK(taken_tokens(lane) == LaneTokens{std::string(kReplaced) + "#-1"});
  }
  TokenLane whole;
  whole.append(kEuroSign, 7);
  whole.end();
  CHECK(taken_tokens(whole) == LaneTokens{std::string(kEuroSign) + "#7"});
}

TEST_CASE("a token that does not fit is taken in parts, each with its id") {
  TokenLane lane;
  lane.append("abcdefg", 1);
  lane.append("h", 2);
  CHECK(taken_token(lane, 3) == "abc#1");
  CHECK(lane.waiting_tokens() == 2);
  CHECK(taken_token(lane, 4) == "defg#1");
  CHECK(lane.waiting_tokens() == 1);
  CHECK(taken_token(lane, 100) == "h#2");  // and no more than one token, although there is room
}

TEST_CASE("what fits is measured by the text as JSON writes it") {
  TokenLane lane;
  lane.append(
      "a\"b\x01"
      "c",
      1);
  CHECK(taken_token(lane, 2) == "a#1");    // the quotation mark takes two bytes
  CHECK(taken_token(lane, 3) == "\"b#1");  // and the control character six
  CHECK(taken_token(lane, 6) == "\x01#1");
  CHECK(taken_token(lane, 6) == "c#1");
  CHECK(lane.empty());
}

TEST_CASE("a character is taken whole, also where there is no room for it") {
  const std::string euro(kEuroSign);
  TokenLane lane;
  lane.append("a" + euro + euro + "\n", 1);
  CHECK(taken_token(lane, 3) == "a#1");  // two bytes of the next would have fitted
  CHECK(taken_tokens(lane, 0) == LaneTokens{euro + "#1", euro + "#1", "\n#1"});
}

TEST_CASE("tokens that are joined come out as one, with the id of the last") {
  TokenLane lane;
  lane.append("one ", 1);
  lane.append("", 2);
  lane.append("three ", 3);
  lane.join();
  CHECK(lane.waiting_tokens() == 1);
  lane.append("four", 4);
  CHECK(taken_tokens(lane) == LaneTokens{"one three #3", "four#4"});
}

TEST_CASE("joining leaves one token alone, keeps what has been taken away, and does not complete a character") {
  TokenLane lane;
  lane.append("single", 1);
  lane.join();
  CHECK(taken_token(lane, 3) == "sin#1");
  lane.append(" and \xE2", 2);
  lane.join();
  CHECK(taken_tokens(lane) == LaneTokens{"gle and #2"});
  lane.append("\x82\xAC", 3);
  CHECK(taken_tokens(lane) == LaneTokens{std::string(kEuroSign) + "#3"});

  lane.append("taken", 4);
  lane.append("left", 5);
  lane.append("too", 6);
  CHECK(taken_token(lane) == "taken#4");
  lane.join();
  CHECK(taken_tokens(lane) == LaneTokens{"lefttoo#6"});
}

TEST_CASE("joined tokens without text are one token without text") {
  TokenLane lane;
  lane.append("", 1);
  lane.append("", 2);
  lane.join();
  CHECK(taken_tokens(lane) == LaneTokens{"#2"});
}

TEST_CASE("a lane that never becomes empty gives what was put in, and what it has given does not count as waiting") {
  constexpr std::int32_t kTokens = 20'000;
  constexpr std::int32_t kBehind = 10;  // by so many tokens who reads is behind who writes
  TokenLane lane;
  std::size_t most_bytes = 0;
  LaneTokens given;
  LaneTokens taken;
  for (std::int32_t id = 0; id < kTokens; ++id) {
    const std::string text = "token " + std::to_string(id) + std::string(kEuroSign);
    given.push_back(text + "#" + std::to_string(id));
    lane.append(text, id);
    most_bytes = std::max(most_bytes, lane.waiting_bytes());
    if (id >= kBehind) taken.push_back(taken_token(lane));
  }
  CHECK(lane.waiting_tokens() == kBehind);
  CHECK(most_bytes < 1000);
  for (const std::string& token : taken_tokens(lane)) taken.push_back(token);
  CHECK((taken == given));  // printing them would take longer than all the rest
}
