// The pieces of opening a store: which files are refused, how one is made, and what is made in it. Stores as a whole
// are in tests/server/memory/sqlite_file_test.cpp.
#include "memory/sqlite/sqlite_store.hpp"

#include "memory/sqlite/search_tokenizer.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::has_text;
using test::TemporaryDirectory;

namespace {

namespace fs = std::filesystem;

// A connection that knows how texts are taken apart, as the store's has it.
struct SchemaFile {
  explicit SchemaFile(const std::string& path) : db({path}) { tokenizer.add_to(db); }
  SearchTokenizer tokenizer;
  Connection db;
};

std::string foreign_refusal(const std::string& path) {
  try {
    refuse_foreign_file(path);
  } catch (const StoreError& error) {
    CHECK(error.kind() == StoreError::Kind::kUnavailable);
    return error.what();
  }
  return "none";
}

unsigned mode_of(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_mode & 0777U;
}

std::string bytes_of_other() {
  const TemporaryDirectory directory;
  {
    Connection db({directory / "other.db"});
    db.run("CREATE TABLE mine(x)");
  }
  return test::read_file(directory / "other.db");
}

}  // namespace

TEST_CASE("where no file is, or an empty one, nothing is refused and nothing made") {
  const TemporaryDirectory directory;
  CHECK(foreign_refusal(directory / "x.db") == "none");
  CHECK(foreign_refusal(directory / "absent/x.db") == "none");
  CHECK(fs::is_empty(directory.path()));
  test::write_file(directory / "x.db", "");
  CHECK(foreign_refusal(directory / "x.db") == "none");
}

TEST_CASE("what is no file, no database or another program's is refused with its path, and what to do") {
  const TemporaryDirectory directory;
  const std::string advice = "; it was not touched: name another file with memory.database, or move it away";
  CHECK(foreign_refusal(directory.path()) == directory.path() + " is no file" + advice);
  const std::string path = directory / "x.db";
  const std::string other = bytes_of_other();
  for (const std::string& bytes : {std::string("x"), std::string(99, 'x'), std::string(5000, 'x'), other.substr(0, 99),
                                   "S" + std::string(other.substr(0, 500)), other.substr(0, 15) + other.substr(16)}) {
    test::write_file(path, bytes);
    CHECK(foreign_refusal(path) == path + " is no database" + advice);
    CHECK(test::read_file(path) == bytes);
  }
  for (const std::string& bytes : {other, other.substr(0, 100)}) {
    test::write_file(path, bytes);
    CHECK(foreign_refusal(path) == path + " is the database of another program" + advice);
    CHECK(test::read_file(path) == bytes);
  }
  CHECK_THAT(foreign_refusal(path + "/y.db"), has_text(path + "/y.db: Not a directory"));
}

TEST_CASE("a database whose making was interrupted is not taken for another program's") {
  const TemporaryDirectory directory;
  test::write_file(directory / "x.db", bytes_of_other());
  test::write_file(directory / "x.db-journal", "");
  CHECK(foreign_refusal(directory / "x.db") == "none");
}

TEST_CASE("a database of this program's is known by its first bytes") {
  const TemporaryDirectory directory;
  {
    SchemaFile file(directory / "x.db");
    migrate(file.db);
  }
  CHECK(foreign_refusal(directory / "x.db") == "none");
  test::write_file(directory / "y.db", test::read_file(directory / "x.db").substr(0, 100));
  CHECK(foreign_refusal(directory / "y.db") == "none");
}

TEST_CASE("a file that is made is for nobody else, with the folders above it, and one that is there stays as it is") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a/b/x.db";
  make_private_file(path);
  CHECK(mode_of(path) == 0600U);
  CHECK(test::read_file(path).empty());
  test::write_file(path, "kept");
  fs::permissions(path, fs::perms(0640));
  make_private_file(path);
  CHECK(mode_of(path) == 0640U);
  CHECK(test::read_file(path) == "kept");
}

TEST_CASE("where no file can be made, the failure says of which path, and why") {
  const TemporaryDirectory directory;
  test::write_file(directory / "file", "");
  CHECK_THROWS_WITH(make_private_file(directory / "file/below/x.db"),
                    has_text(directory / "file/below cannot be made: "));
  CHECK_THROWS_WITH(make_private_file(directory.path()), has_text(directory.path() + " cannot be written: "));
}

TEST_CASE("an empty file becomes a store that gives back what is free in it, and stays one") {
  const TemporaryDirectory directory;
  for (int time = 0; time < 2; ++time) {
    SchemaFile file(directory / "x.db");
    migrate(file.db);
    CHECK_FALSE(file.db.is_open_transaction());
    CHECK(file.db.number("PRAGMA user_version") == 1);
    CHECK(file.db.number("PRAGMA application_id") == 0x726b6d6d);
    CHECK(file.db.number("PRAGMA auto_vacuum") == 2);  // incremental
    CHECK(file.db.number("SELECT count(*) FROM conversation") == time);
    if (time == 0)
      file.db.run("INSERT INTO conversation(space, id, log, created_ms, updated_ms) VALUES('', '', 1, 0, 0)");
  }
}

TEST_CASE("two who open an empty file one after the other find the same store") {
  const TemporaryDirectory directory;
  SchemaFile first(directory / "x.db");
  SchemaFile second(directory / "x.db");
  CHECK(second.db.number("PRAGMA user_version") == 0);
  migrate(first.db);
  CHECK_NOTHROW(migrate(second.db));
  CHECK(second.db.number("SELECT count(*) FROM message") == 0);
}

TEST_CASE("a store of a newer program is refused with both versions, and nothing in it changes") {
  const TemporaryDirectory directory;
  SchemaFile file(directory / "x.db");
  migrate(file.db);
  file.db.run("PRAGMA user_version = 2");
  CHECK_THROWS_WITH(migrate(file.db),
                    has_text("newer rkllm-mcp (schema 2, this one knows 1)") && has_text("memory.database"));
  CHECK_FALSE(file.db.is_open_transaction());
  CHECK(file.db.number("PRAGMA user_version") == 2);
}

TEST_CASE("a database that has tables and no version is another program's, and gets none of ours") {
  const TemporaryDirectory directory;
  SchemaFile file(directory / "x.db");
  file.db.run("CREATE TABLE mine(x)");
  CHECK_THROWS_WITH(migrate(file.db), has_text("another program"));
  CHECK_FALSE(file.db.is_open_transaction());
  CHECK(file.db.number("SELECT count(*) FROM sqlite_schema") == 1);
  CHECK(file.db.number("PRAGMA application_id") == 0);
}

TEST_CASE("a store that cannot be made whole is not made at all") {
  const TemporaryDirectory directory;
  Connection db({directory / "x.db"});  // does not know how texts are taken apart
  CHECK_THROWS_AS(migrate(db), StoreError);
  CHECK_FALSE(db.is_open_transaction());
  CHECK(db.number("SELECT count(*) FROM sqlite_schema") == 0);
  CHECK(db.number("PRAGMA user_version") == 0);
}
