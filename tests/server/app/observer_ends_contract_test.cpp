// What backend.hpp wants of a CallObserver, held against those in which what is told of a call ends: a stream, and all
// that bring one outcome to the loop. (Those that stand in front of another: tests/server/models.)
#include "backend.hpp"

#include "app/autoload.hpp"
#include "jsonrpc/envelope.hpp"
#include "models/leased_calls.hpp"
#include "models/model_slot.hpp"
#include "process/descriptor.hpp"
#include "server/keeping_backend.hpp"
#include "server/models/model_bench.hpp"
#include "server/worker/receive_some.hpp"
#include "stream/stream_reader.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"
#include "support/waiting_loop.hpp"
#include "worker/frame_socket.hpp"
#include "worker/token_writer.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using Bench = ModelBench<WaitingLoop>;

constexpr std::chrono::seconds kUntilReturned{60};

// Stands in the backend for the observer that a test keeps for itself.
class HearsNothing final : public CallObserver {
 public:
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override {}
};

// What an owner is told, and where.
class Ends {
 public:
  void note(const std::string& error) {
    errors.push_back(error);
    was_told_elsewhere = was_told_elsewhere || std::this_thread::get_id() != thread_;
  }
  void note(const std::exception_ptr& error) { note(error ? as_rpc_error(error).what() : "none"); }

  std::vector<std::string> errors;  // "none": it went well
  bool was_told_elsewhere = false;

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
};

// Of each kind: its owner, which end_owner() destroys, and the observer that it gives to a backend.

struct OfStream {
  OfStream() {
    auto options = usual_limits<TokenStream::Options>();
    options.memory = MemoryBudget(1'000'000);
    reader = StreamReader::make<RunReader>(
        loop, options, [](std::string_view) {},
        [this](const CallOutcome& outcome, std::uint64_t) { ends.note(outcome.error); });
    observer = reader->stream();
  }
  void settle() {
    loop.restart();
    loop.poll();
  }
  void end_owner() {
    reader->drop();
    reader.reset();
  }

  asio::io_context loop;
  Ends ends;
  std::shared_ptr<RunReader> reader;
  std::shared_ptr<CallObserver> observer;
};

struct OfLeasedCall {
  OfLeasedCall() {
    ModelRuntime runtime;
    runtime.owner = bench.queue;
    runtime.queue = bench.queue.get();
    runtime.methods = Bench::methods();
    runtime.watched = [this](CallRequest request) {
      observer = std::exchange(request.observer, std::make_shared<HearsNothing>());
      return request;
    };
    calls = std::make_unique<LeasedCalls>(bench.loop, runtime, usual_limits<TokenStream::Options>(), 0);
    calls->call("rkllm_clear_kv_cache", Json::object(), [this](const CallOutcome& told) { ends.note(told.error); });
  }
  void settle() { bench.settle(); }
  void end_owner() { calls.reset(); }

  Bench bench{presets({})};
  Ends ends;
  std::unique_ptr<LeasedCalls> calls;
  std::shared_ptr<CallObserver> observer;
};

// A load for whoever waits for the model.
struct OfLoad {
  OfLoad() {
    runtime.owner = bench.queue;
    runtime.queue = bench.queue.get();
    runtime.methods = Bench::methods();
    runtime.watched = [this](CallRequest request) {
      observer = std::exchange(request.observer, std::make_shared<HearsNothing>());
      request.params = Json{{"param", {{"model_path", "/models/a.rkllm"}}}};
      return request;
    };
    ModelSlot::Events events;
    events.make_room = [](ModelSlot&, const std::function<void(bool)>& then) { then(false); };
    events.forbids = [] { return std::nullopt; };
    events.changed = [] {};
    NamedModel model;
    model.name = "a";
    model.path = "/models/a.rkllm";
    slot = std::make_shared<ModelSlot>(SlotSurroundings{bench.loop, bench.log, runtime}, model, ModelSlot::Use::kTurns,
                                       std::move(events));
    slot->add(std::make_shared<Waiter>(ends));
    settle();
  }
  void settle() { bench.settle(); }
  void end_owner() { slot.reset(); }

  class Waiter final : public ModelWaiter {
   public:
    explicit Waiter(Ends& ends) : ends_(ends) {}
    const std::string& holder() const override { return holder_; }
    void queued(std::size_t) override {}
    void loading(const chat::LoadProgress&) override {}
    void ready(const std::string&, std::uint64_t, std::optional<double>) override { ends_.note("none"); }
    void failed(const LoadFailure& failure) override { ends_.note(failure.error.what()); }

   private:
    Ends& ends_;
    const std::string holder_;
  };

  Bench bench{presets({})};
  ModelRuntime runtime;
  Ends ends;
  std::shared_ptr<ModelSlot> slot;
  std::shared_ptr<CallObserver> observer;
};

