#include "memory/sqlite/sqlite_store.hpp"

#include "jsonrpc/unread.hpp"
#include "memory/folding.hpp"
#include "text/ascii.hpp"
#include "text/sha256.hpp"
#include "text/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>

namespace rkllm_mcp::memory {
namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
constexpr const char* kInMemory = ":memory:";
// Pages that are given back to the file system at a time.
constexpr std::int64_t kPagesPerPurge = 256;
// Texts of removed messages that are held at a time, about.
constexpr std::size_t kTextPerPurge = std::size_t{8} << 20U;

// A word by which the full-text index knows a space: whatever its name is, it is letters and digits.
std::string word_of_space(std::string_view space) {
  constexpr std::size_t kBytes = 8;
  const Sha256 hash = sha256(space);
  return "s" + in_hexadecimal(std::span(hash).first(kBytes));
}

// As FTS5 reads it: each word quoted, all of them wanted.
std::string match_expression(const std::vector<std::string>& words, const std::string& space_word) {
  std::string text = "space_word : \"" + space_word + "\" AND content : (";
  for (const auto& word : words) {
    if (&word != &words.front()) text += " AND ";
    text += '"';
    for (const char c : word) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    text += '"';
  }
  return text + ")";
}

const Connection::Options& made_ready(const Connection::Options& options, SqliteStore::Use use) {
  if (options.path != kInMemory && use == SqliteStore::Use::kWriting) {
    refuse_foreign_file(options.path);
    make_private_file(options.path);
  }
  return options;
}

std::int64_t bytes_of(std::string_view text) { return static_cast<std::int64_t>(text.size()); }

// Columns 0 to 4 of a query are those of a message. `content` is as much of its content as is wanted.
StoredMessage message_in(const Query& query, std::string_view content) {
  StoredMessage message;
  message.seq = query.integer(0);
  message.role = static_cast<Role>(query.integer(1));
  message.content = content;
  message.metadata = query.text(3);
  message.created = query.integer(4);
  return message;
}

// As many of a query's messages as have so many bytes together; one at least.
std::vector<StoredMessage> messages_in(Query& query, std::int64_t most_bytes) {
  std::vector<StoredMessage> messages;
  std::int64_t bytes = 0;
  while (query.next()) {
    bytes += bytes_of(query.view(2)) + bytes_of(query.view(3));
    if (bytes > most_bytes && !messages.empty()) break;
    messages.push_back(message_in(query, query.view(2)));
  }
  return messages;
}

// Columns 0 to 8 are those of a conversation.
Conversation conversation_in(const Query& query) {
  Conversation found;
  found.place = query.integer(0);
  found.key = {query.text(1), query.text(2)};
  found.title = query.text(3);
  found.messages = query.integer(4) - query.integer(5);
  found.bytes = query.integer(6);
  found.created = query.integer(7);
  found.updated = query.integer(8);
  return found;
}

}  // namespace

struct SqliteStore::Row {
  std::int64_t number;
  std::int64_t log;
  std::int64_t first_seq;
  std::int64_t next_seq;
  std::int64_t covers_seq;
};

SqliteStore::SqliteStore(const Connection::Options& options, Use use) : db_(made_ready(options, use)) {
  tokenizer_.add_to(db_);
  if (use == Use::kReading) {
    db_.run("PRAGMA query_only = ON");
    return;
  }
  if (db_.is_read_only()) {
    throw StoreError(StoreError::Kind::kUnavailable, options.path + " cannot be written: look at who may write it");
  }
  migrate(db_);
  db_.run("PRAGMA journal_mode = WAL");
  db_.run("PRAGMA synchronous = FULL");
  // What the log file is cut back to when it has been copied into the database.
  db_.run("PRAGMA journal_size_limit = 67108864");
}

void SqliteStore::rollback() noexcept {
  if (db_.is_open_transaction()) sqlite3_exec(db_.raw(), "ROLLBACK", nullptr, nullptr, nullptr);
}

std::optional<SqliteStore::Row> SqliteStore::row_of(const Key& key) {
  Query query(db_, "SELECT number, log, first_seq, next_seq, covers_seq FROM conversation WHERE space = ?1 AND id = ?2",
              key.space, key.id);
  if (!query.next()) return std::nullopt;
  return Row{query.integer(0), query.integer(1), query.integer(2), query.integer(3), query.integer(4)};
}

