// How PostgreSQL searches for the same words as SQLite does: texts are taken apart here, by the same code, and
// PostgreSQL only keeps and compares what comes out. Each word is there as it is written, and once more without
// diacritics, behind a mark, if that differs (see sqlite/search_tokenizer.hpp). One thread at a time.
#pragma once

#include "memory/sqlite/search_tokenizer.hpp"
#include "memory/sqlite/sqlite_connection.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp::memory::postgresql {

class Words {
 public:
  Words();

  // An array of text, for array_to_tsvector(), of what can be found in a message of that space.
  std::string array_of(std::string_view content, std::string_view space) const;
  // A tsquery of the messages of that space that have all words of `text`; empty if it has none.
  std::string query_of(std::string_view text, std::string_view space, bool folds) const;

 private:
  SearchTokenizer tokenizer_;  // before the connection, which uses it
  memory::Connection in_memory_;
};

}  // namespace rkllm_mcp::memory::postgresql
