#include "memory/sqlite/sqlite_connection.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

namespace rkllm_mcp::memory {
namespace {

constexpr std::chrono::milliseconds kPatienceWhenBusy{5000};
constexpr std::chrono::milliseconds kBetweenLooks{5};

// Called by SQLite while another program holds the file: 1 to wait on, 0 to give up. `times`: how often it was called.
int wait_when_busy(void* stop, int times) {
  const auto* const stopping = static_cast<const std::atomic<bool>*>(stop);
  if (stopping != nullptr && stopping->load()) return 0;
  if (times * kBetweenLooks >= kPatienceWhenBusy) return 0;
  std::this_thread::sleep_for(kBetweenLooks);
  return 1;
}

// Called by SQLite now and then during a query: 1 to end the query, 0 to go on.
int ends_when_stopping(void* stop) { return static_cast<const std::atomic<bool>*>(stop)->load() ? 1 : 0; }

StoreError::Kind kind_of(int code) {
  constexpr int kPrimary = 0xff;
  switch (code & kPrimary) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_INTERRUPT: return StoreError::Kind::kBusy;
    case SQLITE_FULL: return StoreError::Kind::kNoSpace;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return StoreError::Kind::kDamaged;
    default: return StoreError::Kind::kUnavailable;
  }
}

std::string advice(int code) {
  constexpr int kPrimary = 0xff;
  switch (code & kPrimary) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "; another program holds it: try again later";
    case SQLITE_FULL: return "; there is no space left on its disk";
    case SQLITE_READONLY: return "; it cannot be written";
    case SQLITE_CANTOPEN: return "; look at its folder, and at who may write there";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "; the file is left as it is: move it away or put a copy of it in its place, or name another with "
             "memory.database";
    default: return "";
  }
}

}  // namespace

Connection::Connection(const Options& options) : path_(options.path), stop_(options.stop) {
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path_.c_str(), &db_, kFlags, options.vfs);
  if (code != SQLITE_OK) {
    const std::string why = db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_);
    sqlite3_close_v2(db_);
    if (code == SQLITE_NOMEM) throw std::bad_alloc();
    throw StoreError(kind_of(code), path_ + ": " + why + advice(code));
  }
  sqlite3_busy_handler(db_, wait_when_busy, const_cast<std::atomic<bool>*>(stop_));
  constexpr int kInstructionsBetweenLooks = 100'000;
  if (stop_ != nullptr) {
    sqlite3_progress_handler(db_, kInstructionsBetweenLooks, ends_when_stopping, const_cast<std::atomic<bool>*>(stop_));
  }
}

Connection::~Connection() {
  statements_.clear();
  sqlite3_close_v2(db_);
}

void Connection::fail(int code) const {
  constexpr int kPrimary = 0xff;
  if ((code & kPrimary) == SQLITE_NOMEM) throw std::bad_alloc();
  throw StoreError(kind_of(code), path_ + ": " + sqlite3_errmsg(db_) + advice(code));
}

void Connection::run(const char* sql) {
  const int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(code);
}

std::int64_t Connection::number(const char* sql) {
  Query query(*this, sql);
  return query.next() ? query.integer(0) : 0;
}

sqlite3_stmt* Connection::compiled(const char* sql) {
  auto& statement = statements_[sql];
  if (!statement) {
    sqlite3_stmt* made = nullptr;
    const int code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (code != SQLITE_OK) {
      statements_.erase(sql);
      fail(code);
    }
    statement.reset(made);
  }
  return statement.get();
}

bool Query::next() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  db_.fail(code);
}

std::string_view Query::view(int column) const {
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

void Query::bind(int at, std::string_view text) {
  check(
      sqlite3_bind_text64(statement_, at, text.empty() ? "" : text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8));
}

}  // namespace rkllm_mcp::memory
