// What backend.hpp wants of a CallObserver, held against those in which what is told of a call ends: a stream, and all
// that bring one outcome to the loop. (Those that stand in front of another: tests/server/watch.)
#include "backend.hpp"

#include "app/runtime/autoload.hpp"
#include "jsonrpc/envelope.hpp"
#include "models/leased_calls.hpp"
#include "models/model_place.hpp"
#include "models/model_slot.hpp"
#include "process/descriptor.hpp"
#include "server/backend/queue_limits.hpp"
#include "server/keeping_backend.hpp"
#include "server/models/model_bench.hpp"
#include "server/worker/receive_some.hpp"
#include "stream/stream_reader.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/usual_limits.hpp"
#include "support/waiting_loop.hpp"
#include "worker/frame_socket.hpp"
#include "worker/token_writer.hpp"

#include <array>
#include <atomic>
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
#include <type_traits>
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

// TokenStream
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

// OutcomeOnLoop
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

// OutcomeOnLoop, of a ModelSlot: a load for whoever waits for the model.
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

// ModelPlace::LeaseObserver: a lease that is asked for. Its beginning is what is waited for, and it fails before that.
struct OfLease {
  OfLease() {
    LeaseSource source{.loop = loop};
    source.runtime.owner = queue;
    source.runtime.queue = queue.get();
    source.runtime.methods = Bench::methods();
    source.loaded.handle = "llm-1";
    ModelPlace::Events events;
    events.granted = [this](const LeaseSource&) { ends.note("none"); };
    events.failed = [this](const chat::TurnError& error) { ends.note(error.what()); };
    place = std::make_shared<ModelPlace>(std::move(source), chat::PlaceWish(), std::move(events));
    place->begin();
    observer = std::move(queue->observer);
  }
  void settle() {
    loop.restart();
    loop.poll();
  }
  void end_owner() {
    place->give_up();
    place.reset();
  }

  // Keeps the observer of a call, and does not make it.
  class KeepingQueue final : public QueuedBackend {
   public:
    using QueuedBackend::QueuedBackend;
    CallId start(CallRequest request) override {
      observer = std::move(request.observer);
      return request.id;
    }

    std::shared_ptr<CallObserver> observer;
  };

  asio::io_context loop;
  Board board{1};
  std::shared_ptr<KeepingQueue> queue = std::make_shared<KeepingQueue>(
      std::make_unique<BoardEngine>(board), Bench::methods(), usual_limits<QueuedBackend::Limits>());
  Ends ends;
  std::shared_ptr<ModelPlace> place;
  std::shared_ptr<CallObserver> observer;
};

// TellsEnd: a call that destroys a model, which the backend has made by itself. Nobody but the model gets to see its
// observer, and the backend tells its end.
struct OfUnload {
  OfUnload() {
    runtime.owner = queue;
    runtime.queue = queue.get();
    runtime.methods = Bench::methods();
    runtime.watched = [](CallRequest request) { return request; };
    ModelSlot::Events events;
    events.make_room = [](ModelSlot&, const std::function<void(bool)>& then) { then(false); };
    events.forbids = [] { return std::nullopt; };
    events.changed = [] {};
    events.keep_alive = {true, 0};
    NamedModel model;
    model.name = "a";
    model.path = "/models/a.rkllm";
    slot = std::make_shared<ModelSlot>(SlotSurroundings{around.loop(), log, runtime}, model, ModelSlot::Use::kTurns,
                                       std::move(events));
    slot->add(std::make_shared<Waiter>(*slot));
    REQUIRE(around.until([this] { return slot->state() == ModelSlot::State::kLoaded; }));
    slot->unload([this](const std::exception_ptr& error) { ends.note(error); });
    auto seen = call->observer.get_future();
    REQUIRE(seen.wait_for(kUntilReturned) == std::future_status::ready);
    observer = seen.get();
  }
  OfUnload(const OfUnload&) = delete;
  OfUnload& operator=(const OfUnload&) = delete;
  ~OfUnload() {
    if (!is_told) call->outcome.set_value({});
  }
  void settle() { around.settle(); }
  void end_owner() { slot.reset(); }
  // As the observer is told by others, and the backend has done so.
  void tell_end(CallOutcome outcome) {
    is_told = true;
    call->outcome.set_value(std::move(outcome));
    eventually([this] { return observer.use_count() == 1; });
  }

  // The call that destroys the model.
  struct Destroying {
    std::promise<std::shared_ptr<CallObserver>> observer;
    std::promise<CallOutcome> outcome;
  };
  // Makes that call when the test has told how it ends; one that comes later, at the end of the backend, at once.
  class UnloadModel final : public Model {
   public:
    UnloadModel(std::string id, std::shared_ptr<Destroying> call) : id_(std::move(id)), call_(std::move(call)) {}
    void begin_run(CallObserver&) override {}
    CallOutcome call(const CallRequest& request) override {
      CallOutcome outcome;
      outcome.result = Json{{"handle", id_}};
      is_loaded_ = true;
      if (request.method->handle != HandleRole::kDestroys || !call_) return outcome;
      const auto made = std::exchange(call_, nullptr);
      made->observer.set_value(request.observer);
      return made->outcome.get_future().get();
    }
    CallOutcome call_beside(const CallRequest&) override { return {}; }
    void stop_run() override {}
    bool loaded() const override { return is_loaded_; }
    Values values() const override { return {}; }

