#include "chat/tokenizer/byte_pairs.hpp"

#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

using Ids = std::vector<TokenId>;

// a to d are 1 to 4; ab is 12, bc is 23, abc is 123 and cd is 34. The pair b, c was learnt first.
BytePairs letter_pairs(const BytePairs::Rules& rules = {}) {
  BytePairs pairs;
  for (TokenId id = 1; id <= 4; ++id) pairs.add_token(std::string(1, static_cast<char>('a' + id - 1)), id);
  pairs.add_token("ab", 12);
  pairs.add_token("bc", 23);
  pairs.add_token("cd", 34);
  pairs.add_token("abc", 123);
  REQUIRE(pairs.add_pair("b", "c"));
  REQUIRE(pairs.add_pair("a", "b"));
  REQUIRE(pairs.add_pair("a", "bc"));
  pairs.set_rules(rules);
  return pairs;
}

Ids ids_of(const BytePairs& pairs, std::string_view word) {
  Ids ids;
  pairs.encode(word, ids);
  return ids;
}

// The pairs of letters, and a token for each byte from `first` on: 1000 and the byte.
BytePairs with_byte_tokens(int first, BytePairs::Rules rules) {
  BytePairs pairs = letter_pairs();
  for (int byte = first; byte < 256; ++byte) {
    std::array<char, 8> text{};
    std::snprintf(text.data(), text.size(), "<0x%02X>", static_cast<unsigned>(byte));
    pairs.add_token(text.data(), 1000 + byte);
  }
  rules.has_byte_tokens = true;
  pairs.set_rules(rules);
  return pairs;
}

}  // namespace

TEST_CASE("the pair that was learnt first is joined first, and of equal ones that on the left") {
  CHECK(ids_of(letter_pairs(), "abc") == Ids{123});
  CHECK(ids_of(letter_pairs(), "ab") == Ids{12});
  CHECK(ids_of(letter_pairs(), "bcbc") == Ids{23, 23});
  CHECK(ids_of(letter_pairs(), "abab") == Ids{12, 12});
  BytePairs twins;
  twins.add_token("a", 1);
  twins.add_token("aa", 2);
  REQUIRE(twins.add_pair("a", "a"));
  CHECK(ids_of(twins, "aaa") == Ids{2, 1});
  CHECK(ids_of(twins, "aaaa") == Ids{2, 2});
}

TEST_CASE("what has been joined is joined to what is joined later beside it, on either side") {
  for (const bool is_left_first : {true, false}) {
    BytePairs halves;
    for (TokenId id = 1; id <= 4; ++id) halves.add_token(std::string(1, static_cast<char>('a' + id - 1)), id);
    halves.add_token("ab", 12);
    halves.add_token("cd", 34);
    halves.add_token("abcd", 1234);
    REQUIRE((is_left_first ? halves.add_pair("a", "b") : halves.add_pair("c", "d")));
    REQUIRE((is_left_first ? halves.add_pair("c", "d") : halves.add_pair("a", "b")));
    REQUIRE(halves.add_pair("ab", "cd"));
    CHECK(ids_of(halves, "abcdabcd") == Ids{1234, 1234});
  }
}

TEST_CASE("tokens that were never learnt as a pair are not joined") {
  CHECK(ids_of(letter_pairs(), "cd") == Ids{3, 4});
  CHECK(ids_of(letter_pairs(), "ac") == Ids{1, 3});
  CHECK(ids_of(letter_pairs(), "a") == Ids{1});
}

TEST_CASE("a token keeps its first id, and a pair its first place") {
  BytePairs pairs = letter_pairs();
  pairs.add_token("a", 99);
  CHECK(pairs.find("a") == TokenId{1});
  CHECK(pairs.find("ab") == TokenId{12});
  CHECK(pairs.find("x") == std::nullopt);
  CHECK(pairs.find("") == std::nullopt);
  CHECK(pairs.add_pair("b", "c"));
  CHECK(ids_of(pairs, "abc") == Ids{123});
}

