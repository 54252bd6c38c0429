// The tables, and how those of older versions become today's (sqlite_store.hpp).
#include "memory/sqlite/sqlite_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace rkllm_mcp::memory {
namespace {

constexpr std::uint32_t kApplicationId = 0x726b6d6d;  // "rkmm", at byte 68 of the file

// A conversation's messages are those of its log. clear() gives it a new log and marks the old one, so that even a
// million messages are gone at once; purge() takes the rows away afterwards, little by little.
//
// message_text is an FTS5 index that keeps no copy of the texts (content=''). So FTS5 can take a text out of it only
// when it is given the same text once more (SqliteStore::index()).
constexpr std::array kMigrations{
    R"(
CREATE TABLE log(number INTEGER PRIMARY KEY AUTOINCREMENT, is_dropped INTEGER NOT NULL DEFAULT 0);
CREATE INDEX dropped_log ON log(number) WHERE is_dropped = 1;
CREATE TABLE conversation(
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  space TEXT NOT NULL,
  id TEXT NOT NULL,
  title TEXT NOT NULL DEFAULT '',
  log INTEGER NOT NULL UNIQUE,
  first_seq INTEGER NOT NULL DEFAULT 1,
  next_seq INTEGER NOT NULL DEFAULT 1,
  bytes INTEGER NOT NULL DEFAULT 0,
  summary TEXT,
  covers_seq INTEGER NOT NULL DEFAULT 0,
  summary_ms INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  UNIQUE(space, id));
CREATE INDEX conversation_of_space ON conversation(space);
CREATE INDEX conversation_by_update ON conversation(updated_ms);
CREATE TABLE message(
  number INTEGER PRIMARY KEY,
  log INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  role INTEGER NOT NULL,
  content TEXT NOT NULL,
  metadata TEXT NOT NULL DEFAULT '',
  space_word TEXT NOT NULL,
  created_ms INTEGER NOT NULL);
CREATE UNIQUE INDEX message_by_log ON message(log, seq);
CREATE VIRTUAL TABLE message_text USING fts5(content, space_word, content='', columnsize=0, tokenize='rkllm_words');
)"};

StoreError foreign(const std::string& path, const std::string& what) {
  return {StoreError::Kind::kUnavailable,
          path + " " + what + "; it was not touched: name another file with memory.database, or move it away"};
}

std::uint32_t big_endian(const char* bytes) {
  std::uint32_t value = 0;
  for (int at = 0; at < 4; ++at) value = (value << 8U) | static_cast<unsigned char>(bytes[at]);
  return value;
}

}  // namespace

void refuse_foreign_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return;
    throw StoreError(StoreError::Kind::kUnavailable, path + ": " + std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) throw foreign(path, "is no file");
  if (status.st_size == 0) return;
  std::array<char, 100> header{};
  std::ifstream file(path, std::ios::binary);
  if (!file) throw StoreError(StoreError::Kind::kUnavailable, path + " cannot be read: " + std::strerror(errno));
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  if (file.gcount() < static_cast<std::streamsize>(header.size()) ||
      std::string_view(header.data(), kMagic.size()) != kMagic) {
    throw foreign(path, "is no database");
  }
  constexpr std::size_t kApplicationIdAt = 68;
  if (big_endian(header.data() + kApplicationIdAt) == kApplicationId) return;
  // A file with a journal beside it may be ours, interrupted while it was made. SQLite will undo what was begun.
  std::error_code ignored;
  if (std::filesystem::exists(path + "-journal", ignored)) return;
  throw foreign(path, "is the database of another program");
}

void make_private_file(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw StoreError(StoreError::Kind::kUnavailable, folder.string() + " cannot be made: " + failed.message());
  }
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    throw StoreError(StoreError::Kind::kUnavailable, path + " cannot be written: " + std::strerror(errno));
  }
  ::close(descriptor);
}

void migrate(Connection& db) {
  constexpr auto kVersion = static_cast<std::int64_t>(kMigrations.size());
  if (db.number("PRAGMA user_version") == kVersion) return;
  // Takes effect while the file is empty only.
  db.run("PRAGMA auto_vacuum = INCREMENTAL");
  db.run("BEGIN IMMEDIATE");
  try {
    const std::int64_t version = db.number("PRAGMA user_version");  // another process may have been first
    if (version > kVersion) {
      throw StoreError(StoreError::Kind::kUnavailable,
                       "the store was written by a newer rkllm-mcp (schema " + std::to_string(version) +
                           ", this one knows " + std::to_string(kVersion) +
                           "); use that one, or name another file with memory.database");
    }
    const std::int64_t tables = db.number("SELECT count(*) FROM sqlite_schema");
    if (version == 0 && tables > 0) throw foreign("the file", "is the database of another program");
    for (std::int64_t next = version; next < kVersion; ++next) db.run(kMigrations.at(static_cast<std::size_t>(next)));
    db.run(("PRAGMA application_id = " + std::to_string(kApplicationId)).c_str());
    db.run(("PRAGMA user_version = " + std::to_string(kVersion)).c_str());
    db.run("COMMIT");
  } catch (...) {
    sqlite3_exec(db.raw(), "ROLLBACK", nullptr, nullptr, nullptr);
    throw;
  }
}

}  // namespace rkllm_mcp::memory
