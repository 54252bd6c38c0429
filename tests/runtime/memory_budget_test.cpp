#include "memory_budget.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

MemoryShare share_of(const MemoryBudget& memory, std::size_t bytes, std::size_t guaranteed = 0) {
  MemoryShare share(memory, guaranteed);
  share.set(bytes);
  return share;
}

}  // namespace

TEST_CASE("without a budget there is always room, and nothing is counted") {
  const MemoryBudget none;
  CHECK_FALSE(none.exists());
  CHECK(none.has_room(static_cast<std::size_t>(-1)));
  MemoryShare share(none, 0);
  CHECK(share.grow(1'000'000));
  CHECK(share.bytes() == 1'000'000);
  CHECK(none.used() == 0);
  CHECK(none.limit() == static_cast<std::size_t>(-1));
}

TEST_CASE("what is taken of a budget is given back by whoever has it, when it shrinks and when it goes") {
  const MemoryBudget memory(100);
  CHECK(memory.exists());
  CHECK(memory.limit() == 100);
  std::optional<MemoryShare> first = share_of(memory, 40);
  const MemoryShare second = share_of(memory, 30);
  CHECK(memory.used() == 70);
  first->set(10);
  CHECK(memory.used() == 40);
  first.reset();
  CHECK(memory.used() == 30);
  CHECK(second.limit() == 100);
}

TEST_CASE("there is room up to the limit, and not for one byte more") {
  const MemoryBudget memory(100);
  MemoryShare share = share_of(memory, 60);
  CHECK(memory.has_room(40));
  CHECK_FALSE(memory.has_room(41));
  CHECK(share.has_room_for(40));
  CHECK_FALSE(share.has_room_for(41));
  CHECK_FALSE(share.grow(41));
  CHECK(share.bytes() == 60);
  CHECK(share.grow(40));
  CHECK(share.bytes() == 100);
  CHECK(memory.has_room(0));
  CHECK_FALSE(memory.has_room(static_cast<std::size_t>(-1)));
}

TEST_CASE("what is about to be given back counts as free, once") {
  const MemoryBudget memory(100);
  const MemoryShare share = share_of(memory, 90);
  CHECK_FALSE(memory.has_room(50));
  CHECK(memory.has_room(50, 40));
  CHECK_FALSE(memory.has_room(51, 40));
  CHECK(memory.has_room(100, 1000));  // more than is used is not there to be given back
  CHECK_FALSE(memory.has_room(101, 1000));
}

TEST_CASE("a share may take more than there is room for, and then there is none, also for others") {
  const MemoryBudget memory(100);
  MemoryShare share = share_of(memory, 150);
  CHECK(memory.used() == 150);
  CHECK_FALSE(memory.has_room(0));
  CHECK_FALSE(share_of(memory, 0).has_room_for(1));
  share.set(0);
  CHECK(memory.has_room(100));
}

TEST_CASE("each share may have a little whatever the others have taken") {
  const MemoryBudget memory(100);
  const MemoryShare greedy = share_of(memory, 100);
  MemoryShare modest(memory, 20);
  CHECK(modest.grow(20));
  CHECK_FALSE(modest.grow(1));
  CHECK(memory.used() == 120);
  MemoryShare usual(memory);
  CHECK(usual.grow(MemoryShare::kGuaranteed));
  CHECK_FALSE(usual.grow(1));
}

TEST_CASE("a budget that is part of another one uses that up as well, and is held to both") {
  const MemoryBudget whole(100);
  const MemoryBudget part(60, whole);
  MemoryShare in_part = share_of(part, 50);
  CHECK(part.used() == 50);
  CHECK(whole.used() == 50);
  CHECK_FALSE(in_part.has_room_for(11));  // of the part
  CHECK(in_part.is_too_much_for_its_part(11));
  const MemoryShare beside = share_of(whole, 45);
  CHECK(part.used() == 50);
  CHECK(in_part.has_room_for(5));
  CHECK_FALSE(in_part.has_room_for(6));  // of the whole
  CHECK_FALSE(in_part.is_too_much_for_its_part(6));
  CHECK(part.has_room_in_its_part(10));
  in_part.set(0);
  CHECK(whole.used() == 45);
}

TEST_CASE("a budget is there as long as anybody has a share of it") {
  std::optional<MemoryBudget> whole{100};
  std::optional<MemoryBudget> part{MemoryBudget(50, *whole)};
  MemoryShare share = share_of(*part, 10);
  part.reset();
  whole.reset();
  CHECK(share.grow(40));
  CHECK_FALSE(share.grow(1));
}

TEST_CASE("a share that is moved is had once") {
  const MemoryBudget memory(100);
  const MemoryBudget other(100);
  MemoryShare first = share_of(memory, 30);
  MemoryShare second(std::move(first));
  CHECK(second.bytes() == 30);
  CHECK(memory.used() == 30);
  MemoryShare third = share_of(other, 20);
  third = std::move(second);
  CHECK(other.used() == 0);  // what it had before is given back there
  CHECK(memory.used() == 30);
  third.set(5);
  CHECK(memory.used() == 5);
  MemoryShare& itself = third;
  third = std::move(itself);
  CHECK(memory.used() == 5);
}

TEST_CASE("shares on many threads count right") {
  const MemoryBudget whole(1'000'000);
  const MemoryBudget part(1'000'000, whole);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&part] {
      for (std::size_t i = 0; i < 10'000; ++i) {
        MemoryShare share(part);
        share.set(i);
        share.set(7);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(part.used() == 0);
  CHECK(whole.used() == 0);
}

TEST_CASE("that there is no memory says which limit it was, so that somebody can raise it") {
  const RpcError error = no_memory();
  CHECK(error.code() == ErrorCode::kQueueFull);
  const std::string setting = error.data()["setting"].get<std::string>();
  CHECK(setting == name_of(Limit::kMemory));
  CHECK_THAT(error.what(), test::has_text("(" + setting + ")"));
}
