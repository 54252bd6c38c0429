// The models of a server over an engine without a library: models are loaded when the test lets them be, as many as
// there is room for.
#pragma once

#include "models/server_models.hpp"

#include "backend/queued_backend.hpp"
#include "clock.hpp"
#include "counts.hpp"
#include "server/backend/queue_limits.hpp"
#include "settings_defaults.h"
#include "support/usual_limits.hpp"
#include "thread.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/method.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

// What its models can do: of the vendor's functions those that models by name are made of.
namespace board_methods {

inline constexpr std::array<std::string_view, 1> kInitParams{"param"};
inline constexpr std::array<std::string_view, 1> kHandle{"handle"};
inline constexpr std::array<std::string_view, 3> kRunParams{"handle", "rkllm_input", "rkllm_infer_params"};
inline constexpr std::array<std::string_view, 2> kClearParams{"handle", "keep_system_prompt"};
inline constexpr std::array<std::string_view, 4> kTemplateParams{"handle", "system_prompt", "prompt_prefix",
                                                                 "prompt_postfix"};

constexpr Method method(std::string_view name, HandleRole role, std::span<const std::string_view> params) {
  Method method;
  method.name = name;
  method.handle = role;
  method.params = params;
  if (role != HandleRole::kCreates) method.handle_param = "handle";
  method.streams = name == "rkllm_run";
  return method;
}

inline constexpr std::array<Method, 5> kAll{
    method("rkllm_init", HandleRole::kCreates, kInitParams), method("rkllm_destroy", HandleRole::kDestroys, kHandle),
    method("rkllm_run", HandleRole::kUses, kRunParams), method("rkllm_clear_kv_cache", HandleRole::kUses, kClearParams),
    method("rkllm_set_chat_template", HandleRole::kUses, kTemplateParams)};

}  // namespace board_methods

// What all models of one engine share. Thread-safe.
class Board {
 public:
  explicit Board(std::size_t room) : room_(room) {}

  void hold_loads() { set_held(true); }
  void let_loads_go() { set_held(false); }
  // Runs that begin from now on go on until they are stopped.
  void hold_runs() { holds_runs_ = true; }
  bool holds_runs() const { return holds_runs_; }
  std::size_t loads() const {
    const std::lock_guard lock(mutex_);
    return loads_;
  }
  std::size_t loaded() const {
    const std::lock_guard lock(mutex_);
    return lost_.size();
  }
  std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // The process of that handle dies.
  void kill(const std::string& id) {
    Engine::LostFunction lost;
    {
      const std::lock_guard lock(mutex_);
      lost = lost_.at(id);
      lost_.erase(id);
    }
    lost(RpcError(ErrorCode::kRuntimeUnavailable, "the worker died"));
  }

  bool add(const std::string& id, const std::string& path, Engine::LostFunction lost) {
    std::unique_lock<Mutex> lock(mutex_);
    ++loads_;
    change_.wait(lock, [this] { return !is_held_; });
    if (path.find("broken") != std::string::npos) {
      throw RpcError(ErrorCode::kCallFailed, "rkllm_init returned -1");
    }
    if (lost_.size() >= room_) throw RpcError(ErrorCode::kRuntimeUnavailable, "the worker died while it loaded");
    lost_.emplace(id, std::move(lost));
    return true;
  }
  void remove(const std::string& id) {
    const std::lock_guard lock(mutex_);
    lost_.erase(id);
  }
  void note(const std::string& call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(call);
  }

 private:
  void set_held(bool held) {
    const std::lock_guard lock(mutex_);
    is_held_ = held;
    change_.notify_all();
  }

  const std::size_t room_;
  mutable Mutex mutex_;
  ConditionVariable change_;
  bool is_held_ = false;
  std::atomic<bool> holds_runs_{false};
  std::size_t loads_ = 0;
  std::map<std::string, Engine::LostFunction> lost_;  // of the models that are loaded
  std::vector<std::string> calls_;
};

class BoardEngine final : public Engine {
 public:
  explicit BoardEngine(Board& board) : board_(board) {}

  std::unique_ptr<Model> new_model(const std::string& id, LostFunction lost) override {
    return std::make_unique<BoardModel>(board_, id, std::move(lost));
  }
  CallOutcome call(const CallRequest&) override { return {}; }
  bool kill() override { return false; }

 private:
  class BoardModel final : public Model {
   public:
    BoardModel(Board& board, std::string id, LostFunction lost)
        : board_(board), id_(std::move(id)), lost_(std::move(lost)) {}

    void begin_run(CallObserver& observer) override {
      const std::lock_guard lock(mutex_);
      run_ = observer.shared_from_this();
      is_stopped_ = false;
    }
    CallOutcome call(const CallRequest& request) override {
      CallOutcome outcome;
      if (request.method->handle == HandleRole::kCreates) {
        try {
          loaded_ = board_.add(id_, request.params["param"]["model_path"].get<std::string>(), lost_);
          outcome.result = Json{{"handle", id_}};
        } catch (const RpcError&) {
          outcome.error = std::current_exception();
        }
      } else if (request.method->handle == HandleRole::kDestroys) {
        board_.remove(id_);
        loaded_ = false;
      } else {
        board_.note(id_ + " " + std::string(request.method->name));
        if (request.method->streams) outcome.aborted = end_run();
      }
      return outcome;
    }
    CallOutcome call_beside(const CallRequest&) override { return {}; }
    void stop_run() override {
      std::shared_ptr<CallObserver> run;
      {
        const std::lock_guard lock(mutex_);
        run = run_;
      }
      if (run) run->stop();
      const std::lock_guard lock(mutex_);
      is_stopped_ = true;
      change_.notify_all();
    }
    bool loaded() const override { return loaded_; }
    Values values() const override { return {}; }

