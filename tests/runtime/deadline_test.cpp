// On a clock that stands still until the test moves it on.
#include "deadline.hpp"

#include "simulation/sim_bench.hpp"
#include "support/catch.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

using namespace rkllm_mcp;
using namespace std::chrono_literals;

namespace {

struct CountedDeadline {
  simulation::SimBench bench;
  int expired = 0;
  std::optional<Deadline> deadline{std::in_place, bench.loop(), [this] { ++expired; }};
};

}  // namespace

TEST_CASE("a deadline expires once, when its time has come and not before") {
  CountedDeadline counted;
  counted.bench.pass(1h);
  CHECK(counted.expired == 0);
  counted.deadline->set_after(10s);
  counted.bench.pass(10s - 1ns);
  CHECK(counted.expired == 0);
  counted.bench.pass(1ns);
  CHECK(counted.expired == 1);
  counted.bench.pass(1h);
  CHECK(counted.expired == 1);
}

TEST_CASE("a deadline that is past expires from the loop, and not from inside of what sets it") {
  CountedDeadline counted;
  counted.bench.pass(1h);
  counted.deadline->set_at(Clock::now() - 1s);
  CHECK(counted.expired == 0);
  counted.bench.settle();
  CHECK(counted.expired == 1);
  counted.deadline->set_after(0s);
  CHECK(counted.expired == 1);
  counted.bench.settle();
  CHECK(counted.expired == 2);
}

TEST_CASE("a deadline that is put off does not expire at its old time, however often it moves") {
  CountedDeadline counted;
  counted.deadline->set_after(10s);
  for (int i = 0; i < 100; ++i) {
    counted.bench.pass(9s);
    counted.deadline->set_after(10s);
  }
  counted.bench.pass(10s - 1ns);
  CHECK(counted.expired == 0);
  counted.bench.pass(1ns);
  CHECK(counted.expired == 1);
}

TEST_CASE("a deadline that comes nearer expires at the new time alone") {
  CountedDeadline counted;
  counted.deadline->set_after(10s);
  counted.deadline->set_after(3s);
  counted.bench.pass(3s - 1ns);
  CHECK(counted.expired == 0);
  counted.bench.pass(1ns);
  CHECK(counted.expired == 1);
  counted.bench.pass(1h);
  CHECK(counted.expired == 1);
}

TEST_CASE("a deadline that is put off, and then comes nearer again, expires at the last time") {
  CountedDeadline counted;
  counted.deadline->set_after(10s);
  counted.deadline->set_after(30s);
  counted.bench.pass(15s);
  CHECK(counted.expired == 0);
  counted.deadline->set_after(5s);
  counted.bench.pass(5s - 1ns);
  CHECK(counted.expired == 0);
  counted.bench.pass(1ns);
  CHECK(counted.expired == 1);
}

TEST_CASE("a deadline that is cleared does not expire, and can be set again, before or after its old time") {
  CountedDeadline counted;
  counted.deadline->set_after(10s);
  counted.deadline->clear();
  counted.bench.pass(1h);
  CHECK(counted.expired == 0);
  counted.deadline->set_after(10s);
  counted.bench.pass(10s);
  CHECK(counted.expired == 1);

  counted.deadline->set_after(10s);
  counted.deadline->clear();
  counted.deadline->set_after(20s);
  counted.bench.pass(20s - 1ns);
  CHECK(counted.expired == 1);
  counted.bench.pass(1ns);
  CHECK(counted.expired == 2);
}

TEST_CASE("a deadline may be set again by its own action") {
  simulation::SimBench bench;
  int expired = 0;
  std::optional<Deadline> deadline;
  deadline.emplace(bench.loop(), [&] {
    if (++expired < 3) deadline->set_after(10s);
  });
  deadline->set_after(10s);
  bench.pass(10s);
  CHECK(expired == 1);
  bench.pass(10s);
  CHECK(expired == 2);
  bench.pass(10s);
  bench.pass(1h);
  CHECK(expired == 3);
}

TEST_CASE("a deadline that is no more does not expire") {
  CountedDeadline counted;
  counted.deadline->set_after(10s);
  counted.bench.pass(5s);
  counted.deadline.reset();
  counted.bench.pass(1h);
  CHECK(counted.expired == 0);
}

TEST_CASE("a deadline's action may end the deadline, and is whole until it returns") {
  simulation::SimBench bench;
  std::optional<Deadline> deadline;
  const auto kept = std::make_shared<int>(7);
  int seen = 0;
  deadline.emplace(bench.loop(), [&deadline, &seen, held = kept] {
    deadline.reset();
    seen = *held;
  });
  deadline->set_after(1s);
  bench.pass(1s);
  CHECK_FALSE(deadline);
  CHECK(seen == 7);
  CHECK(kept.use_count() == 1);
}