std::int64_t SqliteStore::new_log() {
  Query(db_, "INSERT INTO log(is_dropped) VALUES(0)").run();
  return db_.last_inserted();
}

void SqliteStore::drop_log(std::int64_t log) {
  Query(db_, "UPDATE log SET is_dropped = 1 WHERE number = ?1", log).run();
}

SqliteStore::Row SqliteStore::row_or_new(const Key& key, Milliseconds time) {
  if (const auto row = row_of(key)) return *row;
  const std::int64_t log = new_log();
  Query(db_, "INSERT INTO conversation(space, id, log, created_ms, updated_ms) VALUES(?1, ?2, ?3, ?4, ?4)", key.space,
        key.id, log, time)
      .run();
  return {db_.last_inserted(), log, 1, 1, 0};
}

bool SqliteStore::create(const Key& key, Milliseconds time) {
  if (row_of(key)) return false;
  row_or_new(key, time);
  return true;
}

void SqliteStore::index(const char* how, std::int64_t number, std::string_view searched,
                        const std::string& space_word) {
  if (*how == '\0') {
    Query(db_, "INSERT INTO message_text(rowid, content, space_word) VALUES(?1, ?2, ?3)", number, searched, space_word)
        .run();
  } else {
    Query(db_, "INSERT INTO message_text(message_text, rowid, content, space_word) VALUES('delete', ?1, ?2, ?3)",
          number, searched, space_word)
        .run();
  }
}

std::int64_t SqliteStore::append(const Key& key, const NewMessage& message) {
  const Row row = row_or_new(key, message.created);
  // What is imported waits in a space whose name ends with that of the one it is for (transfer.hpp).
  const auto mark = key.space.rfind('\x01');
  const std::string space_word =
      word_of_space(std::string_view(key.space).substr(mark == std::string::npos ? 0 : mark + 1));
  Query(db_,
        "INSERT INTO message(log, seq, role, content, metadata, space_word, created_ms) "
        "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        row.log, row.next_seq, static_cast<std::int64_t>(message.role), message.content, message.metadata, space_word,
        message.created)
      .run();
  index("", db_.last_inserted(), searched_part(message.content), space_word);
  Query(db_,
        "UPDATE conversation SET next_seq = next_seq + 1, bytes = bytes + ?2, updated_ms = max(updated_ms, ?3) "
        "WHERE number = ?1",
        row.number, static_cast<std::int64_t>(message.content.size()), message.created)
      .run();
  return row.next_seq;
}

void SqliteStore::set_summary(const Key& key, const std::string& text, std::int64_t recent, Milliseconds time) {
  const Row row = row_or_new(key, time);
  const std::int64_t covers = text.empty() ? 0 : std::max<std::int64_t>(row.next_seq - 1 - recent, 0);
  Query(db_,
        "UPDATE conversation SET summary = ?2, covers_seq = ?3, summary_ms = ?4, updated_ms = max(updated_ms, ?4) "
        "WHERE number = ?1",
        row.number, text, covers, time)
      .run();
}

void SqliteStore::put_summary(const Key& key, const Summary& summary) {
  const auto row = row_of(key);
  if (!row) throw no_such_conversation(key.id);
  const std::int64_t covers = summary.covers == 0 ? 0 : row->first_seq - 1 + summary.covers;
  Query(db_, "UPDATE conversation SET summary = ?2, covers_seq = ?3, summary_ms = ?4 WHERE number = ?1", row->number,
        summary.text, std::min(covers, row->next_seq - 1), summary.updated)
      .run();
}

bool SqliteStore::rename(const Key& key, const std::string& title) {
  Query(db_, "UPDATE conversation SET title = ?3 WHERE space = ?1 AND id = ?2", key.space, key.id, title).run();
  return db_.changed() > 0;
}

bool SqliteStore::clear(const Key& key, Milliseconds time) {
  const auto row = row_of(key);
  if (!row) return false;
  drop_log(row->log);
  Query(db_,
        "UPDATE conversation SET log = ?2, first_seq = next_seq, bytes = 0, summary = NULL, covers_seq = 0, "
        "summary_ms = 0, updated_ms = max(updated_ms, ?3) WHERE number = ?1",
        row->number, new_log(), time)
      .run();
  return true;
}

