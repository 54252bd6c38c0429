// Conversations in a PostgreSQL database, which several instances of this program may share.
//
// Whoever writes holds one lock of the database from begin() to commit(), so that the messages of a conversation, and
// the places in lists and searches, have one order for everybody, and no two writers can block each other.
//
// A lost connection is made anew: by begin(), which waits a while for a server that starts again, and by commit(),
// which then looks whether its transaction was committed. Nothing is written twice for that.
#pragma once

#include "memory/postgresql/postgresql_connection.hpp"
#include "memory/postgresql/words.hpp"
#include "memory/store.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rkllm_mcp::memory::postgresql {

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
  std::vector<StoredMessage> recent(const Key& key, std::int64_t count) override;
  std::vector<StoredMessage> messages(const Key& key, std::int64_t after, const Limits& limits) override;
  std::vector<StoredMessage> old(const Key& key, std::int64_t recent, const Limits& limits) override;
  std::optional<Summary> summary(const Key& key) override;
  std::vector<Conversation> list(const std::string& space, std::int64_t before, std::int64_t count) override;
  std::vector<std::string> spaces() override;
  std::vector<Hit> search(const std::string& space, const Search& search) override;

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

}  // namespace rkllm_mcp::memory::postgresql
