#include "client/mcp/inbox.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace rkllm_mcp::client;
using rkllm_mcp::Clock;
using namespace std::chrono_literals;

namespace {

constexpr auto kInboxPatience = 60s;

// How many messages a thread has put that goes on until there is no room: it waits with the next one.
class Putting {
 public:
  Putting(Inbox& inbox, std::size_t count, std::size_t bytes)
      : thread_([this, &inbox, count, bytes] {
          for (std::size_t i = 0; i < count; ++i) {
            inbox.put(std::string(bytes, 'x'));
            ++put_;
          }
          done_.set_value();
        }) {}
  ~Putting() { thread_.join(); }

  bool is_done() { return end_.wait_for(0s) == std::future_status::ready; }
  bool ends() { return end_.wait_for(kInboxPatience) == std::future_status::ready; }
  void await(std::size_t count) const {
    while (put_ < count) std::this_thread::yield();
  }

 private:
  std::atomic<std::size_t> put_{0};
  std::promise<void> done_;
  std::future<void> end_ = done_.get_future();
  std::thread thread_;
};

Clock::time_point in_a_minute() { return Clock::now() + kInboxPatience; }

}  // namespace

TEST_CASE("messages come out in the order in which they were put in, and nothing when there is none") {
  Inbox inbox;
  for (const char* const message : {"1", "", "3"}) inbox.put(message);
  std::vector<std::string> taken;
  while (const auto message = inbox.take(Clock::now())) taken.push_back(*message);
  CHECK(taken == std::vector<std::string>{"1", "", "3"});
  CHECK_FALSE(inbox.take(Clock::now() + 1ms));
  CHECK_FALSE(inbox.has_failed());
  inbox.throw_if_failed();
}

TEST_CASE("whoever waits for a message gets the one that is put in") {
  Inbox inbox;
  auto taken = std::async(std::launch::async, [&inbox] { return inbox.take(in_a_minute()); });
  inbox.put("late");
  CHECK(taken.get() == "late");
}

TEST_CASE("what came before a failure is handed out, what comes after it is dropped, and the first reason counts") {
  Inbox inbox;
  inbox.put("1");
  inbox.fail("the cable is cut");
  inbox.fail("nothing else matters");
  inbox.put("2");
  CHECK(inbox.has_failed());
  CHECK(inbox.take(in_a_minute()) == "1");
  for (int i = 0; i < 2; ++i) CHECK_THROWS_WITH(inbox.take(in_a_minute()), "the cable is cut");
  CHECK_THROWS_WITH(inbox.throw_if_failed(), "the cable is cut");
}

TEST_CASE("a failure wakes whoever waits, and keeps its kind") {
  Inbox inbox;
  auto taken = std::async(std::launch::async, [&inbox] { return inbox.take(in_a_minute()); });
  inbox.fail(Loss(UntrustedServer("its certificate has expired")));
  CHECK_THROWS_AS(taken.get(), UntrustedServer);
}

TEST_CASE("whoever puts waits while the inbox is full, by messages or by bytes, and goes on when one is taken") {
  // As many as there is room for, by either measure, and one more.
  const auto [count, bytes] =
      GENERATE(std::pair{std::size_t{4096}, std::size_t{1}}, std::pair{std::size_t{64}, std::size_t{1} << 20U});
  Inbox inbox;
  Putting putting(inbox, count + 1, bytes);
  putting.await(count);
  CHECK_FALSE(putting.is_done());
  CHECK(inbox.take(in_a_minute())->size() == bytes);
  CHECK(putting.ends());
  std::size_t left = 0;
  while (inbox.take(Clock::now())) ++left;
  CHECK(left == count);
}

TEST_CASE("one message may be of any length") {
  Inbox inbox;
  inbox.put(std::string(std::size_t{65} << 20U, 'x'));
  CHECK(inbox.take(in_a_minute())->size() == std::size_t{65} << 20U);
}

TEST_CASE("a failure lets go whoever waits for room") {
  Inbox inbox;
  Putting putting(inbox, 4097, 1);
  putting.await(4096);
  inbox.fail("interrupted");
  CHECK(putting.ends());
}
