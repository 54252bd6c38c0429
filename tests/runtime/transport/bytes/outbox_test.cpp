#include "transport/bytes/outbox.hpp"

#include "support/catch.hpp"

#include <string>

using rkllm_mcp::Outbox;

TEST_CASE("what gathers while one write is under way leaves together with the next") {
  Outbox outbox(1000);
  outbox.append("one ");
  REQUIRE(outbox.begin());
  outbox.append("two ");
  outbox.append("three");
  CHECK(outbox.in_flight() == "one ");
  outbox.written(4);
  REQUIRE(outbox.begin());
  CHECK(outbox.in_flight() == "two three");
  outbox.written(4);
  CHECK(outbox.in_flight() == "three");
  CHECK(outbox.size() == 5);
  outbox.written(5);
  CHECK_FALSE(outbox.begin());
  CHECK(outbox.size() == 0);
}

TEST_CASE("an outbox is full at its limit and until half of that has drained") {
  Outbox outbox(100);
  outbox.append(std::string(99, 'x'));
  CHECK_FALSE(outbox.full());
  outbox.append("x");
  CHECK(outbox.full());
  REQUIRE(outbox.begin());
  CHECK_FALSE(outbox.written(49));
  CHECK(outbox.full());
  CHECK(outbox.written(1));
  CHECK_FALSE(outbox.full());
  CHECK_FALSE(outbox.written(50));
}
