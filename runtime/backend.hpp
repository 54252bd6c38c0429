// What the runtime library needs of whoever executes calls. The dispatcher hands calls over on the event loop and gets
// everything back through the observer it passed.
#pragma once

#include "immutable.hpp"
#include "memory_budget.hpp"

#include <rkllm_mcp/array_encoding.hpp>
#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>
#include <rkllm_mcp/result_sink.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Rows of floats that a run has produced: hidden states or logits. The names are C's, see FloatRows.
struct ValueRows {
  std::string field, values_name, rows_name, columns_name;
  std::vector<float> values;
  std::size_t rows = 0;
  std::size_t columns = 0;

  std::size_t bytes() const { return values.size() * sizeof(float); }
};

// How a call ended. Where `error` is set, `result` means nothing; a lease ends without a result and without an error.
struct CallOutcome {
  Json result{};                  // what the stub returned, {"status":0,...}
  std::exception_ptr error{};     // an RpcError, or a bug
  std::string state{};            // name of the state that ended the run, empty for calls that do not stream
  Json values{};                  // what came with that state, e.g. {"perf":{...}}; null if nothing
  std::vector<ValueRows> rows{};  // hidden states or logits, if the run was made for them
  MemoryShare memory{};           // what the rows take, also once they have become text
  bool aborted = false;           // the run was stopped on request
  std::string handle{};           // the handle the call used; empty if none
};

// Follows one call. Threads: what tells of the call (on_queued() to on_done()) may come on any thread, one at a time;
// stop() and wants_to_stop() may come on another thread at the same moment. Only on_token() and on_rows() may block:
// while a slow reader has left no room, which stop() ends, or, in a worker process, while the server does not read.
//
// A function that is given a reference to an observer may use it until it returns. Whoever may call the observer later
// keeps it alive with shared_from_this().
class CallObserver : public std::enable_shared_from_this<CallObserver> {
 public:
  virtual ~CallObserver() = default;
  // The call waits in its queue behind `calls_before` others. Called again whenever that number changes, until
  // on_begun() or on_done().
  virtual void on_queued(std::size_t /*calls_before*/) noexcept {}
  virtual void on_begun(std::optional<std::uint64_t> /*token_limit*/) noexcept {}  // it has left its queue
  virtual void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept = 0;
  // As on_token(), for a thread that must not block: returns false if there is no room for the token now. The caller
  // then keeps the token and offers it again when `on_room` has been called (once, on any thread, under a lock of the
  // observer's: it must not call the observer), and after a short time even if it is not called.
  virtual bool offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id,
                           const std::function<void()>& /*on_room*/) noexcept {
    on_token(batch, text, token_id);
    return true;
  }
  virtual void on_rows(const FloatRows& rows) noexcept = 0;
  // Called exactly once, and last. If a call hangs in the library when the program ends, the program calls this; what
  // the library still tells after that must change nothing.
  virtual void on_done(CallOutcome outcome) noexcept = 0;
  virtual void stop() noexcept {}                                // the run is being stopped: nothing may wait any more
  virtual bool wants_to_stop() const noexcept { return false; }  // asked after each token; true aborts the run
};

// Who wants a call, and what for; for limits, status pages and logs.
struct RequestSource {
  std::string id;                       // the request's, as JSON text; empty: none
  std::string_view transport = "none";  // "tcp"; "none": the server itself wants it
  std::string peer;                     // its address
  std::string holder{};                 // of the access token that it came with; empty: it came with none
  std::string model{};  // of the model that the server itself loads by it; calls without a handle never take such a one
};

// A number that no other call of this process has: a session may cancel a call of a backend that has been replaced, and
// must hit no other. Later calls have greater ones. Any thread.
using CallId = std::uint64_t;
inline CallId new_call_id() {
  static std::atomic<CallId> next{1};  // no call has the id 0
  return next++;
}

struct CallRequest {
  const Method* method = nullptr;
  Json params;  // an object keyed by C parameter names
  ArrayEncoding encoding = ArrayEncoding::kJson;
  RequestSource source{};
  // The request's share of the memory budget. The request's message and its Reply hold it, too: it is given back when
  // all of them are gone.
  std::optional<Immutable<MemoryShare>> memory{};
  std::shared_ptr<CallObserver> observer{};  // hears all that comes of it; never null where a call is started
  CallId id = new_call_id();
};

class Backend {
 public:
  using CallId = rkllm_mcp::CallId;

  virtual ~Backend() = default;

  // Queues a call and returns its `request.id` at once. All that comes of it, bad parameters included, comes through
  // its observer, but for std::bad_alloc, which this may throw: then the observer hears nothing.
  //
  // on_begun() and on_done() never come from inside this function. An observer's on_queued() and stop() may come from
  // inside start(), cancel() and give_up() of any call. Both, and the on_begun() of a lease (see
  // QueuedBackend::lease()), are called with a lock of the backend held: the observer must not call the backend there.
  virtual CallId start(CallRequest request) = 0;
  // Takes the call out of its queue (it then ends with error 4009), or stops its run (it then ends with `aborted`).
  // The loading of a model is ended where that is possible (error 4009). A call that does something else is left alone.
  // Unknown ids are ignored.
  virtual void cancel(CallId id) = 0;
  // Takes the call out of its queue, with this error; one that does not wait any more is left alone.
  virtual void give_up(CallId id, const RpcError& why) = 0;
};

}  // namespace rkllm_mcp
