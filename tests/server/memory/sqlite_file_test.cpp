// Files that are no store of ours, or cannot be used: refused with a reason, and left as they are.
#include "memory/sqlite/sqlite_store.hpp"
#include "server/memory/store_places.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::commit;
using test::said;
using test::TemporaryDirectory;

namespace {

namespace fs = std::filesystem;

SqliteStore opened(const std::string& path, SqliteStore::Use use = SqliteStore::Use::kWriting) {
  return SqliteStore({path}, use);
}

// What is said of a file with these bytes, which stays as it is.
std::string refusal_of(const std::string& bytes) {
  const TemporaryDirectory directory;
  test::write_file(directory / "memory.db", bytes);
  std::string said_of_it;
  try {
    opened(directory / "memory.db");
  } catch (const StoreError& error) {
    said_of_it = error.what();
  }
  CHECK(test::read_file(directory / "memory.db") == bytes);
  return said_of_it;
}

std::string bytes_of_database(const char* sql) {
  const TemporaryDirectory directory;
  {
    Connection db({directory / "other.db"});
    db.run(sql);
  }
  return test::read_file(directory / "other.db");
}

}  // namespace

TEST_CASE("a file that is no database is refused and left as it is") {
  CHECK_THAT(refusal_of("notes of mine\n"), test::has_text("is no database"));
  CHECK_THAT(refusal_of(std::string(5000, 'x')), test::has_text("it was not touched"));
}

TEST_CASE("another program's database is refused and left as it is") {
  CHECK_THAT(refusal_of(bytes_of_database("CREATE TABLE mine(x)")), test::has_text("of another program"));
}

TEST_CASE("a store that a newer program has written is refused and left as it is") {
  const TemporaryDirectory directory;
  { const auto store = opened(directory / "memory.db"); }
  {
    Connection db({directory / "memory.db"});
    db.run("PRAGMA user_version = 99");
  }
  CHECK_THROWS_WITH(opened(directory / "memory.db"), test::has_text("newer"));
}

TEST_CASE("a place where no file can be made is refused with a reason") {
  const TemporaryDirectory directory;
  CHECK_THROWS_WITH(opened(directory.path()), test::has_text("is no file"));
  test::write_file(directory / "file", "");
  CHECK_THROWS_AS(opened(directory / "file/memory.db"), StoreError);
}

TEST_CASE("the file is closed to other users, and its folder is made") {
  const TemporaryDirectory directory;
  const std::string path = directory / "a/b/memory.db";
  auto store = opened(path);
  commit(store, [&] { store.append({"", "c"}, said("secret")); });
  for (const std::string& each : {path, path + "-wal", path + "-shm"}) {
    struct stat status {};
    REQUIRE(::stat(each.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
  }
}

TEST_CASE("a file that may only be read is refused with a reason") {
  const TemporaryDirectory directory;
  const std::string path = directory / "memory.db";
  { const auto store = opened(path); }
  fs::permissions(directory.path(), fs::perms(0755));
  fs::permissions(path, fs::perms(0444));
  // Whoever runs the tests may be root, to whom nothing is read-only: somebody else tries.
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    try {
      opened(path);
    } catch (const StoreError& error) {
      ::_exit(std::string(error.what()).find("cannot be written") != std::string::npos ? 0 : 3);
    } catch (...) {
      ::_exit(4);
    }
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("damage is found by the check, and is a clear error") {
  const TemporaryDirectory directory;
  const std::string path = directory / "memory.db";
  {
    auto store = opened(path);
    commit(store, [&] {
      for (int n = 0; n < 300; ++n) store.append({"", "c"}, said(std::string(3000, 'x')));
    });
  }
  std::string bytes = test::read_file(path);
  for (std::size_t at = 8 * 4096; at < bytes.size(); at += 3 * 4096) bytes.replace(at, 64, 64, '\xee');
  test::write_file(path, bytes);
  std::string said_of_it;
  try {
    auto store = opened(path);
    store.check();
  } catch (const StoreError& error) {
    said_of_it = error.what();
    CHECK(error.kind() == StoreError::Kind::kDamaged);
  }
  CHECK_THAT(said_of_it, test::has_text("left as it is"));
}

TEST_CASE("a reader cannot change anything, and sees what writers have committed") {
  const TemporaryDirectory directory;
  auto writer = opened(directory / "memory.db");
  auto reader = opened(directory / "memory.db", SqliteStore::Use::kReading);
  commit(writer, [&] { writer.append({"", "c"}, said("x")); });
  CHECK(reader.messages({"", "c"}, 0, {10}).size() == 1);
  CHECK_THROWS_AS(commit(reader, [&] { reader.remove({"", "c"}); }), StoreError);
}
