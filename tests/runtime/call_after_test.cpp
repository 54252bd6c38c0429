// Something that is done later, once.
#include "clock.hpp"

#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <memory>

namespace rkllm_mcp {

TEST_CASE("what is to be done later is done on the loop, after its pause, once, and holds nothing afterwards") {
  constexpr std::chrono::milliseconds kPause{20};
  asio::io_context loop;
  int times = 0;
  const auto held = std::make_shared<int>();
  const auto began = Clock::now();
  call_after(loop, kPause, [&times, held] { ++times; });
  CHECK(held.use_count() == 2);
  CHECK(times == 0);
  loop.run();
  CHECK(times == 1);
  CHECK(Clock::now() - began >= kPause);
  CHECK(held.use_count() == 1);
}

TEST_CASE("what is to be done later is dropped with its loop") {
  const auto held = std::make_shared<int>();
  bool is_done = false;
  {
    asio::io_context loop;
    call_after(loop, std::chrono::hours(1), [&is_done, held] { is_done = true; });
    CHECK(held.use_count() == 2);
  }
  CHECK_FALSE(is_done);
  CHECK(held.use_count() == 1);
}

}  // namespace rkllm_mcp
