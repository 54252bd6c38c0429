#include "memory/postgresql/postgresql_store.hpp"

#include "clock.hpp"
#include "jsonrpc/unread.hpp"
#include "random_bytes.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

namespace rkllm_mcp::memory::postgresql {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
// How long a lost server is waited for: as long as one takes that was killed and recovers.
constexpr std::chrono::seconds kForTheServer{10};
constexpr std::chrono::milliseconds kBetweenTries{50};
// What a message, or a conversation, takes besides its texts, about. The tables' second version has counted the
// conversations of the first with the same (postgresql_schema.cpp).
constexpr std::int64_t kBytesOfRow = 200;

std::int64_t bytes_in(std::string_view text) { return static_cast<std::int64_t>(text.size()); }

// Columns 0 to 4 are those of a message.
StoredMessage message_in(const Rows& rows, int row) {
  StoredMessage message;
  message.seq = rows.integer(row, 0);
  message.role = static_cast<Role>(rows.integer(row, 1));
  message.content = rows.text(row, 2);
  message.metadata = rows.text(row, 3);
  message.created = rows.integer(row, 4);
  return message;
}

// Columns 0 to 8 are those of a conversation.
Conversation conversation_in(const Rows& rows, int row) {
  Conversation found;
  found.place = rows.integer(row, 0);
  found.key = {rows.text(row, 1), rows.text(row, 2)};
  found.title = rows.text(row, 3);
  found.messages = rows.integer(row, 4) - rows.integer(row, 5);
  found.bytes = rows.integer(row, 6);
  found.created = rows.integer(row, 7);
  found.updated = rows.integer(row, 8);
  return found;
}

// What is imported waits in a space whose name ends with that of the one it is for (transfer.hpp), and is found there.
std::string_view searched_space(std::string_view space) {
  const auto mark = space.rfind('\x01');
  return space.substr(mark == std::string_view::npos ? 0 : mark + 1);
}

// PostgreSQL keeps no other texts and refuses to look for them, so that there is no such conversation.
bool may_exist(const Key& key) {
  const auto is_text = [](const std::string& text) {
    return is_valid_utf8(text) && text.find('\0') == std::string::npos;
  };
  return is_text(key.space) && is_text(key.id);
}

}  // namespace

struct PostgresqlStore::Row {
  std::int64_t number;
  std::int64_t log;
  std::int64_t first_seq;
  std::int64_t next_seq;
  std::int64_t covers_seq;
  std::int64_t title_bytes = 0;
  std::int64_t summary_bytes = 0;

  std::int64_t bytes() const { return kBytesOfRow + title_bytes + summary_bytes; }  // as store.bytes has it
};

PostgresqlStore::PostgresqlStore(Options options, Use use)
    : options_(std::move(options)),
      use_(use),
      writer_(new_id()),
      db_(std::make_unique<Connection>(options_.address, options_.stop)) {
  if (use_ == Use::kReading) return;
  migrate(*db_);
  db_->run("DELETE FROM writer WHERE seen < now() - interval '1 day'");
}

// --- connection and transactions ------------------------------------------------------------------------------------

Connection& PostgresqlStore::db() {
  if (!db_) connect_patiently();
  return *db_;
}

void PostgresqlStore::connect_patiently() {
  const auto deadline = Clock::now() + (was_refused_ ? std::chrono::seconds(0) : kForTheServer);
  db_.reset();
  while (true) {
    try {
      db_ = std::make_unique<Connection>(options_.address, options_.stop);
      was_refused_ = false;
      return;
    } catch (const StoreError& error) {
      if (options_.stop != nullptr && options_.stop->load()) throw;
      if (Clock::now() >= deadline) {
        was_refused_ = true;
        throw StoreError(StoreError::Kind::kUnavailable, error.what());
      }
    }
    std::this_thread::sleep_for(kBetweenTries);
  }
}

void PostgresqlStore::begin_writing() {
  if (!db_ || db_->is_lost()) connect_patiently();
  has_changed_ = false;
  more_bytes_ = 0;
  const Rows rows = db_->run_script("BEGIN; SELECT pg_advisory_xact_lock(" + std::to_string(kLocks) + ", " +
                                    std::to_string(kWritersLock) + "); SELECT bytes FROM store");
  bytes_before_ = rows.integer(0, 0);
}