bool SqliteStore::remove(const Key& key) {
  const auto row = row_of(key);
  if (!row) return false;
  drop_log(row->log);
  Query(db_, "DELETE FROM conversation WHERE number = ?1", row->number).run();
  return true;
}

void SqliteStore::move_space(const std::string& from, const std::string& to) {
  {
    Query taken(db_,
                "SELECT one.id FROM conversation one JOIN conversation other ON other.id = one.id "
                "WHERE one.space = ?1 AND other.space = ?2 LIMIT 1",
                from, to);
    if (taken.next()) {
      const std::string id = taken.text(0);
      throw RpcError(ErrorCode::kInvalidParams, "the conversation " + to_text(shortened(id)) + " exists already",
                     Json{{"conversation_id", id}});
    }
  }
  Query(db_, "UPDATE conversation SET space = ?2 WHERE space = ?1", from, to).run();
}

bool SqliteStore::purge(std::int64_t messages) {
  std::int64_t log = 0;
  {
    Query dropped(db_, "SELECT number FROM log WHERE is_dropped = 1 LIMIT 1");
    if (!dropped.next()) {
      if (db_.number("PRAGMA freelist_count") == 0) return false;
      Query(db_, "PRAGMA incremental_vacuum(256)").run();
      return db_.number("PRAGMA freelist_count") >= kPagesPerPurge;
    }
    log = dropped.integer(0);
  }
  struct Removed {
    std::int64_t number;
    std::string searched, space_word;
  };
  std::vector<Removed> removed;
  bool is_last = false;
  {
    Query query(db_, "SELECT number, content, space_word FROM message WHERE log = ?1 LIMIT ?2", log, messages);
    for (std::size_t bytes = 0; bytes < kTextPerPurge; bytes += removed.back().searched.size()) {
      if (!query.next()) {
        is_last = static_cast<std::int64_t>(removed.size()) < messages;
        break;
      }
      removed.push_back({query.integer(0), std::string(searched_part(query.view(1))), query.text(2)});
    }
  }
  for (const Removed& each : removed) {
    index("delete", each.number, each.searched, each.space_word);
    Query(db_, "DELETE FROM message WHERE number = ?1", each.number).run();
  }
  if (is_last) Query(db_, "DELETE FROM log WHERE number = ?1", log).run();
  return true;
}

std::int64_t SqliteStore::forget_before(Milliseconds time, std::int64_t most, const std::string& spaces) {
  std::vector<Key> old;
  {
    Query query(db_,
                "SELECT space, id FROM conversation WHERE updated_ms < ?1 AND substr(space, 1, length(?3)) = ?3 "
                "AND substr(space, 1, length(?4)) <> ?4 ORDER BY updated_ms LIMIT ?2",
                time, most, spaces, kWaitingSpaces);
    while (query.next()) old.push_back({query.text(0), query.text(1)});
  }
  for (const Key& key : old) remove(key);
  return static_cast<std::int64_t>(old.size());
}

bool SqliteStore::forget_oldest() { return forget_before(kEnd, 1, {}) > 0; }

std::int64_t SqliteStore::used_bytes() {
  return (db_.number("PRAGMA page_count") - db_.number("PRAGMA freelist_count")) * db_.number("PRAGMA page_size");
}

void SqliteStore::check() {
  Query query(db_, "PRAGMA quick_check(1)");
  if (!query.next() || query.text(0) == "ok") return;
  throw StoreError(StoreError::Kind::kDamaged,
                   "the file is damaged (" + query.text(0) +
                       "); it is left as it is: move it away or put a copy of it in its place, or name another with "
                       "memory.database");
}

std::optional<Conversation> SqliteStore::find(const Key& key) {
  Query query(db_,
              "SELECT number, space, id, title, next_seq, first_seq, bytes, created_ms, updated_ms FROM conversation "
              "WHERE space = ?1 AND id = ?2",
              key.space, key.id);
  if (!query.next()) return std::nullopt;
  return conversation_in(query);
}

