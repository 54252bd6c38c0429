// One connection's input and output, on a clock that stands still; channel_owner_contract_test.cpp has what its owners
// do.
#include "transport/bytes/channel.hpp"

#include "counts.hpp"
#include "limit.hpp"
#include "memory_budget.hpp"
#include "scripted_channel.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace std::chrono_literals;

namespace rkllm_mcp::test {
namespace {

using Told = std::vector<std::string>;

ConnectionLimits short_queue(std::size_t bytes) {
  auto limits = usual_limits<ConnectionLimits>();
  limits.send_queue_bytes = bytes;
  return limits;
}

std::uint64_t reached(const Counts& counts, Limit limit) { return counts.reached.at(static_cast<std::size_t>(limit)); }

}  // namespace

TEST_CASE("a channel gives what it reads to its owner, and reads nothing while its input is held") {
  ScriptedChannel one;
  one.stream.deliver("a");
  one.stream.deliver("b");
  CHECK(one.owner->told == Told{"received a", "received b"});

  one.owner->on_received = [&](std::string_view) { one.channel->hold_input(); };
  one.stream.deliver("c");
  CHECK_FALSE(one.stream.is_read());
  CHECK(one.channel->input_paused());
  one.channel->resume_input();
  CHECK(one.stream.is_read());
  CHECK_FALSE(one.channel->input_paused());
}

TEST_CASE("a channel's owner that holds and goes on while it looks at its input gets no second read into it") {
  ScriptedChannel one;
  one.owner->on_received = [&](std::string_view) {
    one.channel->hold_input();
    one.channel->resume_input();
    CHECK_FALSE(one.stream.is_read());
  };
  one.stream.deliver("a");
  CHECK(one.owner->told == Told{"received a"});
  CHECK(one.stream.is_read());
}

TEST_CASE("a channel's buffer grows to what the client's bursts fill, up to 64 KiB") {
  ScriptedChannel one;
  std::size_t before = one.stream.buffer.size();
  CHECK(before == std::size_t{4} * 1024);
  one.stream.deliver("little");
  CHECK(one.stream.buffer.size() == before);
  for (const std::size_t expected : {8, 16, 32, 64, 64}) {
    one.stream.deliver(std::string(one.stream.buffer.size(), 'x'));
    CHECK(one.stream.buffer.size() == expected * 1024);
  }
}

TEST_CASE("what is written to a channel in one pass of the loop leaves in one write, and the rest of it goes first") {
  ScriptedChannel one;
  one.channel->write({"a", "b"});
  one.channel->write("<", "message", ">");
  CHECK(one.stream.offered().empty());
  one.bench.settle();
  CHECK(one.stream.offered() == "ab<message>");
  one.channel->write({"later"});
  one.stream.take(3);
  one.bench.settle();
  CHECK(one.stream.offered() == "message>");
  one.stream.take_all();
  one.bench.settle();
  CHECK(one.stream.offered() == "later");
  one.stream.take_all();
  CHECK(one.channel->nothing_queued());
  CHECK(one.stream.taken == "ab<message>later");
}

TEST_CASE("a channel is not ready while its queue is full, and says once when it is again") {
  ScriptedChannel one(short_queue(10));
  one.write("0123456789");
  CHECK_FALSE(one.channel->ready());
  CHECK_FALSE(one.channel->congested());
  one.stream.take(4);
  one.bench.settle();
  CHECK_FALSE(one.channel->ready());  // not before half of it is free
  one.stream.take(1);
  one.bench.settle();
  CHECK(one.channel->ready());
  CHECK(one.owner->told == Told{"ready"});
  one.stream.take_all();
  one.bench.settle();
  CHECK(one.owner->told == Told{"ready"});
}

TEST_CASE("what a channel's owner adds when it is ready leaves with the next write") {
  ScriptedChannel one(short_queue(10));
  one.owner->on_ready = [&] { one.channel->write({"more"}); };
  one.write("0123456789");
  one.stream.take_all();
  CHECK(one.stream.offered() == "more");
}

TEST_CASE("a client that takes no answers is not read either, and that time is counted") {
  ScriptedChannel one(short_queue(10));
  one.stream.deliver("a");
  one.bench.pass(3s);
  CHECK(one.channel->time_paused() == 0s);
  one.write("01234567890123456789");
  CHECK(one.channel->congested());
  CHECK(one.channel->input_paused());
  one.stream.deliver("was being read");  // and nothing after it
  CHECK_FALSE(one.stream.is_read());
  one.bench.pass(2s);
  one.stream.take(11);
  CHECK(one.stream.is_read());
  CHECK_FALSE(one.channel->input_paused());
  CHECK(one.channel->time_paused() == 2s);
  one.channel->hold_input();
  one.bench.pass(1s);
  CHECK(one.channel->time_paused() == 2s);  // of pauses that are over
  one.channel->resume_input();
  CHECK(one.channel->time_paused() == 3s);
}

TEST_CASE("a client that takes nothing for limits.stall is given up, one that takes a byte now and then is not") {
  Counts counts;
  auto limits = usual_limits<ConnectionLimits>();
  limits.stall = 10s;
  limits.idle = 0s;
  limits.counts = &counts;
  ScriptedChannel one(limits);
  one.write("0123456789");
  for (int i = 0; i < 5; ++i) {
    one.bench.pass(9s);
    one.stream.take(1);
    one.bench.settle();
  }
  CHECK_FALSE(one.stream.is_closed);
  one.bench.pass(10s - 1ns);
  CHECK_FALSE(one.stream.is_closed);
  one.bench.pass(1ns);
  CHECK(one.stream.is_closed);
  CHECK(one.owner->told == Told{"closed"});
  CHECK(one.finished == 1);
  CHECK(reached(counts, Limit::kStall) == 1);
}

TEST_CASE("a client to which nothing is owed is never taken for one that does not read") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.stall = 10s;
  limits.idle = 0s;
  ScriptedChannel one(limits);
  one.write("a");
  one.stream.take_all();
  one.bench.settle();
  one.bench.pass(1h);
  CHECK_FALSE(one.stream.is_closed);
}