// A load that the server makes by itself.
struct OfAutoload {
  OfAutoload() {
    autoload = std::make_unique<Autoload>(loop, backend, Json{{"m", {{"autoload", true}}}}, log);
    autoload->listen({.begun = [](const std::string&) {},
                      .ended = [this](const std::string&,
                                      const std::string& handle) { ends.note(handle.empty() ? kRefusal : "none"); }});
    autoload->start(&init);
    observer = std::move(backend.observer);
  }
  void settle() {
    loop.restart();
    loop.poll();
  }
  void end_owner() { autoload.reset(); }

  static constexpr const char* kRefusal = "no";  // the listener is not told why
  asio::io_context loop;
  KeepingBackend backend;
  spdlog::logger log{"test"};
  const Method init{};
  Ends ends;
  std::unique_ptr<Autoload> autoload;
  std::shared_ptr<CallObserver> observer;
};

// In a worker. Its end is told by whoever has made the call.
struct OfWorker {
  void settle() {
    try {
      receive_some(server);
      if (server.received()) ends.note("a frame");
    } catch (const PeerGone&) {
      // Nobody holds the writer any more.
    }
  }
  void end_owner() {
    writer->close();
    writer.reset();
  }

  DescriptorPair sockets = make_stream_pair();
  FrameSocket server{std::move(sockets.first)};
  Ends ends;
  std::shared_ptr<TokenWriter> writer = std::make_shared<TokenWriter>(std::move(sockets.second));
  std::shared_ptr<CallObserver> observer = writer->open(1);
};

// All that may be told of a call, on a thread of the backend's.
void tell_all(CallObserver& observer, CallOutcome outcome) {
  std::thread([&] {
    observer.on_queued(2);
    observer.on_queued(1);
    observer.on_begun(16);
    observer.on_token(0, "a", 1);
    observer.on_token(0, std::nullopt, 2);
    observer.offer_token(0, "b", 3, [] {});
    const std::array<float, 2> values{1, 2};
    observer.on_rows({"logits", "logits", "num_tokens", "vocab_size", values.data(), 1, 2});
    observer.stop();
    observer.wants_to_stop();
    observer.on_done(std::move(outcome));
  }).join();
}

CallOutcome refusal() {
  CallOutcome outcome;
  outcome.error = std::make_exception_ptr(RpcError(ErrorCode::kCallFailed, "no"));
  return outcome;
}

}  // namespace

#define ENDS_THAT_TELL OfStream, OfLeasedCall, OfLoad, OfAutoload

TEMPLATE_TEST_CASE("whoever hears the end of a call is told on the loop, later, once, and of how it went", "",
                   ENDS_THAT_TELL) {
  TestType kind;
  REQUIRE(kind.observer);
  tell_all(*kind.observer, refusal());
  CHECK(kind.ends.errors.empty());
  kind.settle();
  CHECK(kind.ends.errors == std::vector<std::string>{"no"});
  CHECK_FALSE(kind.ends.was_told_elsewhere);
  kind.settle();
  CHECK(kind.ends.errors.size() == 1);
}

TEMPLATE_TEST_CASE("whoever has gone is not told of the end of a call, whose observer may go on longer", "",
                   ENDS_THAT_TELL, OfWorker) {
  TestType kind;
  REQUIRE(kind.observer);
  kind.end_owner();
  tell_all(*kind.observer, refusal());
  kind.settle();
  CHECK(kind.ends.errors.empty());
  kind.observer.reset();
  kind.settle();
  CHECK(kind.ends.errors.empty());
}

TEMPLATE_TEST_CASE("whoever goes while word of the end of a call is on its way is not told", "", ENDS_THAT_TELL) {
  TestType kind;
  REQUIRE(kind.observer);
  tell_all(*kind.observer, refusal());
  kind.end_owner();
  kind.settle();
  CHECK(kind.ends.errors.empty());
}

TEMPLATE_TEST_CASE("nothing of a call is kept once its end has been told", "", ENDS_THAT_TELL, OfWorker) {
  TestType kind;
  REQUIRE(kind.observer);
  const MemoryBudget memory(1000);
  CallOutcome outcome = refusal();
  outcome.memory = MemoryShare(memory);
  outcome.memory.set(100);
  CHECK(memory.used() == 100);
  tell_all(*kind.observer, std::move(outcome));
  kind.settle();
  CHECK(memory.used() == 0);
}

TEMPLATE_TEST_CASE("a run that is being stopped waits for nobody, however much it says", "", ENDS_THAT_TELL) {
  TestType kind;
  REQUIRE(kind.observer);
  kind.observer->stop();
  auto saying = std::async(std::launch::async, [&observer = *kind.observer] {
    const std::string text(1'000, 'x');
    int refused = 0;
    for (int token = 0; token < 2'000; ++token) {
      observer.on_token(0, text, token);
      if (!observer.offer_token(0, text, token, [] {})) ++refused;
    }
    CallOutcome outcome;
    outcome.result = Json{{"handle", "llm-1"}};
    observer.on_done(std::move(outcome));
    return refused;
  });
  REQUIRE(saying.wait_for(kUntilReturned) == std::future_status::ready);
  CHECK(saying.get() == 0);
  kind.settle();
  CHECK(kind.ends.errors.size() == 1);
}

}  // namespace rkllm_mcp::test
