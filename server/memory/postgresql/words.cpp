// The words that a text is found by (postgresql_store.hpp).
#include "memory/postgresql/postgresql_store.hpp"

#include "memory/folding.hpp"
#include "text/ascii.hpp"
#include "text/sha256.hpp"

#include <cstddef>
#include <set>
#include <vector>

namespace rkllm_mcp::memory::postgresql {
namespace {

// Each is the first byte of what is no word as it is written: one without diacritics, a space, a hash.
constexpr char kFoldedMark = '\x01';
constexpr char kSpaceMark = '\x02';
constexpr char kHashMark = '\x03';

std::string hash_of(std::string_view text) { return in_hexadecimal(sha256(text)); }

// PostgreSQL takes words of 2046 bytes at most.
std::string bounded(const std::string& word) {
  constexpr std::size_t kLongest = 1000;
  return word.size() <= kLongest ? word : kHashMark + hash_of(word);
}

std::string word_of(std::string_view space) { return kSpaceMark + hash_of(space); }

// In an array's notation, and in a query's: words are letters, digits and marks, so there is nothing to escape.
std::string quoted(const std::string& word, char quote) { return quote + word + quote; }

}  // namespace

Words::Words() : in_memory_({":memory:"}) { tokenizer_.add_to(in_memory_); }

std::string Words::array_of(std::string_view content, std::string_view space) const {
  std::set<std::string> all{word_of(space)};
  for (const std::string& word : tokenizer_.words_of(searched_part(content))) {
    auto [with, without] = spellings_of(word);
    if (with != without) all.insert(bounded(kFoldedMark + without));
    all.insert(bounded(with));
  }
  std::string array;
  for (const std::string& word : all) array += (array.empty() ? "{" : ",") + quoted(word, '"');
  return array + "}";
}

std::string Words::query_of(std::string_view text, std::string_view space, bool folds) const {
  const auto words = tokenizer_.words_of(text);
  if (words.empty()) return {};
  std::string query = quoted(word_of(space), '\'');
  for (const std::string& word : words) {
    const auto [with, without] = spellings_of(word);
    if (folds) {
      query += " & (" + quoted(bounded(without), '\'') + " | " + quoted(bounded(kFoldedMark + without), '\'') + ")";
    } else {
      query += " & " + quoted(bounded(with), '\'');
    }
  }
  return query;
}

}  // namespace rkllm_mcp::memory::postgresql
