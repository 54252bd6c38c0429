// Conversations in a PostgreSQL database, which several instances of this program may share.
//
// Whoever writes holds one lock of the database from begin() to commit(), so that the messages of a conversation, and
// the places in lists and searches, have one order for everybody, and no two writers can block each other.
//
// A lost connection is made anew: by begin(), which waits a while for a server that starts again, and by commit(),
// which then looks whether its transaction was committed. Nothing is written twice for that.
//
// With the words that its search finds texts by, and its tables, which a store makes or brings up to date as it opens.
#pragma once

#include "memory/postgresql/postgresql_connection.hpp"
#include "memory/sqlite/search_tokenizer.hpp"
#include "memory/sqlite/sqlite_connection.hpp"
#include "memory/store.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::memory::postgresql {

// How PostgreSQL searches for the same words as SQLite does: texts are taken apart here, by the same code, and
// PostgreSQL only keeps and compares what comes out. Each word is there as it is written, and once more without
// diacritics, behind a mark, if that differs (see sqlite/search_tokenizer.hpp). One thread at a time.
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

class PostgresqlStore final : public Store {
 public:
  struct Options {
    std::string address;
    const std::atomic<bool>* stop = nullptr;  // as for Connection
  };
  enum class Use { kWriting, kReading };

  // A writer brings the database up to date; a reader relies on that, and checks nothing. Throws StoreError.
  PostgresqlStore(Options options, Use use);

  void begin() override;
  void begin_reading() override;
  void commit() override;
  void rollback() noexcept override;

  bool create(const Key& key, Milliseconds time) override;
  std::int64_t append(const Key& key, const NewMessage& message) override;
  void set_summary(const Key& key, const std::string& text, std::int64_t recent, Milliseconds time) override;
  void put_summary(const Key& key, const Summary& summary) override;
  bool rename(const Key& key, const std::string& title) override;
  bool clear(const Key& key, Milliseconds time) override;
  bool remove(const Key& key) override;
  void move_space(const std::string& from, const std::string& to) override;

  bool purge(std::int64_t messages) override;
  std::int64_t forget_before(Milliseconds time, std::int64_t most, const std::string& spaces) override;
  bool forget_oldest() override;
  std::int64_t used_bytes() override;
  void check() override;

  std::optional<Conversation> find(const Key& key) override;
  std::vector<StoredMessage> recent(const Key& key, const Limits& limits) override;
  std::vector<StoredMessage> messages(const Key& key, std::int64_t after, const Limits& limits) override;
  std::vector<StoredMessage> old(const Key& key, std::int64_t recent, const Limits& limits) override;
  std::optional<Summary> summary(const Key& key) override;
  std::vector<Conversation> list(const std::string& space, std::int64_t before, std::int64_t count) override;
  std::vector<std::string> spaces() override;
  SearchPage search(const std::string& space, const Search& search) override;

 private:
  struct Row;
  Connection& db();
  void connect_patiently();
  void begin_writing();
  bool was_committed();
  std::optional<Row> row_of(const Key& key);
  Row row_or_new(const Key& key, Milliseconds time);
  void drop_log(std::int64_t log);
  std::vector<StoredMessage> between(std::int64_t log, std::int64_t after, std::int64_t until, const Limits& limits);

  const Options options_;
  const Use use_;
  const Words words_;
  const std::string writer_;  // this store's name among all that write to the database
  std::int64_t group_ = 0;    // number of the transaction, as `writer` in the database has it
  std::unique_ptr<Connection> db_;
  bool was_refused_ = false;  // the server could not be reached the last time: nobody waits for it again

  // What the transaction under way has done.
  bool has_changed_ = false;
  std::int64_t bytes_before_ = 0;
  std::int64_t more_bytes_ = 0;
};

// --- what is in the database, by version: tables in a schema of their own, "rkllm_mcp"

// One number names this program's locks in the database, the other what is locked.
inline constexpr int kLocks = 0x726b6d6d;
inline constexpr int kWritersLock = 1;
inline constexpr int kMigrationLock = 2;

// Brings the database to the version that this program writes; another process that does the same meanwhile is waited
// for. Throws StoreError if a newer program has written it, or if the schema is another program's.
void migrate(Connection& db);

}  // namespace rkllm_mcp::memory::postgresql
