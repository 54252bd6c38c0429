// One model by name and the handle that it is loaded into, for turns or for embeddings: loads it when somebody needs
// it, and unloads it when nobody has for a while.
//
// Whoever needs it by its name waits here in order. When the model is loaded all who wait go on to the handle's queue,
// in that order; nobody who comes by its name can pass them.
//
// Threads: the event loop's. What the backend tells on its threads is posted.
#pragma once

#include "backend.hpp"
#include "backend/queued_backend.hpp"
#include "chat/turn/model_lender.hpp"
#include "clock.hpp"
#include "deadline.hpp"
#include "models/load_progress.hpp"
#include "models/model_list.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/method.hpp>

#include <spdlog/logger.h>
#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rkllm_mcp {

// The runtime that models are loaded into.
struct ModelRuntime {
  std::shared_ptr<Backend> owner{};  // of the queue
  QueuedBackend* queue = nullptr;    // null: there is no library, and `reason` says why
  std::string reason{};
  std::span<const Method> methods{};
  std::string version{};
  bool simulated = false;
  // Puts metrics and log between a call and its observer.
  std::function<CallRequest(CallRequest)> watched{};

  const Method* method(std::string_view name) const { return find_method(methods, name); }
};

// What stands around every slot; outlives them.
struct SlotSurroundings {
  asio::io_context& loop;
  spdlog::logger& log;
  const ModelRuntime& runtime;
};

// Why a model was not loaded, for both dialects.
struct LoadFailure {
  chat::ErrorKind kind = chat::ErrorKind::kRuntimeFailed;
  RpcError error;
};

// Somebody who needs a model. The slot holds it until it has called ready() or failed(), or until remove().
class ModelWaiter {
 public:
  virtual ~ModelWaiter() = default;
  virtual const std::string& holder() const = 0;  // whose access token; empty: nobody's
  virtual void loading(const chat::LoadProgress& progress) = 0;
  // It is loaded. From now on it counts as used, until ModelSlot::end_use(load).
  virtual void ready(const std::string& handle, std::uint64_t load, std::optional<double> load_ms) = 0;
  virtual void failed(const LoadFailure& failure) = 0;
};

class ModelSlot : public std::enable_shared_from_this<ModelSlot> {
 public:
  enum class Use { kTurns, kEmbeddings };
  enum class State { kUnloaded, kLoading, kLoaded, kUnloading };

  struct Events {
    // There was no room for it: makes some, and then calls `then` with whether there may be more room now.
    std::function<void(ModelSlot& slot, std::function<void(bool made_room)> then)> make_room{};
    // Why it may not be loaded at all now; nothing: it may.
    std::function<std::optional<LoadFailure>()> forbids{};
    std::function<void()> changed{};
    chat::KeepAlive keep_alive{};      // where the model has none of its own
    std::int64_t default_context = 0;  // for files without a preset; 0: the runtime's
  };

  ModelSlot(const SlotSurroundings& around, NamedModel model, Use use, Events events);

  const NamedModel& model() const { return model_; }
  // Takes what the settings say now. It counts from the next load on, but how long the model is kept counts at once.
  void update(NamedModel model, chat::KeepAlive keep_alive);
  std::string title() const;  // in words, "NAME for embeddings"
  State state() const { return state_; }
  const std::string& handle() const { return handle_; }
  const Json& param() const { return loaded_with_; }
  chat::LoadProgress progress();

  const ModelRuntime& runtime() const { return around_.runtime; }

  std::size_t waiting() const { return users_waiting_.size(); }
  std::size_t waiting_of(const std::string& holder) const;
  bool is_idle() const;  // loaded, and nobody uses it or waits for it
  // Loaded, and nobody waits here: a call that comes now passes nobody.
  bool is_free_for_newcomer() const;
  Clock::time_point last_used() const;  // also by calls that go to its handle
  std::optional<Clock::time_point> expires() const;
  std::optional<std::int64_t> loaded_since_s() const;
  std::optional<double> load_s() const { return load_s_; }  // of its last load
  std::optional<std::int64_t> context() const { return context_; }

  // Never calls back from inside.
  void add(std::shared_ptr<ModelWaiter> user);
  void remove(const ModelWaiter* user);  // one that waits here
  // `keep`: how long it is kept from now on; nothing: as the latest user of this load has said who said something.
  void end_use(std::uint64_t load, std::optional<chat::KeepAlive> keep);
  // Unloads the model, after all who use it now. `done` gets an error, or none.
  using UnloadedFunction = std::function<void(std::exception_ptr error)>;
  void unload(UnloadedFunction done);
  // Its handle is gone although we have not destroyed it.
  void lost(const std::string& handle);

 private:
  std::optional<QueuedBackend::HandleUse> handle_use() const;  // nothing: it has gone
  void serve();
  void load();
  void loaded(const CallOutcome& outcome);
  void load_failed(const std::exception_ptr& error);
  void fail_all(const LoadFailure& failure);
  void begin_to_unload();
  void unloaded(std::exception_ptr error);
  void forget_handle();
  void arm();
  void look_whether_expired();
  void tell_progress();
  Json param_to_load_with() const;
  const chat::KeepAlive& keep_alive() const;

  SlotSurroundings around_;
  NamedModel model_;
  const Use use_;
  Events events_;

  struct Waiting {
    std::shared_ptr<ModelWaiter> user;
    Clock::time_point since;
  };
  State state_ = State::kUnloaded;
  std::deque<Waiting> users_waiting_;
  std::size_t users_ = 0;  // how many use this load of the model

  Backend::CallId init_ = 0;  // while it is loading
  Json loaded_with_ = nullptr;
  std::string handle_;
  std::uint64_t load_ = 0;
  bool has_made_room_ = false;
  bool without_default_context_ = false;
  Clock::time_point load_began_;
  Clock::time_point loaded_at_;
  Clock::time_point last_used_;
  std::int64_t since_s_ = 0;
  std::optional<double> load_s_;
  std::optional<std::int64_t> context_;
  std::optional<LoadedBytes> bytes_;
  std::optional<chat::KeepAlive> kept_;  // as the latest user wanted it
  std::vector<UnloadedFunction> when_unloaded_;
  Deadline expiry_;         // when keep_alive is over
  Deadline next_progress_;  // when to look again how far the load is
};

}  // namespace rkllm_mcp
