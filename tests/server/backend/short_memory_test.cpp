// Memory that runs out while a call is put into its queue: it is refused, or made, and nothing of it is left behind.
#include "backend/queued_backend.hpp"

#include "server/backend/queue_limits.hpp"
#include "server/backend/simulated_engines.hpp"
#include "support/catch.hpp"
#include "support/failing_heap.hpp"

#include "clock.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

using namespace rkllm_mcp;

namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr int kCallsPerNode = 32;  // entries of 16 bytes in one piece of memory of libstdc++'s deque

// An engine whose calls succeed at once.
class QuickEngine final : public Engine {
 public:
  std::unique_ptr<Model> new_model(const std::string&, LostFunction) override { return std::make_unique<QuickModel>(); }
  CallOutcome call(const CallRequest&) override { return {}; }
  bool kill() override { return true; }

 private:
  class QuickModel final : public Model {
   public:
    void begin_run(CallObserver& /*observer*/) override {}
    CallOutcome call(const CallRequest& request) override {
      if (request.method->handle == HandleRole::kCreates) loaded_ = true;
      return {};
    }
    CallOutcome call_beside(const CallRequest&) override { return {}; }
    void stop_run() override {}
    bool loaded() const override { return loaded_; }
    Values values() const override { return {}; }

   private:
    std::atomic<bool> loaded_{false};
  };
};

class EndObserver final : public CallObserver {
 public:
  void on_begun(std::optional<std::uint64_t>) noexcept override { begun_.set_value(); }
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override { ended_.set_value(std::move(outcome)); }

  CallOutcome outcome() { return wait(ended_.get_future()).get(); }
  void wait_until_begun() { wait(begun_.get_future()); }

 private:
  template <class Future>
  static Future wait(Future future) {
    REQUIRE(future.wait_for(kPatience) == std::future_status::ready);
    return future;
  }
  std::promise<void> begun_;
  std::promise<CallOutcome> ended_;
};

const Method& method_named(std::string_view name) {
  for (const Method& each : test::simulator().abi().methods) {
    if (each.name == name) return each;
  }
  throw std::logic_error("no such method");
}

QueuedBackend::Limits limits_for_one_model() {
  auto limits = test::usual_limits<QueuedBackend::Limits>();
  limits.handles = 1;
  return limits;
}

struct Bench {
  // A call that has been prepared, so that only what the backend does of it is tried with too little memory. Without
  // parameters (there is one model): the JSON library needs memory to destroy an object that has members.
  struct Call {
    CallRequest request;
    std::shared_ptr<EndObserver> observer;
  };
  static Call prepare(std::string_view method) {
    Call call{{.method = &method_named(method), .params = Json::object()}, std::make_shared<EndObserver>()};
    call.request.observer = call.observer;
    return call;
  }
  static Call prepare_init() { return prepare("rkllm_init"); }

  // Makes the call; fails the test if it does not succeed.
  CallOutcome make(Call call) {
    backend.start(std::move(call.request));
    CallOutcome outcome = call.observer->outcome();
    REQUIRE_FALSE(outcome.error);
    return outcome;
  }
  std::string init() { return make(prepare_init()).handle; }
  // Makes so many calls: the queue takes memory for its entries only now and then.
  void make_calls(int count) {
    for (int each = 0; each < count; ++each) make(prepare("rkllm_clear_kv_cache"));
  }
  void destroy() { make(prepare("rkllm_destroy")); }

  QueuedBackend backend{std::make_unique<QuickEngine>(), test::simulator().abi().methods, limits_for_one_model()};
};

}  // namespace

TEST_CASE("a model that there is no memory to load takes neither a place nor a number") {
  Bench bench;
  Bench::Call call = Bench::prepare_init();
  int made = 0;
  test::at_each_allocation([&] { bench.backend.start(std::move(call.request)); },
                           [&](bool has_thrown) {
                             if (!has_thrown) {
                               const CallOutcome outcome = call.observer->outcome();
                               if (!outcome.error) {
                                 ++made;
                                 bench.destroy();
                               }
                             }
                             CHECK(bench.init() == "llm-" + std::to_string(++made));
                             bench.destroy();
                             call = Bench::prepare_init();
                           });
  CHECK(bench.backend.shut_down(Clock::now() + kPatience));
}

