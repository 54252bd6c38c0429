// SQLite's C interface as C++: one connection, and queries on it that are compiled once. One thread at a time.
#pragma once

#include "memory/store.hpp"

#include <sqlite3.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::memory {

class Connection {
 public:
  struct Options {
    std::string path;
    const char* vfs = nullptr;  // null: the system's
    // Becomes true when nothing is to be waited for any more; null: never. Outlives the connection.
    const std::atomic<bool>* stop = nullptr;
  };

  // Throws StoreError.
  explicit Connection(const Options& options);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // Statements without results.
  void run(const char* sql);
  std::int64_t number(const char* sql);  // the only value of the only row
  bool is_open_transaction() const { return sqlite3_get_autocommit(db_) == 0; }
  bool is_read_only() const { return sqlite3_db_readonly(db_, "main") == 1; }
  std::int64_t last_inserted() const { return sqlite3_last_insert_rowid(db_); }
  std::int64_t changed() const { return sqlite3_changes64(db_); }

  sqlite3* raw() const { return db_; }
  [[noreturn]] void fail(int code) const;

 private:
  friend class Query;
  sqlite3_stmt* compiled(const char* sql);  // kept by the address of its text

  struct Finalizer {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  const std::string path_;
  const std::atomic<bool>* const stop_;
  sqlite3* db_ = nullptr;
  std::map<const char*, std::unique_ptr<sqlite3_stmt, Finalizer>> statements_;
};

// One execution of a query whose text is a literal: Query query(db, "SELECT ...", values...); while (query.next()) ...
class Query {
 public:
  template <class... Values>
  Query(Connection& db, const char* sql, const Values&... values) : db_(db), statement_(db.compiled(sql)) {
    int at = 0;
    (bind(++at, values), ...);
  }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  ~Query() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }

  // Whether there is one more row.
  bool next();
  // For what has no rows.
  void run() {
    while (next()) {
    }
  }

  std::int64_t integer(int column) const { return sqlite3_column_int64(statement_, column); }
  bool is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }
  std::string text(int column) const { return std::string(view(column)); }
  std::string_view view(int column) const;  // until next() or the end of the query

 private:
  void bind(int at, std::int64_t value) { check(sqlite3_bind_int64(statement_, at, value)); }
  void bind(int at, std::string_view text);
  void check(int code) const {
    if (code != SQLITE_OK) db_.fail(code);
  }

  Connection& db_;
  sqlite3_stmt* const statement_;
};

}  // namespace rkllm_mcp::memory
