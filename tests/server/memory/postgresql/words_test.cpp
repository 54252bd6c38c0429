// What PostgreSQL is given to keep and to compare, without PostgreSQL. That it finds the same as SQLite is shown by
// tests/server/memory/store_contract_test.cpp.
#include "memory/postgresql/postgresql_store.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp::memory;
using postgresql::Words;

namespace {

// What stands between two quotes, again and again.
std::vector<std::string> quoted_in(const std::string& text, char quote) {
  std::vector<std::string> all;
  for (std::size_t at = text.find(quote); at != std::string::npos; at = text.find(quote, at)) {
    const std::size_t end = text.find(quote, at + 1);
    REQUIRE(end != std::string::npos);
    all.push_back(text.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return all;
}

// Whether all that the query joins by "&" is in the array, of what it joins by "|" one.
bool matches(const std::string& array, const std::string& query) {
  const auto kept = quoted_in(array, '"');
  std::size_t begin = 0;
  while (begin <= query.size()) {
    const std::size_t end = std::min(query.find(" & ", begin), query.size());
    const auto any = quoted_in(query.substr(begin, end - begin), '\'');
    REQUIRE_FALSE(any.empty());
    if (std::ranges::none_of(any, [&](const auto& word) { return std::ranges::count(kept, word) > 0; })) return false;
    begin = end + 3;
  }
  return true;
}

bool is_found(const std::string& content, const std::string& text, bool folds = true) {
  static const Words words;
  return matches(words.array_of(content, "laptop"), words.query_of(text, "laptop", folds));
}

}  // namespace

TEST_CASE("a message has each of its words once, and all that it is asked for has to be in it") {
  const Words words;
  const auto kept = quoted_in(words.array_of("One two, ONE one", ""), '"');
  CHECK(kept.size() == 3);  // and the word of its space
  CHECK(std::set(kept.begin(), kept.end()).size() == kept.size());
  CHECK(is_found("One two three", "three ONE"));
  CHECK_FALSE(is_found("One two three", "one four"));
  CHECK_FALSE(is_found("One two three", "thre"));
}

TEST_CASE("words are found without diacritics, or only as they are written") {
  CHECK(is_found("Tiếng Việt", "tieng viet"));
  CHECK(is_found("tieng", "tiếng"));
  CHECK(is_found("đường", "duong"));
  CHECK(is_found("Tiếng Việt", "việt TIẾNG", false));
  CHECK(is_found("ti\x65\xcc\x82\xcc\x81ng", "tiếng", false));
  CHECK_FALSE(is_found("tiếng", "tieng", false));
  CHECK_FALSE(is_found("tieng", "tiếng", false));
}

TEST_CASE("a message is found in its own space only, whatever the spaces are called") {
  const Words words;
  const std::vector<std::string> spaces{"", "laptop", "lap", "Laptop", "phone", "a b", "it's", "\\"};
  for (const std::string& its : spaces) {
    const std::string array = words.array_of("x laptop phone", its);
    for (const std::string& asked : spaces) {
      INFO(its << " / " << asked);
      CHECK(matches(array, words.query_of("x", asked, true)) == (its == asked));
      CHECK(matches(array, words.query_of("x", asked, false)) == (its == asked));
    }
  }
}

TEST_CASE("a message without words is of its space all the same, and a search without words is none") {
  const Words words;
  CHECK(quoted_in(words.array_of(" ...", "laptop"), '"').size() == 1);
  for (const char* const text : {"", " ", "?!", "'", "\x01\x02"}) {
    CHECK(words.query_of(text, "laptop", true).empty());
    CHECK(words.query_of(text, "laptop", false).empty());
  }
}

TEST_CASE("nothing that a text holds is taken for a part of the array or of the query") {
  const Words words;
  const std::string wild = R"(a'b "c" \d {e},f | & ! <-> (g):*)";
  CHECK(quoted_in(words.array_of(wild, ""), '"').size() == 8);
  for (const bool folds : {true, false}) {
    const std::string query = words.query_of(wild, "", folds);
    CHECK(std::ranges::count(query, '&') == 7);
    CHECK(std::ranges::count(query, '|') == (folds ? 7 : 0));
    for (const char strange : {'"', '\\', '{', '!', '<', ':', '*'}) CHECK(query.find(strange) == std::string::npos);
  }
  CHECK(is_found(wild, "g f e d c b a"));
}

TEST_CASE("a word that is too long for PostgreSQL is kept short, and is found by itself only") {
  const Words words;
  for (const std::string& letter : {std::string("q"), std::string("ế")}) {
    std::string word;
    while (word.size() < 100'000) word += letter;
    for (const std::string& kept : quoted_in(words.array_of(word, ""), '"')) CHECK(kept.size() <= 2046);
    for (const std::string& asked : quoted_in(words.query_of(word, "", true), '\'')) CHECK(asked.size() <= 2046);
    for (const bool folds : {true, false}) {
      CHECK(is_found(word, word, folds));
      CHECK_FALSE(is_found(word, word + letter, folds));
      CHECK_FALSE(is_found(word + letter, word, folds));
    }
  }
  std::string plain(40'000, 'e');
  std::string marked;
  while (marked.size() < 3 * plain.size()) marked += "ế";
  CHECK(is_found(marked, plain));
  CHECK_FALSE(is_found(marked, plain, false));
}

TEST_CASE("of a very long message only the beginning is searched") {
  const std::string filler(256 * 1024 - 6, ' ');
  CHECK(is_found("first" + filler + "last", "first"));
  CHECK_FALSE(is_found("first" + filler + " last", "last"));
}
