#include "transport/bytes/message_deadline.hpp"

#include "scripted_channel.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <stdexcept>

using namespace std::chrono_literals;

namespace rkllm_mcp::test {
namespace {

// A message for which the client has 10 s, on a connection that is never idle too long.
struct LateMessage : ScriptedChannel {
  explicit LateMessage(std::chrono::milliseconds time = 10s)
      : ScriptedChannel(never_idle()), deadline(*channel, time, [this] { ++expired; }) {}

  static ConnectionLimits never_idle() {
    auto limits = usual_limits<ConnectionLimits>();
    limits.idle = 0s;
    return limits;
  }

  int expired = 0;
  MessageDeadline deadline;
};

}  // namespace

TEST_CASE("a message that does not end in its time expires once, and one that ends does not") {
  LateMessage one;
  one.bench.pass(1h);
  one.deadline.begin();
  one.bench.pass(9s);
  one.deadline.clear();
  one.bench.pass(1h);
  CHECK(one.expired == 0);
  one.deadline.begin();
  one.bench.pass(10s - 1ns);
  CHECK(one.expired == 0);
  one.bench.pass(1ns);
  CHECK(one.expired == 1);
  one.bench.pass(1h);
  CHECK(one.expired == 1);
}

TEST_CASE("without a limit a message may take for ever") {
  LateMessage one(0s);
  one.deadline.begin();
  one.bench.pass(24h);
  CHECK(one.expired == 0);
}

TEST_CASE("time in which the client is not read is not its own") {
  LateMessage one;
  one.channel->hold_input();
  one.bench.pass(5s);
  one.channel->resume_input();
  one.deadline.begin();  // that pause was before it
  one.bench.pass(4s);
  one.channel->hold_input();
  one.bench.pass(5s);
  one.channel->resume_input();
  one.bench.pass(6s - 1ns);
  CHECK(one.expired == 0);
  one.bench.pass(1ns);
  CHECK(one.expired == 1);
}

TEST_CASE("a message does not expire while the client is not read, however long that is") {
  LateMessage one;
  one.deadline.begin();
  one.bench.pass(1s);
  one.channel->hold_input();
  one.bench.pass(9s);
  CHECK(one.expired == 0);
  one.bench.pass(5s);
  one.channel->resume_input();  // 14 s were a pause
  one.bench.pass(9s - 1ns);
  CHECK(one.expired == 0);
  one.bench.pass(1ns);
  CHECK(one.expired == 1);
}

TEST_CASE("what a message's end of time throws ends the connection") {
  ScriptedChannel one;
  MessageDeadline deadline(*one.channel, 10s, [] { throw std::runtime_error("in the layer above"); });
  deadline.begin();
  CHECK_THROWS_AS(one.bench.pass(10s), std::runtime_error);
  CHECK(one.stream.is_closed);
}

TEST_CASE("a message of a connection that has closed does not expire") {
  LateMessage one;
  one.deadline.begin();
  one.channel->abort();
  one.bench.pass(1h);
  CHECK(one.expired == 0);
}

}  // namespace rkllm_mcp::test
