#include "backend/runner.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

using namespace rkllm_mcp;

namespace {

constexpr std::chrono::seconds kRunnerPatience{60};

Clock::time_point patient_deadline() { return Clock::now() + kRunnerPatience; }

// A job that occupies the runner until it is let go: at the latest when this is destroyed, which so has to happen
// before the runner is.
class HeldJob {
 public:
  explicit HeldJob(Runner& runner) {
    std::promise<void> begun;
    std::future<void> has_begun = begun.get_future();
    runner.post(
        [begun = std::make_shared<std::promise<void>>(std::move(begun)), let_go = let_go_.get_future().share()] {
          begun->set_value();
          let_go.wait();
        });
    has_begun.wait();
  }
  HeldJob(const HeldJob&) = delete;
  HeldJob& operator=(const HeldJob&) = delete;
  ~HeldJob() {
    if (!is_let_go_) let_go();
  }

  void let_go() {
    is_let_go_ = true;
    let_go_.set_value();
  }

 private:
  std::promise<void> let_go_;
  bool is_let_go_ = false;
};

// Does something when it goes.
class AtItsEnd {
 public:
  explicit AtItsEnd(std::function<void()> act) : act_(std::move(act)) {}
  AtItsEnd(const AtItsEnd&) = delete;
  AtItsEnd& operator=(const AtItsEnd&) = delete;
  ~AtItsEnd() { act_(); }

 private:
  std::function<void()> act_;
};

}  // namespace

TEST_CASE("a runner does its jobs in the order in which they were posted, all on one thread, which is its own") {
  constexpr int kJobs = 500;
  std::vector<int> done;
  std::vector<std::thread::id> threads;
  Runner runner;
  for (int job = 0; job < kJobs; ++job) {
    runner.post([&done, &threads, job] {
      done.push_back(job);
      threads.push_back(std::this_thread::get_id());
    });
  }
  REQUIRE(runner.wait_until_idle(patient_deadline()));
  std::vector<int> posted(kJobs);
  std::iota(posted.begin(), posted.end(), 0);
  CHECK(done == posted);
  CHECK(threads == std::vector<std::thread::id>(kJobs, threads.at(0)));
  CHECK(threads.at(0) != std::this_thread::get_id());
}

TEST_CASE("a runner that is destroyed does the jobs that are queued, and those that they post") {
  int left = 1000;
  bool is_last_done = false;
  std::function<void()> next;
  {
    Runner runner;
    HeldJob held(runner);
    next = [&] {
      if (--left > 0) runner.post(next);
    };
    runner.post(next);
    runner.post([&] { is_last_done = true; });
  }
  CHECK(is_last_done);
  CHECK(left == 0);
}

TEST_CASE("execute() returns when its job has ended, and with it all that were posted before") {
  int posted = 0;
  int executed = 0;
  Runner runner;
  for (int round = 1; round <= 200; ++round) {
    runner.post([&] { ++posted; });
    runner.execute([&] { ++executed; });
    REQUIRE(posted == round);
    REQUIRE(executed == round);
  }
}

TEST_CASE("execute() does not wait for jobs that are posted behind its own") {
  Runner runner;
  std::promise<void> may_end;
  const std::shared_future<void> end = may_end.get_future().share();
  // The job itself posts the one behind it, which lasts until execute() has returned.
  const std::future<void> executing =
      std::async(std::launch::async, [&] { runner.execute([&] { runner.post([end] { end.wait(); }); }); });
  CHECK(executing.wait_for(kRunnerPatience) == std::future_status::ready);
  CHECK_FALSE(runner.wait_until_idle(Clock::now()));
  may_end.set_value();
  CHECK(runner.wait_until_idle(patient_deadline()));
}

TEST_CASE("several threads may execute jobs at once, and each returns when its own has ended") {
  constexpr int kThreads = 4;
  constexpr int kRounds = 100;
  int jobs = 0;  // without a lock: all jobs are done on one thread
  Runner runner;
  std::vector<std::future<bool>> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.push_back(std::async(std::launch::async, [&runner, &jobs] {
      bool is_always_done = true;
      for (int round = 0; round < kRounds; ++round) {
        bool is_done = false;
        runner.execute([&] {
          ++jobs;
          is_done = true;
        });
        is_always_done = is_always_done && is_done;
      }
      return is_always_done;
    }));
  }
  for (std::future<bool>& thread : threads) CHECK(thread.get());
  CHECK(jobs == kThreads * kRounds);
}

TEST_CASE("threads that wait for all jobs do not keep one that waits for its own from hearing of its end") {
  constexpr int kWaiting = 4;
  std::promise<void> may_end;
  const std::shared_future<void> end = may_end.get_future().share();
  Runner runner;
  HeldJob held(runner);
  std::vector<std::future<bool>> waiting;
  for (int thread = 0; thread < kWaiting; ++thread) {
    std::promise<void> begun;
    std::future<void> has_begun = begun.get_future();
    waiting.push_back(std::async(std::launch::async, [&runner, begun = std::move(begun)]() mutable {
      begun.set_value();
      return runner.wait_until_idle(patient_deadline());
    }));
    has_begun.wait();
  }
  std::promise<void> begun;
  const std::future<void> executing = std::async(std::launch::async, [&] {
    begun.set_value();
    runner.execute([&] { runner.post([end] { end.wait(); }); });
  });
  begun.get_future().wait();
  held.let_go();
  // Behind it stands a job that lasts, and so nobody else who waits can go on.
  CHECK(executing.wait_for(kRunnerPatience) == std::future_status::ready);
  may_end.set_value();
  for (std::future<bool>& each : waiting) CHECK(each.get());
}

TEST_CASE("a runner without jobs is idle, also at a deadline that has passed") {
  Runner runner;
  CHECK(runner.wait_until_idle(Clock::now() - std::chrono::hours(1)));
  runner.execute([] {});
  CHECK(runner.wait_until_idle(patient_deadline()));
}

TEST_CASE("a runner is not idle while a job is under way, nor while one is queued") {
  bool is_done = false;
  Runner runner;
  HeldJob held(runner);
  CHECK_FALSE(runner.wait_until_idle(Clock::now()));  // the queue is empty
  runner.post([&] { is_done = true; });
  CHECK_FALSE(runner.wait_until_idle(Clock::now()));
  held.let_go();
  CHECK(runner.wait_until_idle(patient_deadline()));
  CHECK(is_done);
}

TEST_CASE("what a job holds goes when the job has ended, before the next, on the runner's thread") {
  std::thread::id job_thread;
  std::thread::id end_thread;
  bool is_gone = false;
  bool was_gone_before_next = false;
  Runner runner;
  {
    HeldJob held(runner);
    auto holding = std::make_shared<AtItsEnd>([&] {
      is_gone = true;
      end_thread = std::this_thread::get_id();
    });
    runner.post([&, holding = std::move(holding)] { job_thread = std::this_thread::get_id(); });
    runner.post([&] { was_gone_before_next = is_gone; });
  }
  REQUIRE(runner.wait_until_idle(patient_deadline()));
  CHECK(was_gone_before_next);
  CHECK(end_thread == job_thread);
}

TEST_CASE("what a job holds may post a job when it goes") {
  // Such as the last of something that tells others of its end. If the runner held its lock then, it would hang here.
  bool is_posted_done = false;
  Runner runner;
  {
    auto holding = std::make_shared<AtItsEnd>([&] { runner.post([&] { is_posted_done = true; }); });
    runner.post([holding = std::move(holding)] {});
  }
  REQUIRE(runner.wait_until_idle(patient_deadline()));
  CHECK(is_posted_done);
}
