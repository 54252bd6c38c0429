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

std::string keep(ValueStore& store, const std::string& owner = "one") {
  return store.keep({hundred_values()}, owner).at(0);
}

ErrorCode error_of_keeping(ValueStore& store, std::size_t sets = 1, const std::string& owner = "one") {
  try {
    store.keep(std::vector<ValueRows>(sets, hundred_values()), owner);
  } catch (const RpcError& error) {
    return error.code();
  }
  FAIL("they were kept");
  return ErrorCode::kInternalError;
}

}  // namespace

TEST_CASE("values are forgotten when their time is over, whether anybody comes or not") {
  asio::io_context loop;
  const MemoryBudget memory(10'000);
  ValueStore store(loop, memory, std::chrono::milliseconds(1));
  const std::string first = keep(store);
  keep(store);
  CHECK(memory.used() == 2 * kKept);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (memory.used() > 0 && std::chrono::steady_clock::now() < deadline) {
    loop.restart();
    loop.run_one_for(std::chrono::seconds(1));
  }
  CHECK(memory.used() == 0);
  CHECK(store.find(first) == nullptr);
}

TEST_CASE("the oldest values make room in a quarter of the memory") {
  asio::io_context loop;
  const MemoryBudget memory(4000);
  ValueStore store(loop, memory);
  const std::string first = keep(store);
  const std::string second = keep(store);
  CHECK(store.find(first) != nullptr);
  keep(store);
  CHECK(store.find(first) == nullptr);
  CHECK(store.find(second) != nullptr);
  CHECK(memory.used() == 2 * kKept);
}

TEST_CASE("no values are forgotten where that makes no room") {
  asio::io_context loop;
  const MemoryBudget memory(4000);
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
  ValueStore store(loop, MemoryBudget(4 * kKept - 4));
  CHECK(error_of_keeping(store) == ErrorCode::kTooLarge);
}

TEST_CASE("of one answer's values none makes room for another") {
  asio::io_context loop;
  const MemoryBudget memory(4 * 2 * kKept);
  ValueStore store(loop, memory);
  const std::string before = keep(store);
  CHECK(error_of_keeping(store, 3) == ErrorCode::kTooLarge);
  CHECK(store.find(before) != nullptr);
  const auto ids = store.keep({hundred_values(), hundred_values()}, "one");
  REQUIRE(ids.size() == 2);
  CHECK(store.find(before) == nullptr);
  CHECK(store.find(ids[0]) != nullptr);
  CHECK(store.find(ids[1]) != nullptr);
  CHECK(memory.used() == 2 * kKept);
}

TEST_CASE("who keeps many values pushes out its own, and nobody's who has fewer") {
  asio::io_context loop;
  ValueStore store(loop, MemoryBudget(1'000'000));
  const std::string others = keep(store, "other");
  const std::string first = keep(store);
  std::string last;
  for (std::size_t i = 0; i < 2 * ValueStore::kMost; ++i) last = keep(store);
  CHECK(store.find(others) != nullptr);
  CHECK(store.find(first) == nullptr);
  CHECK(store.find(last) != nullptr);
  const std::string second = keep(store, "other");
  CHECK(store.find(others) != nullptr);
  CHECK(store.find(second) != nullptr);
  CHECK(store.find(last) != nullptr);
}

TEST_CASE("who keeps long values pushes out its own, and nobody's who has less") {
  asio::io_context loop;
  const MemoryBudget memory(4 * 4 * kKept);
  ValueStore store(loop, memory);
  const std::string others = keep(store, "other");
  std::string first = keep(store);
  for (int i = 0; i < 10; ++i) keep(store);
  CHECK(store.find(others) != nullptr);
  CHECK(store.find(first) == nullptr);
  CHECK(memory.used() == 4 * kKept);
  first = keep(store, "third");
  CHECK(error_of_keeping(store, 4) == ErrorCode::kQueueFull);  // only with what belongs to those who have less
  CHECK(memory.used() == 4 * kKept);
  CHECK(store.find(others) != nullptr);
  CHECK(store.find(first) != nullptr);
}

TEST_CASE("a newcomer takes the place of the oldest where everybody has as little") {
  asio::io_context loop;
  ValueStore store(loop, MemoryBudget(1'000'000));
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < ValueStore::kMost; ++i) ids.push_back(keep(store, std::to_string(i)));
  keep(store, "newcomer");
  CHECK(store.find(ids[0]) == nullptr);
  CHECK(store.find(ids[1]) != nullptr);
}