void PostgresqlStore::begin() {
  if (use_ == Use::kReading) throw std::logic_error("a store that was opened for reading");
  begin_writing();
}

void PostgresqlStore::begin_reading() {
  if (!db_ || db_->is_lost()) connect_patiently();
  has_changed_ = false;
  db_->run_script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
}

void PostgresqlStore::commit() {
  std::string script = "COMMIT";
  if (has_changed_) {
    ++group_;
    const std::string group = std::to_string(group_);
    script = "UPDATE store SET bytes = bytes + " + std::to_string(more_bytes_) + "; INSERT INTO writer VALUES('" +
             writer_ + "', " + group + ", now()) ON CONFLICT(name) DO UPDATE SET last_group = " + group +
             ", seen = now(); COMMIT";
  }
  try {
    const Rows last = db().run_script(script);
    if (db().has_committed(last)) return;
  } catch (const StoreError&) {
    if (!has_changed_ || !db().is_lost()) throw;
    if (was_committed()) return;
  }
  throw StoreError(StoreError::Kind::kInterrupted, "the transaction was not committed");
}

// The connection was lost during a COMMIT. begin_writing() waits for the writers' lock, which the old session holds
// until the server has committed or rolled back.
bool PostgresqlStore::was_committed() {
  constexpr int kMostTries = 5;  // the new connection may be lost as well
  for (int tried = 1;; ++tried) {
    try {
      begin_writing();
      const Rows rows = db().run("SELECT last_group FROM writer WHERE name = $1", writer_);
      rollback();
      return !rows.is_empty() && rows.integer(0, 0) == group_;
    } catch (const StoreError& error) {
      if (error.kind() == StoreError::Kind::kInterrupted && tried < kMostTries) continue;
      throw StoreError(
          StoreError::Kind::kUnknown,
          std::string("it is not known whether this was written: the connection was lost, and then ") + error.what());
    }
  }
}

void PostgresqlStore::rollback() noexcept {
  if (!db_ || db_->is_lost() || !db_->is_in_transaction()) return;
  try {
    db_->run_script("ROLLBACK");
  } catch (const std::exception&) {
    db_.reset();  // which ends the transaction as well
  }
}

// --- writes ---------------------------------------------------------------------------------------------------------

std::optional<PostgresqlStore::Row> PostgresqlStore::row_of(const Key& key) {
  if (!may_exist(key)) return std::nullopt;
  const Rows rows = db().run(
      "SELECT number, log, first_seq, next_seq, covers_seq, octet_length(title), "
      "octet_length(coalesce(summary, '')) FROM conversation WHERE space = $1 AND id = $2",
      key.space, key.id);
  if (rows.is_empty()) return std::nullopt;
  return Row{rows.integer(0, 0), rows.integer(0, 1), rows.integer(0, 2), rows.integer(0, 3),
             rows.integer(0, 4), rows.integer(0, 5), rows.integer(0, 6)};
}

PostgresqlStore::Row PostgresqlStore::row_or_new(const Key& key, Milliseconds time) {
  if (const auto row = row_of(key)) return *row;
  has_changed_ = true;
  const Rows made = db().run(
      "INSERT INTO conversation(space, id, created_ms, updated_ms) VALUES($1, $2, $3, $3) RETURNING number, log",
      key.space, key.id, time);
  Row row{made.integer(0, 0), made.integer(0, 1), 1, 1, 0};
  more_bytes_ += row.bytes();
  return row;
}

bool PostgresqlStore::create(const Key& key, Milliseconds time) {
  if (row_of(key)) return false;
  row_or_new(key, time);
  return true;
}

