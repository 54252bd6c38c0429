// Words that full-text search finds, with and without their diacritics.
#include "memory/sqlite/search_tokenizer.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp::memory;

namespace {

using WordList = std::vector<std::string>;

// An index of texts, which are numbered from 1.
struct TextIndex {
  explicit TextIndex(const WordList& texts) : db({":memory:"}) {
    tokenizer.add_to(db);
    db.run(("CREATE VIRTUAL TABLE t USING fts5(content, tokenize='" + std::string(kTokenizer) + "')").c_str());
    for (const std::string& text : texts) {
      Query(db, "INSERT INTO t(content) VALUES(?1)", std::string_view(text)).run();
    }
  }
  // The numbers of the texts that are found.
  std::vector<std::int64_t> found(const std::string& query) {
    std::vector<std::int64_t> numbers;
    Query rows(db, "SELECT rowid FROM t WHERE t MATCH ?1 ORDER BY rowid", std::string_view(query));
    while (rows.next()) numbers.push_back(rows.integer(0));
    return numbers;
  }

  SearchTokenizer tokenizer;
  Connection db;
};

using Found = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("a text's words are its letters, digits and marks in lower case, with their diacritics, in order") {
  SearchTokenizer tokenizer;
  Connection db({":memory:"});
  tokenizer.add_to(db);
  CHECK(tokenizer.words_of("Hello, WORLD! a-b 42") == WordList{"hello", "world", "a", "b", "42"});
  CHECK(tokenizer.words_of("TIẾNG Việt, Đường") == WordList{"tiếng", "việt", "đường"});
  CHECK(tokenizer.words_of("ti\x65\xcc\x82\xcc\x81ng") == WordList{"ti\x65\xcc\x82\xcc\x81ng"});
  CHECK(tokenizer.words_of("x x") == WordList{"x", "x"});
  CHECK(tokenizer.words_of("").empty());
  CHECK(tokenizer.words_of(" ,;\x01\n").empty());
}

TEST_CASE("a search that leaves diacritics out of account finds a word however it is written") {
  TextIndex index({"tiếng", "tieng", "tiêng", "TIẾNG", "other"});
  CHECK(index.tokenizer.folds_queries());  // as long as nobody says otherwise
  for (const char* const query : {"tieng", "tiếng", "TIÊNG"}) {
    INFO(query);
    CHECK(index.found(query) == Found{1, 2, 3, 4});
  }
  CHECK(TextIndex({"đường", "duong"}).found("duong") == Found{1, 2});
}

TEST_CASE("a search that minds diacritics finds only what is written so, in either of Unicode's spellings") {
  TextIndex index({"tiếng", "tieng", "tiêng", "ti\x65\xcc\x82\xcc\x81ng", "TIẾNG"});
  index.tokenizer.fold_queries(false);
  CHECK_FALSE(index.tokenizer.folds_queries());
  CHECK(index.found("tieng") == Found{2});
  CHECK(index.found("tiêng") == Found{3});
  CHECK(index.found("tiếng") == Found{1, 4, 5});
  CHECK(index.found("ti\x65\xcc\x82\xcc\x81ng") == Found{1, 4, 5});
  index.tokenizer.fold_queries(true);
  CHECK(index.found("tieng") == Found{1, 2, 3, 4, 5});
}

TEST_CASE("both spellings of a word are at one place, so that phrases are found either way") {
  TextIndex index({"một hai ba", "mot ba", "ba hai một"});
  CHECK(index.found("\"mot hai ba\"") == Found{1});
  CHECK(index.found("\"một hai\"") == Found{1});
  CHECK(index.found("\"mot ba\"") == Found{2});
  index.tokenizer.fold_queries(false);
  CHECK(index.found("\"một hai ba\"") == Found{1});
  CHECK(index.found("\"mot hai\"").empty());
}

TEST_CASE("the mark of a folded word cannot be written into a text or a search") {
  TextIndex index({"\x01tieng", "tiếng"});
  index.tokenizer.fold_queries(false);
  CHECK(index.found("\"\x01tieng\"") == Found{1});
}

TEST_CASE("two connections have tokenizers of their own, which do not share what they mind") {
  TextIndex one({"tiếng"});
  TextIndex other({"tiếng"});
  one.tokenizer.fold_queries(false);
  CHECK(one.found("tieng").empty());
  CHECK(other.found("tieng") == Found{1});
}
