// Conversations in a SQLite file: WAL, synchronous=FULL, so that what commit() has returned for survives a power cut.
// One writer and any number of readers may have the file open, in this process and in others. With the file's tables,
// which a store makes or brings up to date as it opens.
#pragma once

#include "memory/sqlite/search_tokenizer.hpp"
#include "memory/sqlite/sqlite_connection.hpp"
#include "memory/store.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::memory {

class SqliteStore final : public Store {
 public:
  enum class Use { kWriting, kReading };

  // Opens the file. A writer makes it and brings it up to date; a reader relies on that, and checks nothing. ":memory:"
  // is a store of this object's own. Throws StoreError, and has changed nothing then.
  SqliteStore(const Connection::Options& options, Use use);

  void begin() override { db_.run("BEGIN IMMEDIATE"); }
  void begin_reading() override { db_.run("BEGIN"); }
  void commit() override { db_.run("COMMIT"); }
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
  std::optional<Row> row_of(const Key& key);
  Row row_or_new(const Key& key, Milliseconds time);
  std::int64_t new_log();
  void drop_log(std::int64_t log);
  void index(const char* how, std::int64_t number, std::string_view searched, const std::string& space_word);
  std::vector<StoredMessage> between(std::int64_t log, std::int64_t after, std::int64_t until, const Limits& limits);

  SearchTokenizer tokenizer_;  // before the connection, which uses it
  Connection db_;
};

// --- what is in the file, by version, and what may not be touched because it is not ours

// Throws StoreError if there is a file at `path` that is no store of this program: another program's database, or
// something that is no database. Reads its first bytes and changes nothing.
void refuse_foreign_file(const std::string& path);

// Makes the file, closed to other users, if there is none; and its folder.
void make_private_file(const std::string& path);

// Brings the file to the version that this program writes. Throws StoreError if it was written by a newer one.
void migrate(Connection& db);

}  // namespace rkllm_mcp::memory