// One statement, so that it is one message there and back.
std::int64_t PostgresqlStore::append(const Key& key, const NewMessage& message) {
  has_changed_ = true;
  const std::string words = words_.array_of(message.content, searched_space(key.space));
  const std::int64_t content_bytes = bytes_in(message.content);
  const std::int64_t size = content_bytes + bytes_in(message.metadata) + bytes_in(words) + kBytesOfRow;
  const Rows made = db().run(
      "WITH known AS (UPDATE conversation SET next_seq = next_seq + 1, bytes = bytes + $3, "
      "updated_ms = greatest(updated_ms, $4) WHERE space = $1 AND id = $2 RETURNING log, next_seq - 1 AS seq), "
      "made AS (INSERT INTO conversation(space, id, next_seq, bytes, created_ms, updated_ms) "
      "SELECT $1, $2, 2, $3, $4, $4 WHERE NOT EXISTS(SELECT FROM known) RETURNING log, 1::bigint AS seq), "
      "place AS (SELECT log, seq FROM known UNION ALL SELECT log, seq FROM made), "
      "added AS (INSERT INTO message(log, seq, role, content, metadata, size, words, created_ms) "
      "SELECT log, seq, $5::bigint, $6::text, $7::text, $8::bigint, array_to_tsvector($9::text[]), $4 FROM place "
      "RETURNING seq) SELECT added.seq, (SELECT count(*) FROM made) FROM added",
      key.space, key.id, content_bytes, message.created, static_cast<std::int64_t>(message.role), message.content,
      message.metadata, size, words);
  more_bytes_ += size + made.integer(0, 1) * kBytesOfRow;
  return made.integer(0, 0);
}

void PostgresqlStore::set_summary(const Key& key, const std::string& text, std::int64_t recent, Milliseconds time) {
  const Row row = row_or_new(key, time);
  has_changed_ = true;
  const std::int64_t covers = text.empty() ? 0 : std::max<std::int64_t>(row.next_seq - 1 - recent, 0);
  db().run(
      "UPDATE conversation SET summary = $2, covers_seq = $3, summary_ms = $4, "
      "updated_ms = greatest(updated_ms, $4) WHERE number = $1",
      row.number, text, covers, time);
  more_bytes_ += bytes_in(text) - row.summary_bytes;
}

void PostgresqlStore::put_summary(const Key& key, const Summary& summary) {
  const auto row = row_of(key);
  if (!row) throw no_such_conversation(key.id);
  has_changed_ = true;
  const std::int64_t covers = summary.covers == 0 ? 0 : row->first_seq - 1 + summary.covers;
  db().run("UPDATE conversation SET summary = $2, covers_seq = $3, summary_ms = $4 WHERE number = $1", row->number,
           summary.text, std::min(covers, row->next_seq - 1), summary.updated);
  more_bytes_ += bytes_in(summary.text) - row->summary_bytes;
}

bool PostgresqlStore::rename(const Key& key, const std::string& title) {
  const auto row = row_of(key);
  if (!row) return false;
  has_changed_ = true;
  db().run("UPDATE conversation SET title = $2 WHERE number = $1", row->number, title);
  more_bytes_ += bytes_in(title) - row->title_bytes;
  return true;
}

void PostgresqlStore::drop_log(std::int64_t log) {
  has_changed_ = true;
  db().run("INSERT INTO dropped_log VALUES($1)", log);
}

bool PostgresqlStore::clear(const Key& key, Milliseconds time) {
  const auto row = row_of(key);
  if (!row) return false;
  drop_log(row->log);
  db().run(
      "UPDATE conversation SET log = nextval('log_number'), first_seq = next_seq, bytes = 0, summary = NULL, "
      "covers_seq = 0, summary_ms = 0, updated_ms = greatest(updated_ms, $2) WHERE number = $1",
      row->number, time);
  more_bytes_ -= row->summary_bytes;
  return true;
}

bool PostgresqlStore::remove(const Key& key) {
  const auto row = row_of(key);
  if (!row) return false;
  drop_log(row->log);
  db().run("DELETE FROM conversation WHERE number = $1", row->number);
  more_bytes_ -= row->bytes();
  return true;
}

void PostgresqlStore::move_space(const std::string& from, const std::string& to) {
  const Rows taken = db().run(
      "SELECT one.id FROM conversation one JOIN conversation other ON other.id = one.id "
      "WHERE one.space = $1 AND other.space = $2 LIMIT 1",
      from, to);
  if (!taken.is_empty()) {
    const std::string id = taken.text(0, 0);
    throw RpcError(ErrorCode::kInvalidParams, "the conversation " + to_text(shortened(id)) + " exists already",
                   Json{{"conversation_id", id}});
  }
  has_changed_ = true;
  db().run("UPDATE conversation SET space = $2 WHERE space = $1", from, to);
}

// --- housekeeping ---------------------------------------------------------------------------------------------------