   private:
    // Whether it has been stopped.
    bool end_run() {
      std::unique_lock<Mutex> lock(mutex_);
      if (board_.holds_runs()) change_.wait(lock, [this] { return is_stopped_; });
      run_.reset();
      return is_stopped_;
    }

    mutable Mutex mutex_;
    ConditionVariable change_;
    std::shared_ptr<CallObserver> run_;
    bool is_stopped_ = false;
    Board& board_;
    const std::string id_;
    const LostFunction lost_;
    std::atomic<bool> loaded_{false};
  };

  Board& board_;
};

// Has the model of that file made, as rkllm_init does; false if there is no new handle.
template <class Around>
bool make_handle(Around& around, QueuedBackend& queue, const std::string& path) {
  struct Made final : CallObserver {
    void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
    void on_rows(const FloatRows&) noexcept override {}
    void on_done(CallOutcome) noexcept override {}
  };
  const std::size_t before = queue.handles().size();
  queue.start({.method = find_method(board_methods::kAll, HandleRole::kCreates),
               .params = Json{{"param", {{"model_path", path}}}},
               .observer = std::make_shared<Made>()});
  return around.until([&] { return queue.handles().size() > before; });
}

// Somebody who asks for a model.
struct Asking {
  std::unique_ptr<chat::QueuePlace> place;
  std::unique_ptr<chat::ModelLease> lease;
  std::string complaint;
  std::optional<chat::ErrorKind> kind;
  bool done() const { return lease || kind; }
};

// `Around` has the loop: a WaitingLoop (support/waiting_loop.hpp), or a SimBench (simulation/sim_bench.hpp), whose time
// passes when the test says so.
template <class Around>
class ModelBench {
 public:
  explicit ModelBench(ServerModels::Choices choices, std::size_t room = 8)
      : board(room), models(loop, log, choices, {.stream = usual_limits<TokenStream::Options>(), .counts = &counts}) {
    use_new_runtime();
  }
  ModelBench(const ModelBench&) = delete;
  ModelBench& operator=(const ModelBench&) = delete;
  ~ModelBench() {
    board.let_loads_go();
    queue->shut_down(Clock::now() + std::chrono::seconds(30));
  }

  void use_new_runtime() {
    queue = std::make_shared<QueuedBackend>(std::make_unique<BoardEngine>(board), methods(),
                                            usual_limits<QueuedBackend::Limits>());
    queue->when_lost([this](const std::string& id) { asio::post(loop, [this, id] { models.lost(id); }); });
    ModelRuntime runtime;
    runtime.owner = queue;
    runtime.queue = queue.get();
    runtime.methods = methods();
    runtime.version = "1.3.0";
    runtime.watched = [](CallRequest request) { return request; };
    models.use_runtime(runtime);
  }
  static std::span<const Method> methods() { return board_methods::kAll; }

  // Runs the loop until `is_so`; false if that never is.
  bool until(const std::function<bool()>& is_so) { return around.until(is_so); }
  void settle() { around.settle(); }

  std::shared_ptr<Asking> ask(const std::string& model, chat::Asker asker = {},
                              std::optional<chat::KeepAlive> keep_alive = {}) {
    auto asking = std::make_shared<Asking>();
    chat::PlaceEvents<chat::ModelLease> events;
    events.granted = [weak = std::weak_ptr(asking)](std::unique_ptr<chat::ModelLease> lease) {
      if (const auto alive = weak.lock()) alive->lease = std::move(lease);
    };
    events.failed = [weak = std::weak_ptr(asking)](const chat::TurnError& error) {
      const auto alive = weak.lock();
      if (!alive) return;
      alive->complaint = error.what();
      alive->kind = error.kind();
    };
    asking->place =
        models.ask({.model = model, .asker = std::move(asker), .keep_alive = keep_alive, .peer = {}}, events);
    return asking;
  }

  std::unique_ptr<chat::QueuePlace> load(chat::PlaceWish wish, const std::function<void(bool is_loaded)>& done) {
    chat::PlaceEvents<chat::OnlyLoaded> events;
    events.granted = [done](const std::unique_ptr<chat::OnlyLoaded>&) { done(true); };
    events.failed = [done](const chat::TurnError&) { done(false); };
    return models.load(std::move(wish), std::move(events));
  }
  // The lease that it gets.
  bool granted(const std::shared_ptr<Asking>& asking) {
    return until([&] { return asking->done(); }) && asking->lease != nullptr;
  }
  // Whether all models go when so much time has passed. With a SimBench.
  bool all_unloaded_after(std::chrono::seconds time) {
    around.pass(time);
    return board.loaded() == 0;
  }
  bool is_loaded(const std::string& name) { return !models.handle_of(name).empty(); }

  Around around;
  asio::io_context& loop = around.loop();
  spdlog::logger log{"test"};
  Counts counts;
  Board board;
  std::shared_ptr<QueuedBackend> queue;
  ServerModels models;
};

inline ServerModels::Choices presets(const std::vector<std::string>& names) {
  ServerModels::Choices choices;
  choices.keep_alive = {false, static_cast<double>(defaults::kRuntimeKeepAliveS)};
  for (const std::string& name : names) {
    choices.presets[name] = Json{{"param", {{"model_path", "/models/" + name + ".rkllm"}}}};
  }
  return choices;
}

}  // namespace rkllm_mcp::test
