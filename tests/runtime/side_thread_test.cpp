#include "side_thread.hpp"

#include "support/catch.hpp"
#include "support/no_more_threads.hpp"

#include <asio/io_context.hpp>

#include <thread>

using namespace rkllm_mcp;
using rkllm_mcp::test::NoMoreThreads;

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
