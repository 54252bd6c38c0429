// One connection to SQLite: queries and their values, and what is said when something fails.
#include "memory/sqlite/sqlite_connection.hpp"

#include "support/catch.hpp"
#include "support/process.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::has_text;
using test::TemporaryDirectory;

namespace {

StoreError failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const StoreError& error) {
    return error;
  }
  throw std::logic_error("nothing has failed");
}

// A query that never ends by itself.
constexpr const char* kEndless =
    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";

}  // namespace

TEST_CASE("a query gets its values in their order, and gives its rows one after the other") {
  Connection db({":memory:"});
  db.run("CREATE TABLE t(n INTEGER, word TEXT); INSERT INTO t VALUES(1, 'one'), (2, 'two'), (3, NULL)");
  Query query(db, "SELECT n, word, ?2 FROM t WHERE n >= ?1 ORDER BY n", std::int64_t{2}, std::string_view("given"));
  REQUIRE(query.next());
  CHECK(query.integer(0) == 2);
  CHECK(query.text(1) == "two");
  CHECK_FALSE(query.is_null(1));
  CHECK(query.text(2) == "given");
  REQUIRE(query.next());
  CHECK(query.integer(0) == 3);
  CHECK(query.is_null(1));
  CHECK(query.text(1).empty());
  CHECK_FALSE(query.next());
}

TEST_CASE("integers and texts come back as they were given, an empty text is a text, and U+0000 ends none") {
  Connection db({":memory:"});
  db.run("CREATE TABLE t(n INTEGER, word TEXT NOT NULL)");
  for (const std::string& word : {std::string(), std::string("a\0b", 3), std::string("tiếng")}) {
    for (const std::int64_t n : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
      Query(db, "DELETE FROM t").run();
      Query(db, "INSERT INTO t VALUES(?1, ?2)", n, std::string_view(word)).run();
      Query query(db, "SELECT n, word FROM t");
      REQUIRE(query.next());
      CHECK(query.integer(0) == n);
      CHECK(query.text(1) == word);
      CHECK_FALSE(query.is_null(1));
    }
  }
  Query(db, "INSERT INTO t VALUES(1, ?1)", std::string_view()).run();  // no address at all
}

TEST_CASE("a query that was left half way begins anew, and keeps no value of the time before") {
  Connection db({":memory:"});
  db.run("CREATE TABLE t(n INTEGER); INSERT INTO t VALUES(1), (2)");
  constexpr const char* kRows = "SELECT n, ?1 FROM t ORDER BY n";
  {
    Query query(db, kRows, std::int64_t{7});
    REQUIRE(query.next());
    CHECK(query.integer(1) == 7);
  }
  Query query(db, kRows);
  REQUIRE(query.next());
  CHECK(query.integer(0) == 1);
  CHECK(query.is_null(1));
}

TEST_CASE("a query that was left half way holds up no commit") {
  const TemporaryDirectory directory;
  Connection reader({directory / "x.db"});
  reader.run("CREATE TABLE t(n INTEGER); INSERT INTO t VALUES(1), (2)");
  { REQUIRE(Query(reader, "SELECT n FROM t").next()); }
  const std::atomic<bool> stop = true;  // nothing is waited for
  Connection writer({directory / "x.db", nullptr, &stop});
  CHECK_NOTHROW(writer.run("INSERT INTO t VALUES(3)"));
}

TEST_CASE("a number is the value of the only row, and what was changed, inserted and begun is known") {
  Connection db({":memory:"});
  CHECK_FALSE(db.is_read_only());
  CHECK_FALSE(db.is_open_transaction());
  db.run("CREATE TABLE t(n INTEGER)");
  db.run("BEGIN");
  CHECK(db.is_open_transaction());
  db.run("INSERT INTO t VALUES(5), (6), (7)");
  CHECK(db.changed() == 3);
  CHECK(db.last_inserted() == 3);
  CHECK(db.number("SELECT sum(n) FROM t") == 18);
  db.run("UPDATE t SET n = 1 WHERE n > 5");
  CHECK(db.changed() == 2);
  db.run("ROLLBACK");
  CHECK_FALSE(db.is_open_transaction());
  CHECK(db.number("SELECT count(*) FROM t") == 0);
}

