#include "threads/fair_threads.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

// Pieces of work that say when they begin, and go on until they are let go.
class Bench {
 public:
  std::function<void()> piece(std::string name) {
    return [this, name = std::move(name)] {
      std::unique_lock lock(mutex_);
      begun_.push_back(name);
      news_.notify_all();
      news_.wait(lock, [this, &name] { return is_open_ || let_go_ == name; });
    };
  }
  // Waits until so many have begun; which these are.
  std::vector<std::string> await(std::size_t count) {
    std::unique_lock lock(mutex_);
    news_.wait_for(lock, std::chrono::seconds(60), [&] { return begun_.size() >= count; });
    return begun_;
  }
  void let_go(const std::string& name) {
    const std::lock_guard lock(mutex_);
    let_go_ = name;
    news_.notify_all();
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    news_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  std::vector<std::string> begun_;
  std::string let_go_;
  bool is_open_ = false;
};

void end(FairThreads& threads, Bench& bench) {
  bench.open();
  CHECK(threads.end(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
}

}  // namespace

TEST_CASE("one owner's slow work leaves a thread and places for others") {
  Bench bench;
  FairThreads threads(FairThreads::shared_by_owners(4, 8));
  for (int i = 0; i < 3; ++i) CHECK(threads.submit("greedy", bench.piece("greedy")));
  CHECK(bench.await(3).size() == 3);
  for (int i = 0; i < 6; ++i) CHECK(threads.submit("greedy", bench.piece("greedy later")));
  CHECK_FALSE(threads.submit("greedy", bench.piece("greedy at last")));
  CHECK(threads.submit("modest", bench.piece("modest")));
  CHECK(bench.await(4).back() == "modest");
  end(threads, bench);
}

TEST_CASE("owners take turns") {
  Bench bench;
  FairThreads threads(FairThreads::shared_by_owners(1, 8));
  CHECK(threads.submit("a", bench.piece("a 1")));
  CHECK(bench.await(1).size() == 1);
  CHECK(threads.submit("a", bench.piece("a 2")));
  CHECK(threads.submit("a", bench.piece("a 3")));
  CHECK(threads.submit("b", bench.piece("b 1")));
  bench.let_go("a 1");
  CHECK(bench.await(2).back() == "a 2");
  bench.let_go("a 2");
  CHECK(bench.await(3).back() == "b 1");
  bench.let_go("b 1");
  CHECK(bench.await(4).back() == "a 3");
  end(threads, bench);
}

TEST_CASE("work that is withdrawn is not done, and what it holds is released") {
  Bench bench;
  FairThreads threads(FairThreads::shared_by_owners(1, 2));
  CHECK(threads.submit("a", bench.piece("a 1")));
  CHECK(bench.await(1).size() == 1);
  auto held = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = held;
  const auto ticket = threads.submit("a", [held = std::move(held), late = bench.piece("withdrawn")] { late(); });
  REQUIRE(ticket);
  CHECK(threads.submit("a", bench.piece("a 2")));
  CHECK_FALSE(threads.submit("a", bench.piece("too many")));
  threads.withdraw(*ticket);
  CHECK(watched.expired());
  threads.withdraw(*ticket);
  CHECK(threads.submit("a", bench.piece("a 3")));
  bench.open();
  CHECK(bench.await(3) == std::vector<std::string>{"a 1", "a 2", "a 3"});
  end(threads, bench);
}
