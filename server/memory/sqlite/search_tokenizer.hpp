// How full-text search takes texts apart: SQLite's own Unicode words, each as it is written, and beside it, in the same
// place, as it is without diacritics. So one index answers both kinds of search.
//
// The second one is kept behind a mark (byte 1), and only where it differs: a search that minds diacritics for "tieng"
// must not find "tiếng".
#pragma once

#include "memory/sqlite/sqlite_connection.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::memory {

// What `tokenize=` says in the schema.
inline constexpr const char* kTokenizer = "rkllm_words";

// Belongs to one connection, which it outlives.
class SearchTokenizer {
 public:
  SearchTokenizer() = default;
  SearchTokenizer(const SearchTokenizer&) = delete;
  SearchTokenizer& operator=(const SearchTokenizer&) = delete;

  // Makes it known to the connection. Throws StoreError if this SQLite has no full-text search.
  void add_to(Connection& db);

  // Whether searches from now on leave diacritics out of account.
  void fold_queries(bool fold) { folds_ = fold; }
  bool folds_queries() const { return folds_; }

  // The words of a text, in lower case.
  std::vector<std::string> words_of(std::string_view text) const;

  const fts5_tokenizer& unicode() const { return unicode_; }
  void* unicode_context() const { return unicode_context_; }

 private:
  fts5_tokenizer unicode_{};  // SQLite's own
  void* unicode_context_ = nullptr;
  bool folds_ = true;
};

}  // namespace rkllm_mcp::memory