TEST_CASE("SQL that cannot be read is a failure that names the file and the reason, and may be right later") {
  const TemporaryDirectory directory;
  Connection db({directory / "x.db"});
  constexpr const char* kCount = "SELECT count(*) FROM t";
  const StoreError error = failure_of([&] { db.number(kCount); });
  CHECK(error.kind() == StoreError::Kind::kUnavailable);
  CHECK(std::string(error.what()) == directory / "x.db" + ": no such table: t");
  CHECK_THAT(failure_of([&] { db.run("CREATE nonsense"); }).what(), has_text("x.db: near \"nonsense\""));
  db.run("CREATE TABLE t(n INTEGER)");
  CHECK(db.number(kCount) == 0);
}

TEST_CASE("what a constraint forbids fails with its words, and the connection goes on") {
  Connection db({":memory:"});
  db.run("CREATE TABLE t(n INTEGER UNIQUE); INSERT INTO t VALUES(1)");
  const StoreError error = failure_of([&] { Query(db, "INSERT INTO t VALUES(?1)", std::int64_t{1}).run(); });
  CHECK(error.kind() == StoreError::Kind::kUnavailable);
  CHECK_THAT(error.what(), has_text("UNIQUE constraint failed: t.n"));
  CHECK_NOTHROW(Query(db, "INSERT INTO t VALUES(?1)", std::int64_t{2}).run());
  CHECK_THROWS_AS(Query(db, "SELECT 1", std::int64_t{2}), StoreError);  // there is no place for the value
}

TEST_CASE("a file that cannot be opened is a failure that says where to look") {
  const TemporaryDirectory directory;
  const StoreError error = failure_of([&] { Connection({directory / "absent/x.db"}); });
  CHECK(error.kind() == StoreError::Kind::kUnavailable);
  CHECK_THAT(error.what(), has_text(directory / "absent/x.db: ") && has_text("look at its folder"));
  CHECK_THAT(failure_of([&] { Connection({directory / "x.db", "nowhere"}); }).what(), has_text("nowhere"));
}

TEST_CASE("a file that is no database is damaged, and the failure says that it is left as it is") {
  const TemporaryDirectory directory;
  const std::string notes(5000, 'x');
  test::write_file(directory / "x.db", notes);
  {
    Connection db({directory / "x.db"});
    const StoreError error = failure_of([&] { db.run("CREATE TABLE t(n INTEGER)"); });
    CHECK(error.kind() == StoreError::Kind::kDamaged);
    CHECK_THAT(error.what(),
               has_text(directory / "x.db: ") && has_text("left as it is") && has_text("memory.database"));
  }
  CHECK(test::read_file(directory / "x.db") == notes);
}

TEST_CASE("a file that has no room for more is told from one that is damaged") {
  const TemporaryDirectory directory;
  Connection db({directory / "x.db"});
  db.run("CREATE TABLE t(word TEXT); PRAGMA max_page_count = 10");
  const StoreError error = failure_of([&] { db.run("INSERT INTO t VALUES(zeroblob(1000000))"); });
  CHECK(error.kind() == StoreError::Kind::kNoSpace);
  CHECK_THAT(error.what(), has_text("no space left"));
}

TEST_CASE("who has been told to stop does not wait for a file that another holds") {
  const TemporaryDirectory directory;
  Connection holder({directory / "x.db"});
  holder.run("CREATE TABLE t(n INTEGER); BEGIN EXCLUSIVE");
  const std::atomic<bool> stop = true;
  Connection other({directory / "x.db", nullptr, &stop});
  const StoreError error = failure_of([&] { other.run("BEGIN IMMEDIATE"); });
  CHECK(error.kind() == StoreError::Kind::kBusy);
  CHECK_THAT(error.what(), has_text("another program holds it: try again later"));
  holder.run("COMMIT");
  CHECK_NOTHROW(other.run("BEGIN IMMEDIATE"));
}

TEST_CASE("a query that goes on for ever ends when it is told to stop, and is no damage") {
  std::atomic<bool> stop = true;
  Connection db({":memory:", nullptr, &stop});
  const StoreError error = failure_of([&] { db.number(kEndless); });
  CHECK(error.kind() == StoreError::Kind::kBusy);
  CHECK_THAT(error.what(), has_text("interrupted"));
  stop = false;
  CHECK(db.number("WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100000) "
                  "SELECT count(*) FROM n") == 100'000);
}