bool PostgresqlStore::purge(std::int64_t messages) {
  const Rows dropped = db().run("SELECT number FROM dropped_log LIMIT 1");
  if (dropped.is_empty()) return false;
  has_changed_ = true;
  const std::int64_t log = dropped.integer(0, 0);
  const Rows gone = db().run(
      "WITH gone AS (DELETE FROM message WHERE log = $1 AND seq IN "
      "(SELECT seq FROM message WHERE log = $1 ORDER BY seq LIMIT $2) RETURNING size) "
      "SELECT count(*), coalesce(sum(size), 0) FROM gone",
      log, messages);
  more_bytes_ -= gone.integer(0, 1);
  if (gone.integer(0, 0) < messages) db().run("DELETE FROM dropped_log WHERE number = $1", log);
  return true;
}

std::int64_t PostgresqlStore::forget_before(Milliseconds time, std::int64_t most, const std::string& spaces) {
  const Rows old = db().run(
      "SELECT space, id FROM conversation WHERE updated_ms < $1 AND starts_with(space, $3) "
      "AND NOT starts_with(space, $4) ORDER BY updated_ms LIMIT $2",
      time, most, spaces, kWaitingSpaces);
  for (int row = 0; row < old.count(); ++row) remove({old.text(row, 0), old.text(row, 1)});
  return old.count();
}

bool PostgresqlStore::forget_oldest() { return forget_before(kEnd, 1, {}) > 0; }

std::int64_t PostgresqlStore::used_bytes() {
  if (use_ == Use::kWriting && db().is_in_transaction()) return bytes_before_ + more_bytes_;
  return db().run("SELECT bytes FROM store").integer(0, 0);
}

// PostgreSQL looks after its files itself.
void PostgresqlStore::check() { used_bytes(); }

// --- reads ----------------------------------------------------------------------------------------------------------

std::optional<Conversation> PostgresqlStore::find(const Key& key) {
  if (!may_exist(key)) return std::nullopt;
  const Rows rows = db().run(
      "SELECT number, space, id, title, next_seq, first_seq, bytes, created_ms, updated_ms FROM conversation "
      "WHERE space = $1 AND id = $2",
      key.space, key.id);
  if (rows.is_empty()) return std::nullopt;
  return conversation_in(rows, 0);
}

// Sizes first, which takes no texts: so the server does not send what is not wanted. between() and search() do the
// same.
std::vector<StoredMessage> PostgresqlStore::recent(const Key& key, const Limits& limits) {
  if (!may_exist(key)) return {};
  const Rows rows = db().run(
      "WITH newest AS (SELECT m.log, m.seq, octet_length(m.content) + octet_length(m.metadata) AS bytes "
      "FROM conversation c JOIN message m ON m.log = c.log WHERE c.space = $1 AND c.id = $2 "
      "ORDER BY m.seq DESC LIMIT $3), "
      "sized AS (SELECT log, seq, row_number() OVER page AS nth, sum(bytes) OVER page AS bytes_so_far FROM newest "
      "WINDOW page AS (ORDER BY seq DESC)) "
      "SELECT m.seq, m.role, m.content, m.metadata, m.created_ms FROM sized s "
      "JOIN message m ON m.log = s.log AND m.seq = s.seq WHERE s.nth = 1 OR s.bytes_so_far <= $4 ORDER BY m.seq",
      key.space, key.id, limits.count, limits.bytes);
  std::vector<StoredMessage> messages;
  for (int row = 0; row < rows.count(); ++row) messages.push_back(message_in(rows, row));
  return messages;
}

std::vector<StoredMessage> PostgresqlStore::between(std::int64_t log, std::int64_t after, std::int64_t until,
                                                    const Limits& limits) {
  const Rows rows = db().run(
      "SELECT seq, role, content, metadata, created_ms FROM message WHERE log = $1 AND seq IN "
      "(SELECT seq FROM (SELECT seq, row_number() OVER page AS nth, "
      "sum(octet_length(content) + octet_length(metadata)) OVER page AS bytes FROM message "
      "WHERE log = $1 AND seq > $2 AND seq <= $3 WINDOW page AS (ORDER BY seq) ORDER BY seq LIMIT $4) sized "
      "WHERE nth = 1 OR bytes <= $5) ORDER BY seq",
      log, after, until, limits.count, limits.bytes);
  std::vector<StoredMessage> messages;
  for (int row = 0; row < rows.count(); ++row) messages.push_back(message_in(rows, row));
  return messages;
}

