// Starts calls for both dialects: looks whether the client may begin them, connects the run's stream to a reader, and
// keeps the session's books. Event loop only.
#pragma once

#include "api.hpp"
#include "backend.hpp"
#include "call/permission.hpp"
#include "call/poll_reader.hpp"
#include "call/result_options.hpp"
#include "call/session.hpp"
#include "call/value_store.hpp"
#include "call/value_text.hpp"
#include "counts.hpp"
#include "jsonrpc/reply.hpp"
#include "memory_budget.hpp"
#include "side_thread.hpp"
#include "stream/collect_reader.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

namespace rkllm_mcp {

// The limits of streams and requests. Fields that begin as {} are for whoever makes a dispatcher to fill in.
struct CallLimits {
  std::size_t stream_buffer_bytes{};
  std::size_t stream_values_bytes{};
  std::size_t answer_bytes{};
  std::size_t reply_bytes{};   // of an answer with hidden states or logits
  std::size_t inline_bytes{};  // values of so many bytes of text or more: MCP answers link to them
  MemoryBudget memory{};       // in which values count, as text and while kept for MCP
  std::chrono::milliseconds poll_timeout{};
  std::chrono::milliseconds poll_wait_max{};
  std::chrono::milliseconds stall{};
  MemoryBudget stream_memory{};  // that all streams share; none: they are bounded one by one only
  Counts* counts = nullptr;
  std::size_t requests_per_session{};
  std::chrono::seconds queue_timeout{};                           // 0: calls wait for ever
  std::size_t retained_chunks{};                                  // per stream on a lossy transport
  std::chrono::milliseconds retained_for = kKeptForLostMessages;  // after the stream's end
};

// How a call ends that is cancelled, or whose HTTP exchange breaks off.
struct CancelRule {
  bool answers = true;             // a cancelled call is still answered (direct dialect), or not (MCP)
  bool outlives_exchange = false;  // a broken HTTP exchange leaves the call alone
};

// The permission that a client needs to call that method.
Permission permission_for(const Method& method);

// Whose request a call is, for the log.
RequestSource source_of_request(const RequestId& id, const Peer& peer);

class Caller {
 public:
  Caller(asio::io_context& loop, const Api& api, Backend& backend, StreamRegistry& registry, const CallLimits& limits)
      : loop_(loop),
        api_(api),
        backend_(backend),
        registry_(registry),
        limits_(limits),
        values_(loop, limits.memory),
        writing_(loop) {}

  const Api& api() const { return api_; }
  const CallLimits& limits() const { return limits_; }
  StreamRegistry& registry() { return registry_; }
  ValueStore& values() { return values_; }
  // The thread for answers that take long to write.
  SideThread& writing() { return writing_; }
  // How the hidden states and logits of a direct call are written.
  ValueWriting writing_of(const ResultOptions& options) const;

  struct Target {
    const Method* method = nullptr;
    Json params;
    ResultOptions options;
  };

  // One answer at the end, made by `done`; `progress` hears of every step. Returns the call's key in the session.
  Session::Key collect(Session& session, Reply& reply, Target target, CollectReader::DoneFunction done,
                       CollectReader::ProgressFunction progress = {}, CancelRule rule = CancelRule());
  // Chunks as they come: replies that repeat the request's id, or notifications behind a stream id as the answer.
  enum class Chunks { kReplies, kNotifications };
  void push(Session& session, Reply& reply, Target target, Chunks chunks);
  // A stream id as the answer; chunks when they are polled for.
  void offer(Session& session, Reply& reply, Target target);

  // Whether any pushed stream still has something to send.
  bool is_pushing() const { return pushing_.use_count() > 1; }

  // Throws RpcError kInvalidRequest (-32600) if the request's id is in use. `is_stream`: its answer is a stream.
  static void require_new_id(const Session& session, const Reply& reply, bool is_stream);

 private:
  TokenStream::Options stream_options(const ResultOptions& options, TokenStream::WhenFull when_full) const;
  // Starts the time that the call may wait in its queue, after which it is given up. The limit holds as long as the
  // object that this returns lives.
  std::unique_ptr<Timer> limit_waiting(Backend::CallId id);
  Session::Key start(Session& session, Reply& reply, ActiveCall call, Target target);

  asio::io_context& loop_;
  const Api& api_;
  Backend& backend_;
  StreamRegistry& registry_;
  const CallLimits limits_;
  ValueStore values_;
  SideThread writing_;
  const std::shared_ptr<const char> pushing_ = std::make_shared<const char>('\0');  // each pushed stream holds it
};

}  // namespace rkllm_mcp
