// Progress that waits: one update, whatever comes.
#include "upstreams/unsent_progress.hpp"

#include "support/catch.hpp"

namespace rkllm_mcp {

TEST_CASE("of the updates that wait the newest is sent, with no more than the protocol knows of it") {
  UnsentProgress unsent(UnsentProgress::Messages::kNewestCounts);
  CHECK(unsent.empty());
  unsent.add({{"progress", 1}, {"message", "one"}});
  unsent.add({{"progress", 2.5}, {"total", 4}, {"message", "two"}, {"junk", "x"}, {"progressToken", 7}});
  CHECK(unsent.take() == Json{{"progress", 2.5}, {"total", 4}, {"message", "two"}});
  CHECK(unsent.empty());
}

TEST_CASE("messages that are parts of one text are joined, so that none is lost") {
  UnsentProgress unsent(UnsentProgress::Messages::kJoin);
  unsent.add({{"progress", 1}, {"message", "one"}});
  unsent.add({{"progress", 2}});
  unsent.add({{"progress", 3}, {"message", " two"}});
  CHECK(unsent.message_bytes() == 7);
  CHECK(unsent.take() == Json{{"progress", 3}, {"message", "one two"}});
  unsent.add({{"progress", 4}, {"message", "!"}});
  CHECK(unsent.take()["message"] == "!");
}

TEST_CASE("progress of wrong types is no update") {
  UnsentProgress unsent(UnsentProgress::Messages::kJoin);
  unsent.add(5);
  unsent.add({{"progress", "1"}});
  CHECK(unsent.empty());
  unsent.add({{"progress", 1}, {"total", "x"}, {"message", 5}});
  CHECK(unsent.take() == Json{{"progress", 1}});
}

}  // namespace rkllm_mcp
