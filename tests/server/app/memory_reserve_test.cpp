// The memory that is put by for the end of requests, where the system gives no more.
#include "app/memory_reserve.hpp"

#include "support/catch.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <sys/resource.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <optional>

namespace rkllm_mcp {
namespace {

// The process gets no more memory than it has; what is free of that is taken.
class NoMemory {
 public:
  NoMemory() {
    ::getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit now{pages * 4096, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &now);
    take_all();
  }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  ~NoMemory() {
    while (taken_ != nullptr) {
      void* const next = *static_cast<void**>(taken_);
      std::free(taken_);
      taken_ = next;
    }
    ::setrlimit(RLIMIT_AS, &before_);
  }

  // Also what was given back meanwhile. malloc() does not ask the new-handler.
  void take_all() {
    for (std::size_t bytes = std::size_t{64} << 20U; bytes >= kSmallest; bytes /= 2) {
      while (void* const block = std::malloc(bytes)) {
        *static_cast<void**>(block) = taken_;
        taken_ = block;
      }
    }
  }

 private:
  static constexpr std::size_t kSmallest = 16 * 1024;  // the loop needs a little

  rlimit before_{};
  void* taken_ = nullptr;
};

void ask_for_more() { std::get_new_handler()(); }

}  // namespace

TEST_CASE("the memory put by is given back once, and put by again as soon as the system has some") {
  asio::io_context loop;
  const MemoryBudget memory(1000);
  const MemoryReserve reserve(loop, memory);
  CHECK_NOTHROW(ask_for_more());
  CHECK_THROWS_AS(ask_for_more(), std::bad_alloc);
  loop.poll();
  CHECK(memory.has_room(1000));
  CHECK_NOTHROW(ask_for_more());
}

TEST_CASE("without the memory put by the process has the new-handler that it had") {
  const std::new_handler before = std::get_new_handler();
  {
    asio::io_context loop;
    const MemoryReserve reserve(loop, MemoryBudget(1000));
    CHECK(std::get_new_handler() != before);
  }
  CHECK(std::get_new_handler() == before);
}

#if !RKLLM_MCP_SANITIZED
namespace {

bool has_room_in_the_end(asio::io_context& loop, const MemoryBudget& memory) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!memory.has_room(1) && std::chrono::steady_clock::now() < deadline) {
    loop.restart();
    loop.run_one_for(std::chrono::seconds(1));
  }
  return memory.has_room(1);
}

}  // namespace

TEST_CASE("what a request was can be destroyed where the system gives no more memory") {
  asio::io_context loop;
  const MemoryBudget memory(1000);
  const MemoryReserve reserve(loop, memory);
  std::optional<Json> array(Json::array());
  for (int i = 0; i < 200'000; ++i) array->push_back(Json::array());
  {
    const NoMemory now;
    array.reset();  // which takes 3 MB, or ends this program
  }
  CHECK_FALSE(array);
}

TEST_CASE("clients get no memory until there is some to be put by again") {
  asio::io_context loop;
  const MemoryBudget memory(1000);
  const MemoryReserve reserve(loop, memory);
  bool has_room = true;
  {
    NoMemory now;
    ask_for_more();
    now.take_all();
    loop.poll();
    has_room = memory.has_room(1);
  }
  CHECK_FALSE(has_room);
  CHECK(has_room_in_the_end(loop, memory));
}
#endif

}  // namespace rkllm_mcp
