// One connection to a PostgreSQL server, and queries on it that are prepared once. It waits for answers, though never
// longer than its owner wants (`stop`) or the server is likely to need. One thread at a time.
//
// Errors are StoreErrors. kInterrupted means that the transaction was not made and may be tried again, after rollback()
// or on a new connection: is_lost() tells which.
#pragma once

#include "clock.hpp"
#include "memory/postgresql/postgresql_library.hpp"
#include "memory/store.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace rkllm_mcp::memory::postgresql {

// What a query has given. Belongs to the connection's thread; the connection outlives it.
class Rows {
 public:
  Rows(const Library& library, PGresult* result) : library_(&library), result_(result, library.clear) {}

  int count() const { return library_->rows(result_.get()); }
  bool is_empty() const { return count() == 0; }
  std::int64_t changed() const;  // rows, by an UPDATE, INSERT or DELETE
  std::int64_t integer(int row, int column) const;
  std::string text(int row, int column) const;
  bool is_null(int row, int column) const { return library_->is_null(result_.get(), row, column) == 1; }

 private:
  friend class Connection;
  const Library* library_;
  std::unique_ptr<PGresult, decltype(&::PQclear)> result_;
};

class Connection {
 public:
  // `address` is as PostgreSQL has it, "postgresql://user@host:port/database?options". `stop` becomes true when nothing
  // is to be waited for any more; null: never. It outlives the connection.
  Connection(const std::string& address, const std::atomic<bool>* stop);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  // A query with parameters $1, $2, …; its text is a literal, by whose address it is prepared once.
  template <class... Values>
  Rows run(const char* sql, const Values&... values) {
    const std::array<std::string, sizeof...(Values)> texts{as_text(values)...};
    return run_prepared(sql, texts.data(), texts.size());
  }
  // Several statements, separated by semicolons; gives what the last one has given.
  Rows run_script(const std::string& sql);
  // Whether a COMMIT that was the script's last statement has committed.
  bool has_committed(const Rows& last) const;

  bool is_lost() const { return is_lost_; }
  bool is_in_transaction() const;

 private:
  static std::string as_text(std::int64_t value) { return std::to_string(value); }
  static std::string as_text(std::string_view text) { return std::string(text); }

  void connect(const std::string& address);
  Rows run_prepared(const char* sql, const std::string* texts, std::size_t count);
  Rows await_answer(int was_sent);
  void send_all();
  // Waits until the socket can be read (or written); throws if nothing is to be waited for any more.
  void await_socket(short events, Clock::time_point deadline);
  [[noreturn]] void fail(const PGresult* result);
  [[noreturn]] void lose(const std::string& why);

  const Library library_;
  const std::string shown_;
  const std::atomic<bool>* const stop_;
  PGconn* connection_ = nullptr;
  bool is_lost_ = false;
  std::set<const char*> prepared_;
};

}  // namespace rkllm_mcp::memory::postgresql
