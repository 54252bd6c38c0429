#include "backend/call_queue.hpp"

#include "support/catch.hpp"

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

using namespace rkllm_mcp;

namespace {

using Places = std::vector<std::size_t>;

// Writes down how many calls it is told to wait behind.
class WaitingCaller final : public CallObserver {
 public:
  void on_queued(std::size_t calls_before) noexcept override { told.push_back(calls_before); }
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override {}

  Places told;
};

struct Queued {
  explicit Queued(std::shared_ptr<QueuedCall> lease = nullptr)
      : call(std::make_shared<QueuedCall>(CallRequest{.params = {}, .observer = caller})) {
    call->lease = std::move(lease);
  }

  std::shared_ptr<WaitingCaller> caller = std::make_shared<WaitingCaller>();
  std::shared_ptr<QueuedCall> call;
};

struct QueueBench {
  explicit QueueBench(CallQueue::Positions positions = CallQueue::Positions::kTold) : queue(mutex, positions) {}

  Mutex mutex;
  CallQueue queue;
};

}  // namespace

TEST_CASE("calls are taken from their queue in the order in which they came, and run from then on") {
  QueueBench bench;
  const Queued first, second;
  CHECK(bench.queue.next() == nullptr);
  bench.queue.add(*first.call);
  bench.queue.add(*second.call);
  CHECK(bench.queue.waiting().size() == 2);
  CHECK(first.call->state == QueuedCall::State::kWaiting);
  CHECK(bench.queue.next() == first.call);
  CHECK(first.call->state == QueuedCall::State::kRunning);
  CHECK(second.call->state == QueuedCall::State::kWaiting);
  CHECK(bench.queue.next() == second.call);
  CHECK(bench.queue.next() == nullptr);
}

TEST_CASE("who waits is told how many calls are before theirs, and again when one leaves the queue") {
  QueueBench bench;
  const Queued first, second, third;
  bench.queue.add(*first.call);
  bench.queue.add(*second.call);
  bench.queue.add(*third.call);
  CHECK(first.caller->told.empty());  // it waits for nobody
  CHECK(second.caller->told == Places{1});
  CHECK(third.caller->told == Places{2});
  bench.queue.remove(*second.call);
  CHECK(first.caller->told.empty());
  CHECK(second.caller->told == Places{1});
  CHECK(third.caller->told == Places{2, 1});
  bench.queue.remove(*third.call);
  bench.queue.remove(*first.call);
  CHECK(bench.queue.waiting().empty());
  CHECK(third.caller->told == Places{2, 1});
}

TEST_CASE("the call that is made and the lease that is held are before all that wait") {
  QueueBench bench;
  const Queued made, waits;
  CHECK_FALSE(bench.queue.is_in_use());
  bench.queue.set_running(made.call);
  CHECK(bench.queue.is_in_use());
  CHECK(bench.queue.running() == made.call.get());
  bench.queue.add(*waits.call);
  CHECK(waits.caller->told == Places{1});
  bench.queue.set_running(nullptr);
  CHECK_FALSE(bench.queue.is_in_use());
  bench.queue.tell_positions();
  CHECK(waits.caller->told == Places{1});  // its turn has come: there is nothing to tell
  bench.queue.hold(*made.call);
  CHECK(bench.queue.is_in_use());
  bench.queue.tell_positions();
  CHECK(waits.caller->told == Places{1, 1});
}

TEST_CASE("in a queue where nobody is told of positions nobody is") {
  QueueBench bench(CallQueue::Positions::kUntold);
  const Queued first, second;
  bench.queue.add(*first.call);
  bench.queue.add(*second.call);
  bench.queue.remove(*first.call);
  bench.queue.tell_positions();
  CHECK(second.caller->told.empty());
  CHECK(bench.queue.next() == second.call);
}

TEST_CASE("while a lease is held only its own calls are taken, in their order, and the others after it") {
  QueueBench bench;
  const Queued other, lease;
  const Queued first(lease.call), second(lease.call);
  bench.queue.add(*other.call);
  bench.queue.hold(*lease.call);
  CHECK(bench.queue.holder() == lease.call.get());
  CHECK(bench.queue.next() == nullptr);
  bench.queue.add(*first.call);
  bench.queue.add(*second.call);
  CHECK(bench.queue.waiting().size() == 1);  // those of a lease wait in it
  CHECK(first.caller->told.empty());
  CHECK(second.caller->told.empty());
  CHECK(bench.queue.next() == first.call);
  bench.queue.remove(*second.call);
  CHECK(bench.queue.next() == nullptr);
  bench.queue.release();
  CHECK(bench.queue.holder() == nullptr);
  CHECK(bench.queue.next() == other.call);
}

TEST_CASE("who waits behind a lease is told when it is given back") {
  QueueBench bench;
  const Queued lease, first, second;
  bench.queue.hold(*lease.call);
  bench.queue.add(*first.call);
  bench.queue.add(*second.call);
  CHECK(second.caller->told == Places{2});
  bench.queue.release();
  CHECK(first.caller->told == Places{1});
  CHECK(second.caller->told == Places{2, 1});
}

TEST_CASE("the thread of a queue makes each call that can be made, and ends with it") {
  const Queued waits_for_lease, lease, leased(lease.call), last(lease.call);
  std::vector<std::shared_ptr<QueuedCall>> made;
  std::promise<void> all_are_made;
  {
    QueueBench bench;
    bench.queue.hold(*lease.call);
    bench.queue.add(*leased.call);  // before there is a thread
    bench.queue.start([&] {
      const std::lock_guard lock(bench.mutex);
      made.push_back(bench.queue.next());
      if (made.back() == last.call) all_are_made.set_value();
    });
    {
      const std::lock_guard lock(bench.mutex);
      bench.queue.add(*waits_for_lease.call);
      bench.queue.add(*last.call);
    }
    all_are_made.get_future().wait();
  }
  CHECK(made == std::vector<std::shared_ptr<QueuedCall>>{leased.call, last.call});
  CHECK(waits_for_lease.call->state == QueuedCall::State::kWaiting);
}
