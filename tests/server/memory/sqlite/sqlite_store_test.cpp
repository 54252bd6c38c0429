// What only the SQLite store has: texts of removed messages, which its full-text index wants to see once more.
#include "memory/sqlite/sqlite_store.hpp"

#include "server/memory/store_places.hpp"
#include "support/catch.hpp"
#include "support/process.hpp"

#include <cstdint>
#include <string>

using namespace rkllm_mcp;
using namespace rkllm_mcp::memory;
using test::commit;
using test::said;

namespace {

constexpr std::int64_t kOfAllRounds = 200;  // more messages than there are

// A store with a conversation that was removed: so many messages of so many bytes wait to be purged.
struct Purged {
  Purged(int messages, std::size_t bytes) : store({directory / "memory.db"}, SqliteStore::Use::kWriting) {
    commit(store, [&] {
      for (int n = 0; n < messages; ++n) store.append({"", "c"}, said("word " + std::string(bytes, 'x')));
      store.remove({"", "c"});
    });
  }
  std::int64_t left() const {
    Connection db({directory / "memory.db"});
    return db.number("SELECT count(*) FROM message");
  }
  void purge() {
    commit(store, [&] { CHECK(store.purge(kOfAllRounds)); });
  }

  test::TemporaryDirectory directory;
  SqliteStore store;
};

}  // namespace

TEST_CASE("a round of purging holds the searched parts of about 8 MiB of messages, and the rest goes in the next") {
  // 256 KiB of each are searched, so that 32 of them are 8 MiB.
  Purged purged(40, 300'000);
  purged.purge();
  CHECK(purged.left() == 8);
  purged.purge();
  CHECK(purged.left() == 0);
  for (bool is_more = true; is_more;) {
    commit(purged.store, [&] { is_more = purged.store.purge(kOfAllRounds); });
  }
  purged.store.check();
  CHECK(purged.store.search("", {.text = "word"}).hits.empty());
}

TEST_CASE("what is not searched of long messages is not held while they are purged") {
  Purged purged(20, 1'000'000);  // 5 MiB are searched
  purged.purge();
  CHECK(purged.left() == 0);
}
