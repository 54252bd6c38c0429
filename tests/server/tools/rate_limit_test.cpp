#include "tools/rate_limit.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <optional>

using namespace rkllm_mcp;
using namespace std::chrono_literals;

namespace {

const Clock::time_point kFirstAsked = Clock::time_point() + 1h;
using LimitWait = std::optional<std::chrono::seconds>;

}  // namespace

TEST_CASE("so many questions are let through at once as there may be in a minute, and the next has to wait") {
  RateLimit limit(3);
  for (int question = 0; question < 3; ++question) CHECK(limit.take("a", kFirstAsked) == LimitWait());
  CHECK(limit.take("a", kFirstAsked) == LimitWait(20s));
  CHECK(limit.take("a", kFirstAsked) == LimitWait(20s));  // one that has to wait does not count
}

TEST_CASE("whoever waits as long as was said is let through, and no earlier") {
  RateLimit limit(3);
  for (int question = 0; question < 3; ++question) limit.take("a", kFirstAsked);
  CHECK(limit.take("a", kFirstAsked + 19s) == LimitWait(1s));
  CHECK(limit.take("a", kFirstAsked + 20s) == LimitWait());
  CHECK(limit.take("a", kFirstAsked + 20s) == LimitWait(20s));
}

TEST_CASE("a wait is told in whole seconds, and never as none") {
  RateLimit limit(60);
  for (int question = 0; question < 60; ++question) limit.take("a", kFirstAsked);
  CHECK(limit.take("a", kFirstAsked) == LimitWait(1s));
  CHECK(limit.take("a", kFirstAsked + 999ms) == LimitWait(1s));
  CHECK(limit.take("a", kFirstAsked + 1s) == LimitWait());
}

TEST_CASE("a quiet hour saves up no more than one minute's questions") {
  RateLimit limit(2);
  limit.take("a", kFirstAsked);
  for (int question = 0; question < 2; ++question) CHECK(limit.take("a", kFirstAsked + 1h) == LimitWait());
  CHECK(limit.take("a", kFirstAsked + 1h) == LimitWait(30s));
}

TEST_CASE("each name has a limit of its own") {
  RateLimit limit(1);
  CHECK(limit.take("a", kFirstAsked) == LimitWait());
  CHECK(limit.take("b", kFirstAsked) == LimitWait());
  CHECK(limit.take("a", kFirstAsked) == LimitWait(60s));
}
