#include "tools/rate_limit.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace rkllm_mcp {
namespace {

using std::chrono::seconds;

constexpr Clock::time_point kNoon{};

// How many questions are let through at that time.
int let_through(RateLimit& limit, const std::string& name, Clock::time_point now) {
  int count = 0;
  while (!limit.take(name, now)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a minute's questions may come at once, and the next one is told how long to wait") {
  RateLimit limit(30);
  CHECK(let_through(limit, "search", kNoon) == 30);
  CHECK(limit.take("search", kNoon) == seconds(2));
}

TEST_CASE("a question is let through after the time that it was told to wait, and none before") {
  RateLimit limit(7);  // one in 8.57 seconds
  CHECK(let_through(limit, "search", kNoon) == 7);
  CHECK(limit.take("search", kNoon) == seconds(9));
  CHECK(limit.take("search", kNoon + seconds(8)) == seconds(1));
  CHECK(limit.take("search", kNoon + seconds(9)) == std::nullopt);
  CHECK(limit.take("search", kNoon + seconds(9)) != std::nullopt);
}

TEST_CASE("questions that are refused do not count") {
  RateLimit limit(60);
  CHECK(let_through(limit, "search", kNoon) == 60);
  for (int i = 0; i < 100; ++i) CHECK(limit.take("search", kNoon) == seconds(1));
  CHECK(let_through(limit, "search", kNoon + seconds(1)) == 1);
}

TEST_CASE("questions are given back evenly, and never more than those of one minute") {
  RateLimit limit(60);
  CHECK(let_through(limit, "search", kNoon) == 60);
  CHECK(let_through(limit, "search", kNoon + seconds(20)) == 20);
  CHECK(let_through(limit, "search", kNoon + seconds(20 + 3600)) == 60);
}

TEST_CASE("each name has questions of its own") {
  RateLimit limit(1);
  CHECK(let_through(limit, "search", kNoon) == 1);
  CHECK(let_through(limit, "weather", kNoon) == 1);
  CHECK(limit.take("search", kNoon) == seconds(60));
}

}  // namespace rkllm_mcp