std::vector<StoredMessage> SqliteStore::recent(const Key& key, const Limits& limits) {
  const auto row = row_of(key);
  if (!row) return {};
  Query query(db_,
              "SELECT seq, role, content, metadata, created_ms FROM message WHERE log = ?1 ORDER BY seq DESC LIMIT ?2",
              row->log, limits.count);
  auto messages = messages_in(query, limits.bytes);
  std::ranges::reverse(messages);
  return messages;
}

std::vector<StoredMessage> SqliteStore::between(std::int64_t log, std::int64_t after, std::int64_t until,
                                                const Limits& limits) {
  Query query(db_,
              "SELECT seq, role, content, metadata, created_ms FROM message WHERE log = ?1 AND seq > ?2 AND seq <= ?3 "
              "ORDER BY seq LIMIT ?4",
              log, after, until, limits.count);
  return messages_in(query, limits.bytes);
}

std::vector<StoredMessage> SqliteStore::messages(const Key& key, std::int64_t after, const Limits& limits) {
  const auto row = row_of(key);
  return row ? between(row->log, after, kEnd, limits) : std::vector<StoredMessage>();
}

std::vector<StoredMessage> SqliteStore::old(const Key& key, std::int64_t recent, const Limits& limits) {
  const auto row = row_of(key);
  if (!row) return {};
  return between(row->log, row->covers_seq, row->next_seq - 1 - recent, limits);
}

std::optional<Summary> SqliteStore::summary(const Key& key) {
  Query query(db_, "SELECT summary, covers_seq, first_seq, summary_ms FROM conversation WHERE space = ?1 AND id = ?2",
              key.space, key.id);
  if (!query.next() || query.is_null(0)) return std::nullopt;
  const std::int64_t covers = query.integer(1) == 0 ? 0 : query.integer(1) - query.integer(2) + 1;
  return Summary{query.text(0), std::max<std::int64_t>(covers, 0), query.integer(3)};
}

std::vector<Conversation> SqliteStore::list(const std::string& space, std::int64_t before, std::int64_t count) {
  std::vector<Conversation> conversations;
  Query query(db_,
              "SELECT number, space, id, title, next_seq, first_seq, bytes, created_ms, updated_ms FROM conversation "
              "WHERE space = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3",
              space, before > 0 ? before : kEnd, count);
  while (query.next()) conversations.push_back(conversation_in(query));
  return conversations;
}

std::vector<std::string> SqliteStore::spaces() {
  std::vector<std::string> spaces;
  Query query(db_, "SELECT DISTINCT space FROM conversation ORDER BY space");
  while (query.next()) spaces.push_back(query.text(0));
  return spaces;
}

SearchPage SqliteStore::search(const std::string& space, const Search& search) {
  const auto words = tokenizer_.words_of(search.text);
  if (words.empty()) throw InvalidParams("params.query", "expected a word to search for");
  tokenizer_.fold_queries(search.fold);
  // CROSS JOIN: the full-text index goes first, newest message first, and the rest is looked up.
  Query query(db_,
              "SELECT m.seq, m.role, m.content, m.metadata, m.created_ms, m.number, c.id FROM message_text t "
              "CROSS JOIN message m ON m.number = t.rowid CROSS JOIN conversation c ON c.log = m.log "
              "WHERE message_text MATCH ?1 AND t.rowid < ?2 AND c.space = ?3 AND (?4 = '' OR c.id = ?4) "
              "ORDER BY t.rowid DESC LIMIT ?5",
              match_expression(words, word_of_space(space)), search.before > 0 ? search.before : kEnd, space, search.id,
              search.count + 1);
  SearchPage page;
  std::int64_t bytes = 0;
  while (query.next()) {
    const std::string_view whole = query.view(2);
    const std::string_view content = beginning_of(whole, static_cast<std::size_t>(search.content_bytes));
    bytes += bytes_of(content) + bytes_of(query.view(3));
    const bool is_full = static_cast<std::int64_t>(page.hits.size()) == search.count || bytes > search.bytes;
    if (is_full && !page.hits.empty()) {
      page.is_more = true;
      break;
    }
    page.hits.push_back({query.text(6), message_in(query, content), query.integer(5), content.size() < whole.size()});
  }
  return page;
}

}  // namespace rkllm_mcp::memory
