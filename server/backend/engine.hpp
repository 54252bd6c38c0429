// Where calls are made: on a library in this process (LibraryEngine), or in worker processes (WorkerEngine). The queues
// in front of it are the same for both: QueuedBackend. tests/server/backend/engine_contract_test.cpp holds every engine
// to what is said here.
#pragma once

#include "backend.hpp"
#include "json_members.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

namespace rkllm_mcp {

// The place of one handle's model, from before it is created until it is destroyed. Before its creation and after its
// destruction calls end with error 4002; if it was lost, they end with the reason: see Engine.
//
// Threads: call() on the thread of the handle's queue. call_beside() on another thread, perhaps during call(), but
// never while call() creates or destroys the model. begin_run() before the call() that it belongs to, on the same
// thread, if the model is there. stop_run() on any thread, between begin_run() and the end of its call(); it does not
// block.
class Model {
 public:
  virtual ~Model() = default;

  // The next call is a run. `observer` hears of it until call() has returned; if the library has not ended the run by
  // then, also later.
  virtual void begin_run(CallObserver& observer) = 0;
  virtual CallOutcome call(const CallRequest& request) = 0;         // blocks until the call has ended
  virtual CallOutcome call_beside(const CallRequest& request) = 0;  // what the contract allows during a run
  virtual void stop_run() = 0;  // at its next callback, or in the one that waits for a slow reader

  // Nobody waits for the call that creates the model any more. Ends it if that can be done without harm to others.
  // During that call, any thread; does not block.
  virtual void stop_loading() {}
  // The process that is loading the model; nothing if none is loading it, or it is not known. Any thread.
  virtual std::optional<pid_t> loading_in() const { return std::nullopt; }

  virtual bool loaded() const = 0;  // there is something to call
  // What is known of it: sizes and limits by the name of their C field, e.g. "max_new_tokens". On the queue's thread.
  using Values = std::map<std::string, std::int64_t, std::less<>>;
  virtual Values values() const = 0;
  // The worker that it is in; nothing if it is in this process. On the same thread as values().
  virtual std::optional<pid_t> process() const { return std::nullopt; }
};

// The outcome of a call of a model that is not there.
inline CallOutcome without_model(const std::string& id) {
  return {.error = std::make_exception_ptr(unknown_handle(id, {}))};
}

// The file that a call with these parameters is to load as a model; empty if it names none. Nothing has been checked
// yet: the stub does that.
inline std::string model_path_in(const Json& params) {
  const Json* const param = member_of(params, "param");
  return param != nullptr ? text_in(*param, "model_path") : std::string();
}

class Engine {
 public:
  virtual ~Engine() = default;

  // Called once, on any thread, when a model that was loaded is gone although nobody destroyed it. A call that fails
  // for this reason returns only after it.
  using LostFunction = std::function<void(const RpcError& why)>;
  virtual std::unique_ptr<Model> new_model(const std::string& id, LostFunction lost) = 0;
  // A call that needs no handle. One at a time.
  virtual CallOutcome call(const CallRequest& request) = 0;
  // Makes an end of whatever still runs, for good: calls in progress then end with an error. False if that is not
  // possible. Any thread.
  virtual bool kill() = 0;
};

}  // namespace rkllm_mcp
