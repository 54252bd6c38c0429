#include "run_loop.hpp"

#include "support/catch.hpp"

#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <new>
#include <vector>

using namespace rkllm_mcp;

namespace {

std::chrono::nanoseconds processor_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void work(std::chrono::milliseconds long_enough) {
  const auto until = processor_time() + long_enough;
  while (processor_time() < until) {
  }
}

}  // namespace

TEST_CASE("a callback that takes more than 50 ms of processor time is told of, and no other") {
  asio::io_context loop;
  std::vector<std::chrono::milliseconds> told;
  // No processor works for it: that a loop has waited for so long is what must not be told.
  asio::steady_timer waited(loop, std::chrono::milliseconds(100));
  waited.async_wait([](const asio::error_code&) {});
  asio::post(loop, [] { work(std::chrono::milliseconds(5)); });
  asio::post(loop, [] { work(std::chrono::milliseconds(60)); });
  asio::post(loop, [] { work(std::chrono::milliseconds(5)); });
  run_watched(loop, [&](std::chrono::milliseconds time) { told.push_back(time); });
  REQUIRE(told.size() == 1);
  CHECK(told[0] >= std::chrono::milliseconds(55));
}

TEST_CASE("what a callback took is told without what others took before it") {
  asio::io_context loop;
  std::vector<std::chrono::milliseconds> told;
  asio::post(loop, [] { work(std::chrono::milliseconds(4)); });
  asio::post(loop, [] { work(std::chrono::milliseconds(48)); });
  run_watched(loop, [&](std::chrono::milliseconds time) { told.push_back(time); });
  CHECK(told.empty());

  loop.restart();
  asio::post(loop, [] { work(std::chrono::milliseconds(4)); });
  asio::post(loop, [] { work(std::chrono::milliseconds(60)); });
  run_watched(loop, [&](std::chrono::milliseconds time) { told.push_back(time); });
  REQUIRE(told.size() == 1);
  CHECK(told[0] >= std::chrono::milliseconds(55));
  CHECK(told[0] < std::chrono::milliseconds(64));
}

TEST_CASE("of news that may be lost no more than so many wait for the loop at a time") {
  asio::io_context loop;
  std::atomic<int> waiting = 0;
  std::vector<int> taken;
  const auto tell = [&](int number) {
    return post_unless_many(loop, waiting, 2, [&] { return [&taken, number] { taken.push_back(number); }; });
  };
  CHECK(tell(1));
  CHECK(tell(2));
  CHECK_FALSE(tell(3));
  CHECK(waiting.load() == 2);
  loop.poll();
  CHECK(waiting.load() == 0);
  CHECK(tell(4));
  loop.restart();
  loop.poll();
  CHECK(taken == std::vector<int>{1, 2, 4});
}

TEST_CASE("news that there is no memory for is dropped, and does not count") {
  asio::io_context loop;
  std::atomic<int> waiting = 0;
  const auto no_action = []() -> std::function<void()> { throw std::bad_alloc(); };
  CHECK_FALSE(post_unless_many(loop, waiting, 2, no_action));
  CHECK(waiting.load() == 0);
  CHECK(loop.poll() == 0);
}
