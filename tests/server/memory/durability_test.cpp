// A power cut loses nothing that a commit has returned for.
#include "memory/sqlite/sqlite_store.hpp"
#include "server/memory/power_cut.hpp"
#include "server/memory/store_places.hpp"
#include "support/catch.hpp"

#include <sqlite3.h>

#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::commit;
using test::said;
using test::TemporaryDirectory;

namespace {

const Key kWritten{"", "chat_1"};

SqliteStore store_that_may_lose(const TemporaryDirectory& directory) {
  return SqliteStore({directory / "memory.db", test::power_cut_vfs()}, SqliteStore::Use::kWriting);
}

// The messages that are there after a power cut.
std::vector<std::string> left_after_power_cut(const TemporaryDirectory& directory) {
  const TemporaryDirectory after;
  test::cut_power(directory.path(), after.path());
  SqliteStore store({after / "memory.db"}, SqliteStore::Use::kWriting);
  store.check();
  return test::contents_of(store.messages(kWritten, 0, {1'000'000}));
}

// What a file has of rows that were committed one by one, after a power cut.
std::int64_t rows_left(const char* synchronous) {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  {
    Connection db({directory / "rows.db", test::power_cut_vfs()});
    db.run("PRAGMA journal_mode = WAL");
    db.run(synchronous);
    db.run("CREATE TABLE t(x)");
    for (int n = 0; n < 10; ++n) db.run("INSERT INTO t VALUES(1)");
    test::cut_power(directory.path(), after.path());
  }
  try {
    Connection db({after / "rows.db"});
    return db.number("SELECT count(*) FROM t");
  } catch (const StoreError&) {
    return 0;
  }
}

}  // namespace

TEST_CASE("a power cut takes what was not synced: this test can fail") {
  CHECK(rows_left("PRAGMA synchronous = OFF") < 10);
  CHECK(rows_left("PRAGMA synchronous = FULL") == 10);
}

TEST_CASE("after a power cut every message that was committed is there, in order, once") {
  const TemporaryDirectory directory;
  std::vector<std::string> committed;
  SqliteStore store = store_that_may_lose(directory);
  // Long enough for the log to be copied into the database several times meanwhile.
  for (int round = 0; round < 40; ++round) {
    for (int n = 0; n < 25; ++n) {
      const std::string content = std::to_string(committed.size()) + std::string(2000, 'x');
      commit(store, [&] { store.append(kWritten, said(content)); });
      committed.push_back(content);
    }
    store.begin();
    store.append(kWritten, said("not committed"));
    const auto left = left_after_power_cut(directory);
    store.rollback();
    REQUIRE(left.size() == committed.size());
    REQUIRE(left == committed);
  }
}

TEST_CASE("a power cut while the store is made leaves a store, or a file that becomes one") {
  const TemporaryDirectory directory;
  const TemporaryDirectory after;
  { const SqliteStore store = store_that_may_lose(directory); }
  test::cut_power(directory.path(), after.path());
  SqliteStore store({after / "memory.db"}, SqliteStore::Use::kWriting);
  commit(store, [&] { store.append(kWritten, said("first")); });
  CHECK(store.messages(kWritten, 0, {10}).size() == 1);
}
