// What is made in a PostgreSQL database, and what is left alone. Whole stores are in
// tests/server/memory/postgresql_store_test.cpp.
#include "memory/postgresql/postgresql_store.hpp"

#include "server/memory/postgresql_server.hpp"
#include "support/catch.hpp"

#include <cstdint>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::has_text;

namespace {

std::int64_t tables_in(postgresql::Connection& db) {
  return db
      .run(
          "SELECT count(*) FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
          "WHERE n.nspname = 'rkllm_mcp' AND c.relkind = 'r'")
      .integer(0, 0);
}

std::int64_t locks_held(postgresql::Connection& db) {
  return db.run("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()").integer(0, 0);
}

std::string migration_refusal(postgresql::Connection& db) {
  try {
    postgresql::migrate(db);
  } catch (const StoreError& error) {
    CHECK(error.kind() == StoreError::Kind::kUnavailable);
    CHECK(locks_held(db) == 0);  // and the connection is of use
    return error.what();
  }
  return "none";
}

std::string empty_database() { return test::shared_postgresql_server().emptied_database(); }

}  // namespace

TEST_CASE("an empty database gets its tables in a schema of their own, and keeps what is in them") {
  const std::string address = empty_database();
  postgresql::Connection db(address, nullptr);
  CHECK(tables_in(db) == 0);
  postgresql::migrate(db);
  CHECK(tables_in(db) == 5);
  CHECK(db.run("SELECT version FROM rkllm_mcp.store").integer(0, 0) == 2);
  CHECK(db.run("SELECT bytes FROM rkllm_mcp.store").integer(0, 0) == 0);
  CHECK(db.run("SELECT count(*) FROM pg_catalog.pg_tables WHERE schemaname = 'public'").integer(0, 0) == 0);
  CHECK(locks_held(db) == 0);
  db.run_script("UPDATE rkllm_mcp.store SET bytes = 7");
  postgresql::Connection other(address, nullptr);
  postgresql::migrate(other);
  CHECK(other.run("SELECT bytes FROM rkllm_mcp.store").integer(0, 0) == 7);
}

TEST_CASE("a schema that an administrator has made, with nothing in it, is used") {
  postgresql::Connection db(empty_database(), nullptr);
  db.run_script("CREATE SCHEMA rkllm_mcp");
  CHECK(migration_refusal(db) == "none");
  CHECK(tables_in(db) == 5);
}

TEST_CASE("a schema of that name with another program's table stays as it is") {
  postgresql::Connection db(empty_database(), nullptr);
  db.run_script("CREATE SCHEMA rkllm_mcp; CREATE TABLE rkllm_mcp.mine(x int)");
  CHECK_THAT(migration_refusal(db), has_text("another program's; it was not touched") && has_text("memory.database"));
  CHECK(tables_in(db) == 1);
}

TEST_CASE("a database of a newer program is refused with both versions and stays as it is") {
  postgresql::Connection db(empty_database(), nullptr);
  postgresql::migrate(db);
  db.run_script("UPDATE rkllm_mcp.store SET version = 3");
  CHECK_THAT(migration_refusal(db), has_text("newer rkllm-mcp (schema 3, this one knows 2)"));
  CHECK(db.run("SELECT version FROM rkllm_mcp.store").integer(0, 0) == 3);
}

TEST_CASE("the conversations of an older program's database are counted when it is brought up to date") {
  const std::string address = empty_database();
  {
    postgresql::Connection db(address, nullptr);
    postgresql::migrate(db);
    db.run_script(
        "INSERT INTO rkllm_mcp.conversation(space, id, title, summary, created_ms, updated_ms) "
        "VALUES('', 'a', 'Title', 'Summary', 1, 1), ('', 'b', '', NULL, 1, 1); "
        "UPDATE rkllm_mcp.store SET version = 1, bytes = 1000");
  }
  postgresql::Connection db(address, nullptr);
  postgresql::migrate(db);
  CHECK(db.run("SELECT version FROM rkllm_mcp.store").integer(0, 0) == 2);
  CHECK(db.run("SELECT bytes FROM rkllm_mcp.store").integer(0, 0) == 1000 + 2 * 200 + 12);
}

TEST_CASE("tables that cannot all be made are not made at all") {
  const std::string address = empty_database();
  postgresql::Connection db(address, nullptr);
  // Of the last table only the name is taken, by a type, which refuse_foreign() does not count.
  db.run_script("CREATE SCHEMA rkllm_mcp; CREATE DOMAIN rkllm_mcp.dropped_log AS int");
  CHECK_THROWS_AS(postgresql::migrate(db), StoreError);
  CHECK(tables_in(db) == 0);
  CHECK(locks_held(db) == 0);
}