   private:
    const std::string id_;
    std::shared_ptr<Destroying> call_;
    std::atomic<bool> is_loaded_{false};
  };
  class UnloadEngine final : public Engine {
   public:
    explicit UnloadEngine(std::shared_ptr<Destroying> call) : call_(std::move(call)) {}
    std::unique_ptr<Model> new_model(const std::string& id, LostFunction) override {
      return std::make_unique<UnloadModel>(id, call_);
    }
    CallOutcome call(const CallRequest&) override { return {}; }
    bool kill() override { return false; }

   private:
    const std::shared_ptr<Destroying> call_;
  };
  // Uses the model for no time.
  class Waiter final : public ModelWaiter {
   public:
    explicit Waiter(ModelSlot& slot) : slot_(slot) {}
    const std::string& holder() const override { return holder_; }
    void loading(const chat::LoadProgress&) override {}
    void ready(const std::string&, std::uint64_t load, std::optional<double>) override { slot_.end_use(load, {}); }
    void failed(const LoadFailure&) override {}

   private:
    ModelSlot& slot_;
    const std::string holder_;
  };

  WaitingLoop around;
  spdlog::logger log{"test"};
  const std::shared_ptr<Destroying> call = std::make_shared<Destroying>();
  std::shared_ptr<QueuedBackend> queue = std::make_shared<QueuedBackend>(
      std::make_unique<UnloadEngine>(call), Bench::methods(), usual_limits<QueuedBackend::Limits>());
  ModelRuntime runtime;
  Ends ends;
  std::shared_ptr<ModelSlot> slot;
  std::shared_ptr<CallObserver> observer;
  bool is_told = false;
};

// OutcomeOnLoop: a load that the server makes by itself.
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

// TokenWriter::RunFrames, in a worker. Its end is told by whoever has made the call.
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

template <class Kind>
void tell_end(Kind& kind, CallOutcome outcome) {
  if constexpr (std::is_same_v<Kind, OfUnload>) {
    kind.tell_end(std::move(outcome));
  } else {
    kind.observer->on_done(std::move(outcome));
  }
}

// All that may be told of a call that fails, on a thread of the backend's.
template <class Kind>
void tell_all(Kind& kind, CallOutcome outcome) {
  std::thread([&] {
    CallObserver& observer = *kind.observer;
    observer.on_queued(2);
    observer.on_queued(1);
    if (!std::is_same_v<Kind, OfLease>) observer.on_begun(16);
    observer.on_token(0, "a", 1);
    observer.on_token(0, std::nullopt, 2);
    observer.offer_token(0, "b", 3, [] {});
    const std::array<float, 2> values{1, 2};
    observer.on_rows({"logits", "logits", "num_tokens", "vocab_size", values.data(), 1, 2});
    observer.stop();
    observer.wants_to_stop();
    tell_end(kind, std::move(outcome));
  }).join();
}

CallOutcome refusal() { return {.error = std::make_exception_ptr(RpcError(ErrorCode::kCallFailed, "no"))}; }

}  // namespace

#define ENDS_THAT_TELL OfStream, OfLeasedCall, OfLoad, OfAutoload, OfLease, OfUnload

TEMPLATE_TEST_CASE("whoever hears the end of a call is told on the loop, later, once, and of how it went", "",
                   ENDS_THAT_TELL) {
  TestType kind;
  REQUIRE(kind.observer);
  tell_all(kind, refusal());
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
  tell_all(kind, refusal());
  kind.settle();
  CHECK(kind.ends.errors.empty());
  kind.observer.reset();
  kind.settle();
  CHECK(kind.ends.errors.empty());
}

TEMPLATE_TEST_CASE("whoever goes while word of the end of a call is on its way is not told", "", ENDS_THAT_TELL) {
  TestType kind;
  REQUIRE(kind.observer);
  tell_all(kind, refusal());
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
  tell_all(kind, std::move(outcome));
  kind.settle();
  CHECK(memory.used() == 0);
}

TEMPLATE_TEST_CASE("a run that is being stopped waits for nobody, however much it says", "", ENDS_THAT_TELL) {
  TestType kind;
  REQUIRE(kind.observer);
  kind.observer->stop();
  auto saying = std::async(std::launch::async, [&kind, &observer = *kind.observer] {
    const std::string text(1'000, 'x');
    int refused = 0;
    for (int token = 0; token < 2'000; ++token) {
      observer.on_token(0, text, token);
      if (!observer.offer_token(0, text, token, [] {})) ++refused;
    }
    tell_end(kind, refusal());
    return refused;
  });
  REQUIRE(saying.wait_for(kUntilReturned) == std::future_status::ready);
  CHECK(saying.get() == 0);
  kind.settle();
  CHECK(kind.ends.errors.size() == 1);
}

}  // namespace rkllm_mcp::test