TEST_CASE("a pair whose halves, or whose whole, are no tokens is not taken") {
  BytePairs pairs = letter_pairs();
  CHECK_FALSE(pairs.add_pair("x", "a"));
  CHECK_FALSE(pairs.add_pair("a", "x"));
  CHECK_FALSE(pairs.add_pair("b", "d"));
  CHECK(pairs.add_pair("c", "d"));
  CHECK(ids_of(pairs, "cd") == Ids{34});
}

TEST_CASE("what a word becomes is put behind what is there, and an empty one becomes nothing") {
  const BytePairs pairs = letter_pairs();
  Ids ids{7};
  pairs.encode("", ids);
  CHECK(ids == Ids{7});
  pairs.encode("ab", ids);
  pairs.encode("c", ids);
  CHECK(ids == Ids{7, 12, 3});
}

TEST_CASE("a word that is a token is taken whole only where that is the rule") {
  BytePairs pairs = letter_pairs();
  pairs.add_token("abd", 124);
  CHECK(ids_of(pairs, "abd") == Ids{12, 4});
  pairs.set_rules({.takes_whole_words = true});
  CHECK(ids_of(pairs, "abd") == Ids{124});
  CHECK(ids_of(pairs, "abda") == Ids{12, 4, 1});
}

TEST_CASE("an unknown character is left out, or is the unknown token, one for each or one for all in a row") {
  CHECK(ids_of(letter_pairs(), "axyb") == Ids{12});
  CHECK(ids_of(letter_pairs({.unknown = 0}), "axyb") == Ids{1, 0, 0, 2});
  const BytePairs joining = letter_pairs({.joins_unknown = true, .unknown = 0});
  CHECK(ids_of(joining, "axybz") == Ids{1, 0, 2, 0});
  CHECK(ids_of(letter_pairs({.unknown = 0}), "Hu\xE1\xBA\xBF") == Ids{0, 0, 0});
}

TEST_CASE("a character is more than a byte, unless the parts are bytes") {
  BytePairs pairs;
  pairs.add_token("\xC3\xA9", 5);
  pairs.add_token("\xC3", 6);
  pairs.add_token("\xA9", 7);
  CHECK(ids_of(pairs, "\xC3\xA9") == Ids{5});
  pairs.set_rules({.of_bytes = true});
  CHECK(ids_of(pairs, "\xC3\xA9") == Ids{6, 7});
  REQUIRE(pairs.add_pair("\xC3", "\xA9"));
  CHECK(ids_of(pairs, "\xC3\xA9") == Ids{5});
}

TEST_CASE("an unknown character becomes its bytes, where there is a token for each of them") {
  const BytePairs all = with_byte_tokens(0, {.unknown = 0});
  CHECK(ids_of(all,
               "ax\xC3\xA9"
               "b") == Ids{1, 1000 + 'x', 1000 + 0xC3, 1000 + 0xA9, 2});
  CHECK(ids_of(all, std::string("\0", 1)) == Ids{1000});
  CHECK(ids_of(all, "\xFF") == Ids{1000 + 0xFF});
  const BytePairs some = with_byte_tokens(0xB0, {.unknown = 0});
  CHECK(ids_of(some, "\xC3\xA9") == Ids{0});
  CHECK(ids_of(some, "\xC3\xB9") == Ids{1000 + 0xC3, 1000 + 0xB9});
}

TEST_CASE("bytes between unknown characters part them") {
  const BytePairs some = with_byte_tokens(0xB0, {.joins_unknown = true, .unknown = 0});
  CHECK(ids_of(some, "\xC3\xA9\xC3\xA9") == Ids{0});
  CHECK(ids_of(some, "\xC3\xA9\xC3\xB9\xC3\xA9") == Ids{0, 1000 + 0xC3, 1000 + 0xB9, 0});
}

TEST_CASE("ids may be as large as there are, and are told apart") {
  constexpr TokenId kMost = std::numeric_limits<TokenId>::max();
  BytePairs pairs;
  pairs.add_token("a", kMost);
  pairs.add_token("b", 0);
  pairs.add_token("ab", kMost - 1);
  REQUIRE(pairs.add_pair("a", "b"));
  CHECK(ids_of(pairs, "ab") == Ids{kMost - 1});
  CHECK(ids_of(pairs, "ba") == Ids{0, kMost});
}
