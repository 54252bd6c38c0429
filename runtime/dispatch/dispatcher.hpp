// Takes every message of every client, and sees to it that each gets its answer: has it read, routes it to a dialect,
// and turns whatever is thrown on the way into an error. Serves any Api over any Backend, and any Catalogue.
//
// Threads: event loop only.
#pragma once

#include "api.hpp"
#include "backend.hpp"
#include "call/caller.hpp"
#include "call/poll_reader.hpp"
#include "call/repeated_requests.hpp"
#include "call/session.hpp"
#include "direct/direct_dialect.hpp"
#include "dispatch/gate.hpp"
#include "dispatch/message_reader.hpp"
#include "dispatch/service_calls.hpp"
#include "jsonrpc/message.hpp"
#include "lifetime.hpp"
#include "mcp/protocol/mcp_server.hpp"
#include "mcp/service.hpp"
#include "memory_budget.hpp"
#include "transport/answer_sink.hpp"
#include "transport/peer.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rkllm_mcp {

// What is reported of a request that was answered without becoming a call: lists, polls, refusals. Calls are reported
// when they end, see WatchedBackend.
struct RequestNote {
  RequestSource source;
  std::string method;              // empty: the message could not be read
  std::optional<ErrorCode> error;  // nothing: it was answered with a result
  std::chrono::microseconds time{0};
};

using RequestReport = std::function<void(const RequestNote&)>;

class BatchAnswer;

class Dispatcher {
 public:
  struct Options {
    MessageLimits message;
    CallLimits calls;
    MemoryBudget memory{};  // that requests count in; none: they are bounded in number only
    std::size_t page_items = mcp::kPageItems;
    AccessTokens tokens{};                      // empty: everybody may call
    std::chrono::milliseconds time_to_prove{};  // until a new connection must have presented a token
    RequestReport report{};  // is called for each request that never became a call; null: there is no such report
  };

  // All but `options`, which is copied, outlives the dispatcher. `backend` executes the calls of the API's methods.
  Dispatcher(asio::io_context& loop, const Api& api, const mcp::Catalogue& catalogue, Backend& backend,
             const Options& options);

  // For transports with connections: a session for each peer, ended (and its calls cancelled) when the peer closes. A
  // peer whose input has ended is closed when nothing of it is in progress any more. `input_ended`, if it is given, is
  // called before that, and hears whether the peer has spoken MCP: hosts end a server on stdio by closing its input.
  using InputEnded = std::function<void(bool speaks_mcp)>;
  AcceptFunction acceptor(InputEnded input_ended = {});

  // kManyClients: what all HTTP clients of that principal share that have no MCP session of their own.
  std::shared_ptr<Session> make_session(const Principal* principal, SessionOf clients = SessionOf::kOneClient);
  Gate& gate() { return gate_; }
  asio::io_context& loop() { return loop_; }
  Caller& caller() { return caller_; }
  mcp::Server& mcp() { return mcp_; }
  MessageReader& reader() { return reader_; }

  // Executes one message, which `answer` answers.
  void receive(const Message& message, Session& session, AnswerSink& answer, Delivery delivery);
  const Options& options() const { return options_; }
  // Whether any pushed stream still has something to send.
  bool is_pushing() const { return caller_.is_pushing(); }

  // Reports a message that could not be parsed, and that the caller answers by itself.
  void note_malformed(const Malformed& malformed, const Peer& peer) const;
  // Reports a request that is refused before it is executed, and that the caller answers by itself.
  void note_refused(const Request& request, const RpcError& error, const Peer& peer) const;

  // Error 4006 for a message longer than allowed; error 4004 for one that came too slowly, or a client without a place.
  static std::string oversized_message(const Oversized& oversized);
  static std::string too_slow_message();
  static std::string refused_connection_message(Limit limit, std::size_t most);

 private:
  void refuse_stranger(const std::string& reason, Session& session, Peer& peer);
  void await_proof(Session& session, Peer& peer);
  // Takes a message that may have come before, since the network may repeat it, or may have lost its answer.
  void receive_datagram(std::string_view text, Session& session, Peer& peer);
  void execute(const Request& request, Session& session, Reply& reply, Delivery delivery);
  void execute(const Batch& batch, Session& session, AnswerSink& whole, Delivery delivery);
  std::size_t execute_some(const Batch& batch, std::size_t at, Session& session, BatchAnswer& gathering,
                           Delivery delivery);
  void go_on_with(Batch batch, std::size_t at, Session& session, BatchAnswer& gathering, Delivery delivery);
  void execute(const Notification& notification, Session& session, AnswerSink& answer);
  void refuse(const Malformed& malformed, AnswerSink& answer) const;
  // A message of a peer with a connection, which gives the next one only when this one has been read.
  void receive_in_order(std::string_view text, Session& session, Peer& peer);
  // Whether the gate lets the message through. If not, it has been answered, and reported.
  bool passes_gate(const Message& message, Session& session, AnswerSink& answer);
  void note(const RequestNote& note) const;
  void note_when_answered(const Request& request, Reply& reply) const;

  asio::io_context& loop_;
  const Api& api_;
  const Options options_;
  Gate gate_;
  StreamRegistry registry_;
  Caller caller_;
  DirectDialect direct_;
  mcp::Server mcp_;
  ServiceCalls services_;
  RepeatedRequests repeated_;
  MessageReader reader_;
  const Lifetime alive_;  // peers may close after it
  // Declared last: the requests that end with it may use all other members. Shared only so that sessions can hold it
  // weakly.
  const std::shared_ptr<RequestTable> requests_;
};

}  // namespace rkllm_mcp