std::vector<StoredMessage> PostgresqlStore::messages(const Key& key, std::int64_t after, const Limits& limits) {
  const auto row = row_of(key);
  return row ? between(row->log, after, kEnd, limits) : std::vector<StoredMessage>();
}

std::vector<StoredMessage> PostgresqlStore::old(const Key& key, std::int64_t recent, const Limits& limits) {
  const auto row = row_of(key);
  if (!row) return {};
  return between(row->log, row->covers_seq, row->next_seq - 1 - recent, limits);
}

std::optional<Summary> PostgresqlStore::summary(const Key& key) {
  if (!may_exist(key)) return std::nullopt;
  const Rows rows =
      db().run("SELECT summary, covers_seq, first_seq, summary_ms FROM conversation WHERE space = $1 AND id = $2",
               key.space, key.id);
  if (rows.is_empty() || rows.is_null(0, 0)) return std::nullopt;
  const std::int64_t covers = rows.integer(0, 1) == 0 ? 0 : rows.integer(0, 1) - rows.integer(0, 2) + 1;
  return Summary{rows.text(0, 0), std::max<std::int64_t>(covers, 0), rows.integer(0, 3)};
}

std::vector<Conversation> PostgresqlStore::list(const std::string& space, std::int64_t before, std::int64_t count) {
  const Rows rows = db().run(
      "SELECT number, space, id, title, next_seq, first_seq, bytes, created_ms, updated_ms FROM conversation "
      "WHERE space = $1 AND number < $2 ORDER BY number DESC LIMIT $3",
      space, before > 0 ? before : kEnd, count);
  std::vector<Conversation> conversations;
  for (int row = 0; row < rows.count(); ++row) conversations.push_back(conversation_in(rows, row));
  return conversations;
}

std::vector<std::string> PostgresqlStore::spaces() {
  const Rows rows = db().run("SELECT DISTINCT space FROM conversation ORDER BY space");
  std::vector<std::string> spaces;
  for (int row = 0; row < rows.count(); ++row) spaces.push_back(rows.text(row, 0));
  return spaces;
}

SearchPage PostgresqlStore::search(const std::string& space, const Search& search) {
  const std::string query = words_.query_of(search.text, space, search.fold);
  if (query.empty()) throw InvalidParams("params.query", "expected a word to search for");
  // left() counts characters, of which there are no more than bytes.
  const Rows rows = db().run(
      "WITH matching AS (SELECT m.log, m.seq, m.number, c.id, "
      "least(octet_length(m.content), $6::integer) + octet_length(m.metadata) AS bytes "
      "FROM message m JOIN conversation c ON c.log = m.log WHERE m.words @@ $1::tsquery AND m.number < $2 "
      "AND c.space = $3 AND ($4 = '' OR c.id = $4) ORDER BY m.number DESC LIMIT $5::bigint + 1), "
      "sized AS (SELECT log, seq, id, row_number() OVER page AS nth, sum(bytes) OVER page AS bytes_so_far "
      "FROM matching WINDOW page AS (ORDER BY number DESC)) "
      "SELECT m.seq, m.role, left(m.content, $6::integer), m.metadata, m.created_ms, m.number, s.id, "
      "(octet_length(m.content) > $6::integer)::integer, (SELECT count(*) FROM matching) "
      "FROM sized s JOIN message m ON m.log = s.log AND m.seq = s.seq "
      "WHERE s.nth = 1 OR (s.nth <= $5::bigint AND s.bytes_so_far <= $7) ORDER BY m.number DESC",
      query, search.before > 0 ? search.before : kEnd, space, search.id, search.count, search.content_bytes,
      search.bytes);
  SearchPage page;
  for (int row = 0; row < rows.count(); ++row) {
    Hit hit{rows.text(row, 6), message_in(rows, row), rows.integer(row, 5), rows.integer(row, 7) == 1};
    std::string& content = hit.message.content;
    content.resize(beginning_of(content, static_cast<std::size_t>(search.content_bytes)).size());
    page.hits.push_back(std::move(hit));
  }
  page.is_more = !rows.is_empty() && rows.integer(0, 8) > rows.count();
  return page;
}

}  // namespace rkllm_mcp::memory::postgresql
