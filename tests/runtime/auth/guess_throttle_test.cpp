#include "auth/guess_throttle.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>

using namespace rkllm_mcp;
using namespace std::chrono_literals;

namespace {

const auto kNow = Clock::now();

}  // namespace

TEST_CASE("wrong tokens wait longer and longer, those of other addresses do not") {
  GuessThrottle throttle;
  for (unsigned i = 0; i < GuessThrottle::kFree; ++i) {
    CHECK(throttle.failed("192.0.2.1:" + std::to_string(1000 + i), kNow) == 0ms);
  }
  CHECK(throttle.failed("192.0.2.1:7", kNow) == 100ms);
  CHECK(throttle.failed("192.0.2.1:7", kNow) == 200ms);
  for (int i = 0; i < 100; ++i) throttle.failed("192.0.2.1:7", kNow);
  CHECK(throttle.failed("192.0.2.1:8", kNow) == GuessThrottle::kLongest);
  CHECK(throttle.failed("192.0.2.2:7", kNow) == 0ms);
  CHECK(throttle.failed("192.0.2.1:7", kNow + 6min) == 0ms);
}

TEST_CASE("an IPv6 network counts as one, a Unix socket's user too") {
  GuessThrottle throttle;
  for (int i = 0; i < 6; ++i) {
    throttle.failed("[2001:db8:1:2::" + std::to_string(i + 1) + "]:4711", kNow);
    throttle.failed("pid=" + std::to_string(i) + ",uid=1000", kNow);
  }
  CHECK(throttle.failed("[2001:db8:1:2:ffff::9]:1", kNow) > 0ms);
  CHECK(throttle.failed("[2001:db8:1:3::1]:1", kNow) == 0ms);
  CHECK(throttle.failed("pid=99,uid=1000", kNow) > 0ms);
  CHECK(throttle.failed("pid=99,uid=1001", kNow) == 0ms);
}

TEST_CASE("the guesses of one address wait in one line, however many come at once") {
  GuessThrottle throttle;
  for (unsigned i = 0; i < GuessThrottle::kFree; ++i) CHECK(throttle.line_up("192.0.2.1:1", kNow) == 0ms);
  GuessThrottle::Pause all(0);
  GuessThrottle::Pause pause = GuessThrottle::kFirst;
  for (std::size_t i = 0; i < GuessThrottle::kMostWaiting; ++i) {
    CHECK_FALSE(throttle.is_full("192.0.2.1:2", kNow));
    all += pause;
    CHECK(throttle.line_up("192.0.2.1:" + std::to_string(i), kNow) == all);
    pause = std::min(2 * pause, GuessThrottle::kLongest);
  }
  CHECK(throttle.is_full("192.0.2.1:2", kNow));
  CHECK_FALSE(throttle.is_full("192.0.2.2:2", kNow));
  CHECK(throttle.line_up("192.0.2.1:3", kNow) == 0ms);                         // refused at once
  CHECK(throttle.line_up("192.0.2.2:3", kNow) == 0ms);                         // one of its first
  CHECK_FALSE(throttle.is_full("192.0.2.1:2", kNow + GuessThrottle::kFirst));  // the first of them has been told
  CHECK(throttle.line_up("192.0.2.1:3", kNow + GuessThrottle::kFirst) ==
        all - GuessThrottle::kFirst + GuessThrottle::kLongest);
  CHECK(throttle.is_full("192.0.2.1:2", kNow + GuessThrottle::kFirst));
}

TEST_CASE("datagrams, whose senders may be forged, fill nobody's line") {
  GuessThrottle throttle;
  for (int i = 0; i < 1000; ++i) throttle.failed("192.0.2.1:7", kNow);
  CHECK_FALSE(throttle.is_full("192.0.2.1:7", kNow));
  CHECK(throttle.line_up("192.0.2.1:7", kNow) == GuessThrottle::kLongest);
}

TEST_CASE("the table is bounded, and the most recent stay in it") {
  GuessThrottle throttle;
  const auto address = [](unsigned i) {
    return "10.0." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ":1";
  };
  for (unsigned i = 0; i < 3 * GuessThrottle::kMost; ++i)
    throttle.failed(address(i), kNow + std::chrono::milliseconds(i));
  CHECK(throttle.size() == GuessThrottle::kMost);
  for (unsigned i = 0; i < GuessThrottle::kFree; ++i) throttle.failed(address(3 * GuessThrottle::kMost - 1), kNow + 5s);
  CHECK(throttle.failed(address(3 * GuessThrottle::kMost - 1), kNow + 5s) > 0ms);
}