TEST_CASE("a connection on which nothing moves in either direction for limits.idle is closed") {
  Counts counts;
  auto limits = usual_limits<ConnectionLimits>();
  limits.idle = 60s;
  limits.counts = &counts;
  ScriptedChannel one(limits);
  one.bench.pass(59s);
  one.stream.deliver("a");
  one.bench.pass(59s);
  one.write("b");
  one.stream.take_all();
  one.bench.settle();
  one.bench.pass(60s - 1ns);
  CHECK(one.channel->is_open());
  one.bench.pass(1ns);
  CHECK_FALSE(one.channel->is_open());
  CHECK(one.stream.is_shut_down);
  CHECK(reached(counts, Limit::kIdle) == 1);
}

TEST_CASE("a channel that is closed writes what is queued, forgets what arrives, and gives its client a second") {
  ScriptedChannel one;
  one.channel->write({"last words"});
  one.channel->close();
  one.channel->write({"too late"});
  one.bench.settle();
  one.stream.deliver("ignored");
  CHECK(one.stream.offered() == "last words");
  CHECK_FALSE(one.stream.is_shut_down);
  one.stream.take_all();
  one.bench.settle();
  CHECK(one.stream.is_shut_down);
  CHECK(one.owner->told == Told{"closed"});
  CHECK(one.finished == 1);
  one.stream.deliver("ignored as well");
  one.bench.pass(1s - 1ns);
  CHECK_FALSE(one.stream.is_closed);
  one.bench.pass(1ns);
  CHECK(one.stream.is_closed);
  CHECK(one.owner->told == Told{"closed"});
  CHECK(one.stream.taken == "last words");
}

TEST_CASE("a channel that is closed does not wait for a client that has ended, or that cannot send any more") {
  SECTION("it ends meanwhile") {
    ScriptedChannel one;
    one.channel->close();
    one.bench.settle();
    CHECK_FALSE(one.stream.is_closed);
    one.stream.end_input();
    CHECK(one.stream.is_closed);
  }
  SECTION("it has ended before") {
    ScriptedChannel one;
    one.stream.end_input();
    one.channel->close();
    one.bench.settle();
    CHECK(one.stream.is_closed);
    CHECK(one.owner->told == Told{"ended", "closed"});
  }
  SECTION("it sends nothing") {
    ScriptedChannel one;
    one.stream.may_still_send = false;
    one.channel->close();
    one.bench.settle();
    CHECK(one.stream.is_closed);
  }
}