TEST_CASE("a model that there is no memory to destroy can be used on and be destroyed later") {
  Bench bench;
  bench.init();
  bench.make_calls(GENERATE(range(0, kCallsPerNode)));
  Bench::Call call = Bench::prepare("rkllm_destroy");
  test::at_each_allocation([&] { bench.backend.start(std::move(call.request)); },
                           [&](bool has_thrown) {
                             if (!has_thrown && !call.observer->outcome().error) bench.init();
                             bench.make(Bench::prepare("rkllm_clear_kv_cache"));
                             call = Bench::prepare("rkllm_destroy");
                           });
  CHECK(bench.backend.shut_down(Clock::now() + kPatience));
}

TEST_CASE("a model that there is no memory to destroy unasked can be destroyed later") {
  Bench bench;
  std::string handle = bench.init();
  auto ended = std::make_shared<std::promise<std::exception_ptr>>();
  QueuedBackend::EndedFunction tell = [ended](const std::exception_ptr& error) { ended->set_value(error); };
  test::at_each_allocation([&] { bench.backend.destroy_in_order(handle, tell); },
                           [&](bool has_thrown) {
                             if (!has_thrown) {
                               auto end = ended->get_future();
                               REQUIRE(end.wait_for(kPatience) == std::future_status::ready);
                               handle = bench.init();
                               ended = std::make_shared<std::promise<std::exception_ptr>>();
                               tell = [ended](const std::exception_ptr& error) { ended->set_value(error); };
                             }
                             bench.make(Bench::prepare("rkllm_clear_kv_cache"));
                           });
  CHECK(bench.backend.shut_down(Clock::now() + kPatience));
}

TEST_CASE("a call of a lease that there is no memory for leaves the lease as it was") {
  Bench bench;
  const std::string handle = bench.init();
  const auto holder = std::make_shared<EndObserver>();
  CallRequest lease;
  lease.observer = holder;
  const auto id = bench.backend.lease(handle, std::move(lease));
  holder->wait_until_begun();
  Bench::Call call = Bench::prepare("rkllm_clear_kv_cache");
  test::at_each_allocation([&] { bench.backend.start_leased(id, std::move(call.request)); },
                           [&](bool has_thrown) {
                             if (!has_thrown) call.observer->outcome();  // made, or refused
                             Bench::Call next = Bench::prepare("rkllm_clear_kv_cache");
                             bench.backend.start_leased(id, std::move(next.request));
                             CHECK_FALSE(next.observer->outcome().error);
                             call = Bench::prepare("rkllm_clear_kv_cache");
                           });
  bench.backend.end_lease(id);
  CHECK_FALSE(holder->outcome().error);
  CHECK(bench.backend.shut_down(Clock::now() + kPatience));
}

// What is cancelled cannot be tried so: the JSON library needs memory to destroy an error's data, and ends the process
// where there is none.
TEST_CASE("a lease that there is no memory to end ends later, and what waits behind it is made then") {
  Bench bench;
  const std::string handle = bench.init();
  const auto holder = std::make_shared<EndObserver>();
  CallRequest lease;
  lease.observer = holder;
  const auto id = bench.backend.lease(handle, std::move(lease));
  holder->wait_until_begun();
  Bench::Call waiting = Bench::prepare("rkllm_clear_kv_cache");
  bench.backend.start(std::move(waiting.request));
  int failed = 0;
  test::at_each_allocation([&] { bench.backend.end_lease(id); },
                           [&](bool has_thrown) { failed += has_thrown ? 1 : 0; });
  CHECK(failed > 0);
  CHECK_FALSE(holder->outcome().error);
  CHECK_FALSE(waiting.observer->outcome().error);
  CHECK(bench.backend.shut_down(Clock::now() + kPatience));
}
