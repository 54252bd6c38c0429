#include "side_thread.hpp"

#include "support/catch.hpp"

#include <pthread.h>

#include <asio/io_context.hpp>

#include <cstddef>
#include <thread>

using namespace rkllm_mcp;

namespace {

// As long as it lives, no thread can be started: there is not so much memory for a stack.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    constexpr std::size_t kTooLargeStack = std::size_t{1} << (8 * sizeof(std::size_t) - 3);
    REQUIRE(::pthread_getattr_default_np(&usual_) == 0);
    pthread_attr_t impossible;
    REQUIRE(::pthread_attr_init(&impossible) == 0);
    REQUIRE(::pthread_attr_setstacksize(&impossible, kTooLargeStack) == 0);
    REQUIRE(::pthread_setattr_default_np(&impossible) == 0);
    ::pthread_attr_destroy(&impossible);
  }
  ~NoMoreThreads() {
    ::pthread_setattr_default_np(&usual_);
    ::pthread_attr_destroy(&usual_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t usual_{};
};

}  // namespace

TEST_CASE("work is done beside the loop, and its outcome is told on it") {
  asio::io_context loop;
  SideThread beside(loop);
  std::thread::id worked_on;
  std::thread::id told_on;
  beside.run([&] { worked_on = std::this_thread::get_id(); }, [&] { told_on = std::this_thread::get_id(); });
  loop.run();
  CHECK(worked_on != std::thread::id());
  CHECK(worked_on != told_on);
  CHECK(told_on == std::this_thread::get_id());
}

TEST_CASE("where no thread can be started, work is done on the loop") {
  const NoMoreThreads none;
  asio::io_context loop;
  SideThread beside(loop);
  std::thread::id worked_on;
  bool is_told = false;
  beside.run([&] { worked_on = std::this_thread::get_id(); }, [&] { is_told = true; });
  CHECK(worked_on == std::this_thread::get_id());
  CHECK_FALSE(is_told);
  loop.run();
  CHECK(is_told);
}

TEST_CASE("an outcome is not told once its side thread has gone, whether there was a thread or not") {
  const bool has_thread = GENERATE(true, false);
  asio::io_context loop;
  bool is_told = false;
  {
    SideThread beside(loop);
    if (has_thread) {
      beside.run([] {}, [&] { is_told = true; });
    } else {
      const NoMoreThreads none;
      beside.run([] {}, [&] { is_told = true; });
    }
  }
  loop.run();
  CHECK_FALSE(is_told);
}
