#include "transport/bytes/outbox.hpp"

#include "support/catch.hpp"

#include <string>
#include <utility>

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

TEST_CASE("a long message keeps its memory and its place between the others") {
  Outbox outbox(1000 * 1000);
  std::string message(Outbox::kLongBytes, 'x');
  const char* const memory = message.data();
  outbox.expect(4);
  outbox.append("head");
  outbox.take(std::move(message));
  outbox.append("\n");
  outbox.take(std::string("short"));
  CHECK(outbox.size() == 4 + Outbox::kLongBytes + 1 + 5);

  REQUIRE(outbox.begin());
  CHECK(outbox.in_flight() == "head");
  outbox.written(4);
  REQUIRE(outbox.begin());
  CHECK(outbox.in_flight().data() == memory);
  CHECK(outbox.in_flight().size() == Outbox::kLongBytes);
  outbox.append("later");
  outbox.written(Outbox::kLongBytes);
  REQUIRE(outbox.begin());
  CHECK(outbox.in_flight() == "\nshortlater");
  outbox.written(11);
  CHECK_FALSE(outbox.begin());
  CHECK(outbox.size() == 0);
}

TEST_CASE("room that was made for what never came is not written") {
  Outbox outbox(1000);
  outbox.expect(10);
  CHECK_FALSE(outbox.begin());
  outbox.expect(10);
  outbox.take(std::string(Outbox::kLongBytes, 'x'));
  REQUIRE(outbox.begin());
  CHECK(outbox.in_flight().size() == Outbox::kLongBytes);
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