TEST_CASE("a client that has ended its input gets its answers, until the system reports that it is gone") {
  ScriptedChannel one;
  one.stream.end_input();
  CHECK(one.owner->told == Told{"ended"});
  one.write("answer");
  one.stream.take_all();
  CHECK(one.stream.taken == "answer");
  CHECK(one.channel->is_open());
  one.stream.hang_up();
  one.bench.settle();
  CHECK(one.stream.is_closed);
  CHECK(one.owner->told == Told{"ended", "closed"});
}

TEST_CASE("a channel that fails tells its owner once, from the loop itself, and lets go of it") {
  const bool reading = GENERATE(true, false);
  ScriptedChannel one;
  std::weak_ptr<NotingOwner> gone = one.owner;
  one.write("a");
  if (reading) {
    one.stream.fail_reading();
  } else {
    one.stream.fail_writing();
  }
  CHECK(one.stream.is_closed);
  CHECK(one.owner->told.empty());
  one.bench.settle();
  CHECK(one.owner->told == Told{"closed"});
  CHECK(one.finished == 1);
  one.channel->abort();
  one.channel->close();
  one.write("nobody hears this");
  CHECK(one.owner->told == Told{"closed"});
  one.owner.reset();
  CHECK(gone.expired());
}

TEST_CASE("what a channel's owner throws ends this connection, and goes on") {
  ScriptedChannel one;
  one.owner->on_received = [](std::string_view) { throw std::runtime_error("in the layer above"); };
  CHECK_THROWS_AS(one.stream.deliver("a"), std::runtime_error);
  CHECK(one.stream.is_closed);
  one.bench.settle();
  CHECK(one.owner->told == Told{"received a", "closed"});
}

TEST_CASE("a client that has ended its input is sent a filler now and each second in which nothing else waits") {
  ScriptedChannel one;
  one.stream.end_input();
  one.channel->keep_probing("\n");
  one.bench.settle();
  CHECK(one.stream.offered() == "\n");
  one.bench.pass(1s);  // it has not taken that yet
  one.stream.take_all();
  one.bench.settle();
  CHECK(one.stream.offered().empty());
  one.bench.pass(1s);
  CHECK(one.stream.offered() == "\n");
  one.stream.take_all();
  one.channel->close();
  one.bench.pass(5s);
  CHECK(one.stream.taken == "\n\n");
}

TEST_CASE("what a channel has to do later is done for the owner that it has now, and for no other") {
  ScriptedChannel one;
  int done = 0;
  one.channel->later([&] { ++done; });
  CHECK(done == 0);
  one.bench.settle();
  CHECK(done == 1);

  const auto next = std::make_shared<NotingOwner>();
  one.channel->later([&] { ++done; });
  one.channel->start(next);
  one.bench.settle();
  CHECK(done == 1);
  one.stream.deliver("for the next");
  CHECK(next->told == Told{"received for the next"});
  CHECK(one.owner->told.empty());

  one.channel->later([&] { ++done; });
  one.channel->abort();
  one.bench.settle();
  CHECK(done == 1);
}

TEST_CASE("a channel that is discarded tells nobody, and one that goes away asks its owner to say goodbye") {
  ScriptedChannel one;
  one.channel->go_away();
  CHECK(one.owner->told == Told{"go away"});
  one.channel->discard();
  one.bench.settle();
  CHECK(one.stream.is_closed);
  CHECK(one.owner->told == Told{"go away"});
  CHECK(one.finished == 0);
  one.channel->go_away();
  CHECK(one.owner->told == Told{"go away"});
}

TEST_CASE("a channel's queue counts in the memory that all share, and gives it back as it is written") {
  auto limits = usual_limits<ConnectionLimits>();
  limits.memory = MemoryBudget(std::size_t{1} << 20U);
  const std::size_t before = limits.memory.used();
  {
    ScriptedChannel one(limits);
    one.write(std::string(100'000, 'x'));
    CHECK(limits.memory.used() >= before + 100'000);
    CHECK(one.channel->has_room_for(500'000));
    CHECK_FALSE(one.channel->has_room_for(std::size_t{1} << 20U));
    one.stream.take(60'000);
    CHECK(limits.memory.used() < before + 60'000);
    one.stream.take_all();
    CHECK(limits.memory.used() == before);
    one.write("left behind");
  }
  CHECK(limits.memory.used() == before);
}

}  // namespace rkllm_mcp::test
