#include "call/value_store.hpp"

#include "support/catch.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

constexpr std::size_t kKept = 400;  // bytes of each

ValueRows hundred_values() {
  ValueRows rows;
  rows.values.resize(kKept / sizeof(float));
  rows.rows = 1;
  rows.columns = rows.values.size();
  return rows;
}

std::string keep(ValueStore& store) { return store.keep({hundred_values()}).at(0); }

ErrorCode error_of_keeping(ValueStore& store, std::size_t sets = 1) {
  try {
    store.keep(std::vector<ValueRows>(sets, hundred_values()));
  } catch (const RpcError& error) {
    return error.code();
  }
  FAIL("they were kept");
  return ErrorCode::kInternalError;
}

}  // namespace

TEST_CASE("values are forgotten when their time is over, whether anybody comes or not") {
  asio::io_context loop;
  const auto memory = std::make_shared<MemoryBudget>(10'000);
  ValueStore store(loop, memory, std::chrono::milliseconds(1));
  const std::string first = keep(store);
  keep(store);
  CHECK(memory->used() == 2 * kKept);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (memory->used() > 0 && std::chrono::steady_clock::now() < deadline) {
    loop.restart();
    loop.run_one_for(std::chrono::seconds(1));
  }
  CHECK(memory->used() == 0);
  CHECK(store.find(first) == nullptr);
}

TEST_CASE("the oldest values make room in a quarter of the memory") {
  asio::io_context loop;
  const auto memory = std::make_shared<MemoryBudget>(4000);
  ValueStore store(loop, memory);
  const std::string first = keep(store);
  const std::string second = keep(store);
  CHECK(store.find(first) != nullptr);
  keep(store);
  CHECK(store.find(first) == nullptr);
  CHECK(store.find(second) != nullptr);
  CHECK(memory->used() == 2 * kKept);
}

TEST_CASE("no values are forgotten where that makes no room") {
  asio::io_context loop;
  const auto memory = std::make_shared<MemoryBudget>(4000);
  ValueStore store(loop, memory);
  const std::string first = keep(store);
  MemoryShare others(memory);
  others.set(4000);
  CHECK(error_of_keeping(store) == ErrorCode::kQueueFull);
  CHECK(store.find(first) != nullptr);
  others.set(0);
  keep(store);
  CHECK(store.find(first) != nullptr);
}

TEST_CASE("values that never find room are too large") {
  asio::io_context loop;
  ValueStore store(loop, std::make_shared<MemoryBudget>(4 * kKept - 4));
  CHECK(error_of_keeping(store) == ErrorCode::kTooLarge);
}

TEST_CASE("of one answer's values none makes room for another") {
  asio::io_context loop;
  const auto memory = std::make_shared<MemoryBudget>(4 * 2 * kKept);
  ValueStore store(loop, memory);
  const std::string before = keep(store);
  CHECK(error_of_keeping(store, 3) == ErrorCode::kTooLarge);
  CHECK(store.find(before) != nullptr);
  const auto ids = store.keep({hundred_values(), hundred_values()});
  REQUIRE(ids.size() == 2);
  CHECK(store.find(before) == nullptr);
  CHECK(store.find(ids[0]) != nullptr);
  CHECK(store.find(ids[1]) != nullptr);
  CHECK(memory->used() == 2 * kKept);
}
