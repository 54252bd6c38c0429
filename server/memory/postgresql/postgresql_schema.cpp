// The tables, and how those of older versions become today's (postgresql_store.hpp).
#include "memory/postgresql/postgresql_store.hpp"

#include <array>
#include <cstddef>
#include <string>

namespace rkllm_mcp::memory::postgresql {
namespace {

// A conversation's messages are those of its log, as in the SQLite store: clear() gives it a new log, and purge() takes
// away the messages of those in dropped_log, little by little.
//
// store.bytes is what all messages and conversations take, counted by their writers: the size of PostgreSQL's files
// says little, since what is free in them is used again. writer has the number of the last group that each writer has
// committed.
constexpr std::array kMigrations{
    R"(
CREATE TABLE store(version bigint NOT NULL, bytes bigint NOT NULL);
INSERT INTO store VALUES(0, 0);
CREATE TABLE writer(name text PRIMARY KEY, last_group bigint NOT NULL, seen timestamptz NOT NULL);
CREATE SEQUENCE log_number;
CREATE TABLE conversation(
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  space text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  title text NOT NULL DEFAULT '',
  log bigint NOT NULL UNIQUE DEFAULT nextval('log_number'),
  first_seq bigint NOT NULL DEFAULT 1,
  next_seq bigint NOT NULL DEFAULT 1,
  bytes bigint NOT NULL DEFAULT 0,
  summary text,
  covers_seq bigint NOT NULL DEFAULT 0,
  summary_ms bigint NOT NULL DEFAULT 0,
  created_ms bigint NOT NULL,
  updated_ms bigint NOT NULL,
  UNIQUE(space, id));
CREATE INDEX conversation_of_space ON conversation(space, number);
CREATE INDEX conversation_by_update ON conversation(updated_ms);
CREATE TABLE message(
  log bigint NOT NULL,
  seq bigint NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  role bigint NOT NULL,
  content text NOT NULL,
  metadata text NOT NULL,
  size bigint NOT NULL,
  words tsvector NOT NULL,
  created_ms bigint NOT NULL,
  PRIMARY KEY(log, seq));
CREATE INDEX message_words ON message USING gin(words);
CREATE TABLE dropped_log(number bigint PRIMARY KEY);
)",
    // Conversations, with their titles and summaries, have not been counted before.
    R"(
UPDATE store SET bytes = bytes + (
  SELECT coalesce(sum(200 + octet_length(title) + octet_length(coalesce(summary, ''))), 0) FROM conversation);
)"};

constexpr auto kVersion = static_cast<std::int64_t>(kMigrations.size());

bool has_schema(Connection& db) {
  return !db.run("SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = 'rkllm_mcp'").is_empty();
}

// Not by to_regclass(), which may still say what was true before another process had made the tables.
bool has_store(Connection& db) {
  return !db.run(
                "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
                "WHERE n.nspname = 'rkllm_mcp' AND c.relname = 'store'")
              .is_empty();
}

std::int64_t version_of(Connection& db) { return db.run("SELECT version FROM rkllm_mcp.store").integer(0, 0); }

void refuse_newer(std::int64_t version) {
  if (version <= kVersion) return;
  throw StoreError(StoreError::Kind::kUnavailable,
                   "the store was written by a newer rkllm-mcp (schema " + std::to_string(version) +
                       ", this one knows " + std::to_string(kVersion) +
                       "); use that one, or name another database with memory.database");
}

void refuse_foreign(Connection& db) {
  const bool is_empty = db.run(
                              "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = "
                              "c.relnamespace WHERE n.nspname = 'rkllm_mcp' LIMIT 1")
                            .is_empty();
  if (is_empty) return;
  throw StoreError(StoreError::Kind::kUnavailable,
                   "the database has a schema rkllm_mcp that is another program's; it was not touched: name another "
                   "database with memory.database");
}

void make_tables(Connection& db) {
  std::int64_t version = 0;
  // Older instances may be writing: what a migration counts has to be all that there is.
  db.run_script("SELECT pg_advisory_xact_lock(" + std::to_string(kLocks) + ", " + std::to_string(kWritersLock) + ")");
  if (has_store(db)) {
    version = version_of(db);  // another process was first
    refuse_newer(version);
  } else if (has_schema(db)) {
    refuse_foreign(db);
  } else {
    db.run_script("CREATE SCHEMA rkllm_mcp");
  }
  for (std::int64_t next = version; next < kVersion; ++next)
    db.run_script(kMigrations.at(static_cast<std::size_t>(next)));
  db.run_script("UPDATE store SET version = " + std::to_string(kVersion));
}

}  // namespace

void migrate(Connection& db) {
  if (db.run("SHOW server_encoding").text(0, 0) != "UTF8") {
    throw StoreError(StoreError::Kind::kUnavailable,
                     "the database's encoding is not UTF8, so that it cannot keep every text: make another, with "
                     "CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0");
  }
  if (has_store(db)) {
    const std::int64_t version = version_of(db);
    refuse_newer(version);
    if (version == kVersion) return;
  }
  db.run_script("BEGIN; SELECT pg_advisory_xact_lock(" + std::to_string(kLocks) + ", " +
                std::to_string(kMigrationLock) + ")");
  try {
    make_tables(db);
    db.run_script("COMMIT");
  } catch (...) {
    try {
      db.run_script("ROLLBACK");
    } catch (const StoreError&) {
      // The connection is lost, which ends the transaction as well; the first error says more.
    }
    throw;
  }
}

}  // namespace rkllm_mcp::memory::postgresql
