// A database that another program holds keeps nobody waiting but those who write to it.
#include "server/memory/memory_server.hpp"
#include "support/catch.hpp"

#include <sqlite3.h>

#include <stdexcept>
#include <string>

namespace rkllm_mcp::test {
namespace {

// Holds a database's lock for writing, as long as it lives.
class Lock {
 public:
  explicit Lock(const std::string& path) {
    // The server may be writing for a moment, as it does when it looks after its file.
    constexpr int kPatience = 60'000;  // ms
    if (sqlite3_open(path.c_str(), &db_) != SQLITE_OK || sqlite3_busy_timeout(db_, kPatience) != SQLITE_OK ||
        run("BEGIN IMMEDIATE") != SQLITE_OK) {
      throw std::runtime_error("cannot lock " + path);
    }
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  ~Lock() {
    run("ROLLBACK");
    sqlite3_close(db_);
  }

 private:
  int run(const char* sql) { return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr); }
  sqlite3* db_ = nullptr;
};

}  // namespace

TEST_CASE("a locked database delays neither a stream of tokens nor those who read") {
  const TemporaryDirectory directory;
  LiveServer server({.set = {"memory.database=" + (directory / "memory.db")}});
  RpcClient client(server.connect(Transport::kTcp));
  const std::string handle = client.init(shipped_model("fast"));
  const Json message{{"role", "user"}, {"content", "x"}};
  client.result(kPrefix + "add_message", of_chat("c", message));
  Json written;
  {
    const Lock lock(directory / "memory.db");
    const int write = client.send(kPrefix + "add_message", of_chat("c", message));
    // The whole stream, and what is read, come before the answer to what was asked for first.
    const int run = client.run_async(handle, "@n=200");
    bool has_ended = false;
    while (!has_ended) {
      const Json next = client.receive_or_throw();
      REQUIRE(next["id"] == run);
      has_ended = next["result"]["chunk"].value("end", false);
    }
    const int read = client.send(kPrefix + "get_all_messages", of_chat("c"));
    const Json answer = client.receive_or_throw();
    REQUIRE(answer["id"] == read);
    CHECK(answer["result"]["messages"].size() == 1);
    written = write;
  }
  CHECK(client.answer(written).contains("result"));
  CHECK(contents_there(client, "c").size() == 2);
}

}  // namespace rkllm_mcp::test
