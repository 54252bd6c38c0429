#include "dispatch/dispatcher.hpp"

#include "auth/owner.hpp"
#include "clock.hpp"
#include "dispatch/batch_answer.hpp"
#include "faults.hpp"
#include "jsonrpc/envelope.hpp"
#include "limit.hpp"
#include "mcp/protocol/era.hpp"
#include "mcp/protocol/handshake.hpp"
#include "mcp/protocol/revisions.hpp"
#include "run_loop.hpp"
#include "transport/bytes/input_backlog.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

RpcError no_such_method(const Api& api, const ServiceCalls& services, const std::string& method) {
  if (const Elsewhere* other = api.method_elsewhere(method)) {
    return unsupported(method, other->versions, api.api_version);
  }
  const auto& protocol = mcp::newest_handshake_revision().methods;
  std::vector<std::string_view> known(protocol.begin(), protocol.end());
  known.push_back("poll");
  for (const auto& each : api.methods) known.push_back(each.name);
  for (const auto& each : api.facts) known.push_back(each.name);
  for (const auto& each : services.plain_names()) known.push_back(each);
  const auto nearest = nearest_name(method, known);
  Json data{{"nearest", nullptr}};
  if (nearest) data["nearest"] = *nearest;
  return {ErrorCode::kMethodNotFound,
          "no method " + to_text(shortened(method)) + " exists" + did_you_mean(method, known), std::move(data)};
}

bool claims_stateless(const Json& message) {
  return message.is_object() && message.contains("params") && mcp::is_stateless_request(message["params"]);
}

// The request or notification without the server's own name before its method ("rkllm-server/"); nothing if that name
// is not there. It is taken off once only: a method may be as long as a message, and repeat the name many times.
template <class Asked>
std::optional<Asked> without_own_name(const ServiceCalls& services, const Asked& asked) {
  const auto own = services.own_method(asked.method);
  if (!own) return std::nullopt;
  Asked plain = asked;
  plain.method = std::string(*own);
  return plain;
}

// A poll for what a stream retains changes nothing, and finds more each time: it is executed as often as it comes.
bool asks_for_retained(const Request& request) {
  return request.method == "poll" && !(request.params.is_object() && request.params.contains("stream_id"));
}

}  // namespace

Dispatcher::Dispatcher(asio::io_context& loop, const Api& api, const mcp::Catalogue& catalogue, Backend& backend,
                       const Options& options)
    : loop_(loop),
      api_(api),
      options_(options),
      gate_(loop, options.tokens),
      caller_(loop, api, backend, registry_, options.calls),
      direct_(caller_),
      mcp_(loop, catalogue,
           {options.page_items, options.calls.requests_per_session, options.calls.counts, options.memory,
            options.message.max_id_bytes}),
      services_(catalogue, {options.page_items, options.calls.requests_per_session, options.calls.counts}),
      repeated_(RepeatedRequests::Limits(), options.memory),
      reader_(loop, {options.message, options.memory, options.calls.counts}),
      requests_(std::make_shared<RequestTable>(&backend)) {}

std::shared_ptr<Session> Dispatcher::make_session(const Principal* principal, SessionOf clients) {
  auto session = std::make_shared<Session>(requests_, clients);
  session->principal = principal;
  return session;
}

AcceptFunction Dispatcher::acceptor(InputEnded input_ended) {
  return [this, input_ended = std::move(input_ended)](Peer& peer) -> ReceiveFunction {
    const auto session = make_session(gate_.principal_of(peer));
    session->outlet = peer.weak_from_this();
    // Having a connection proves a client where no tokens are asked for. Over UDP there is none, and an address may be
    // forged: a token in a message proves it (Gate::admit), or nothing does.
    if (peer.facts().transport != TransportKind::kUdp) {
      session->principal != nullptr ? peer.prove() : await_proof(*session, peer);
    }
    peer.when_closed([this, session, alive = alive_.watch()] {
      if (!alive.expired()) repeated_.forget(*session);  // before the next line, which ends the requests in progress
      session->client_gone();
    });
    // The transport keeps this function until the peer closes, or as long as it lives: so the peer is held weakly here.
    return [this, session, input_ended, weak = peer.weak_from_this()](const Received& received) {
      const auto alive = weak.lock();
      if (!alive) return;
      const auto* text = std::get_if<std::string_view>(&received);
      if (text != nullptr && alive->facts().transport == TransportKind::kUdp) {
        receive_datagram(*text, *session, *alive);
      } else if (text != nullptr) {
        receive_in_order(*text, *session, *alive);
      } else if (const auto* oversized = std::get_if<Oversized>(&received)) {
        if (session->principal == nullptr) {
          return refuse_stranger("an access token is required before long messages", *session, *alive);
        }
        count(options_.calls.counts, Limit::kMessageBytes);
        alive->send(oversized_message(*oversized));
      } else if (std::holds_alternative<OtherProtocol>(received)) {
        refuse(other_protocol(), alive->answer());
      } else if (const auto* no_room = std::get_if<NoRoom>(&received)) {
        count(options_.calls.counts, Limit::kMemory);
        alive->send(error_message(id_of_beginning(no_room->beginning, options_.message), no_memory()));
      } else if (std::holds_alternative<TooSlow>(received)) {
        alive->send(too_slow_message());
      } else {
        if (input_ended) input_ended(session->speaks_mcp);
        session->when_idle([weak] {
          if (const auto still_alive = weak.lock()) still_alive->close();
        });
      }
    };
  };
}

// A connection whose client never presents a token would take a place for ever.
void Dispatcher::await_proof(Session& session, Peer& peer) {
  call_after(loop_, options_.time_to_prove,
             [this, weak_session = session.weak_from_this(), weak_peer = peer.weak_from_this()] {
               const auto alive = weak_session.lock();
               const auto client = weak_peer.lock();
               if (!alive || !client || client->closed() || alive->principal != nullptr) return;
               refuse_stranger("no access token came in time", *alive, *client);
             });
}

void Dispatcher::refuse_stranger(const std::string& reason, Session& session, Peer& peer) {
  if (session.is_refused) return;  // its refusal is on its way, and ends the connection
  count(options_.calls.counts, Limit::kAuthorization);
  gate_.refuse_stranger(reason, session, peer.answer());
}

std::string Dispatcher::refused_connection_message(Limit limit, std::size_t most) {
  const std::string name(name_of(limit));
  return error_message(RequestId(kNullId), RpcError(ErrorCode::kQueueFull, "too many connections: " + name,
                                                    Json{{"queued", most}, {"limit", most}, {"setting", name}}));
}

std::string Dispatcher::oversized_message(const Oversized& oversized) {
  return error_message(
      RequestId(kNullId),
      too_large("the message exceeds " + std::string(name_of(Limit::kMessageBytes)), oversized.bytes, oversized.limit));
}

std::string Dispatcher::too_slow_message() {
  const std::string name(name_of(Limit::kMessageTime));
  return error_message(
      RequestId(kNullId),
      RpcError(ErrorCode::kQueueFull, "the message has not arrived in time: " + name, Json{{"setting", name}}));
}

void Dispatcher::receive_in_order(std::string_view text, Session& session, Peer& peer) {
  if (text.size() <= kReadAtOnceBytes) return receive(reader_.parse(text), session, peer.answer(), Delivery::kPush);
  peer.hold_input();
  const std::weak_ptr weak(peer.weak_from_this());
  const auto is_there = [weak] {
    const auto alive = weak.lock();
    return alive && !alive->closed();
  };
  reader_.read(std::string(text), {peer.facts().address, is_there},
               [this, kept = session.shared_from_this(), weak](const Message& message) {
                 const auto alive = weak.lock();  // not null: it is there, or this would not be called
                 or_else([&] { receive(message, *kept, alive->answer(), Delivery::kPush); }, [&] { alive->close(); });
                 alive->resume_input();
               });
}

void Dispatcher::receive(const Message& message, Session& session, AnswerSink& answer, Delivery delivery) {
  if (const auto* batch = std::get_if<Batch>(&message)) return execute(*batch, session, answer, delivery);
  if (!passes_gate(message, session, answer)) return;
  if (const auto* request = std::get_if<Request>(&message)) {
    execute(*request, session, *std::make_shared<Reply>(answer, request->id), delivery);
  } else if (const auto* notification = std::get_if<Notification>(&message)) {
    execute(*notification, session, answer);
  } else if (const auto* malformed = std::get_if<Malformed>(&message)) {
    refuse(*malformed, answer);
  } else if (const auto* response = std::get_if<Response>(&message)) {
    try {
      mcp::Server::handle(*response, session);
    } catch (...) {
      pass_on(loop_, std::current_exception());  // the tool that has asked for it reports to its own client
    }
    Reply::unanswered(answer).nothing();
  }
}

void Dispatcher::refuse(const Malformed& malformed, AnswerSink& answer) const {
  note_malformed(malformed, answer.peer());
  Reply(answer, malformed.id).error(malformed.error);
}

// Each message of a batch is executed for itself; the answers travel together.
void Dispatcher::execute(const Batch& batch, Session& session, AnswerSink& whole, Delivery delivery) {
  // Datagrams may come twice, which is noticed of single requests only.
  const bool is_allowed = session.handshake && session.handshake->revision->batches &&
                          whole.peer().facts().transport != TransportKind::kUdp &&
                          std::none_of(batch.messages.begin(), batch.messages.end(), claims_stateless);
  if (!is_allowed || batch.messages.size() > options_.calls.requests_per_session) {
    return receive(refused_batch(), session, whole, delivery);
  }
  const auto gathering = std::make_shared<BatchAnswer>(whole, batch.messages.size(), options_.memory);
  const std::size_t next = execute_some(batch, 0, session, *gathering, delivery);
  if (next == batch.messages.size()) return;
  const auto from = static_cast<std::ptrdiff_t>(next);
  Batch rest{{batch.messages.begin() + from, batch.messages.end()},
             {batch.written_ids.begin() + from, batch.written_ids.end()},
             batch.memory};
  whole.peer().hold_input();
  go_on_with(std::move(rest), 0, session, *gathering, delivery);
}

// Executes the batch's messages from `at` on, as many as a slice allows. Returns the index of the next.
std::size_t Dispatcher::execute_some(const Batch& batch, std::size_t at, Session& session, BatchAnswer& gathering,
                                     Delivery delivery) {
  InputSlice slice;
  do {
    Message message = message_of(batch.messages[at], batch.written_ids[at], options_.message);
    attach_share(message, batch.memory);
    if (const auto* request = std::get_if<Request>(&message); request != nullptr && request->method == "initialize") {
      message = Malformed{request->id, RpcError(ErrorCode::kInvalidRequest, "invalid request: initialize in a batch")};
    }
    receive(message, session, gathering, delivery);
    slice.count_message();
  } while (++at < batch.messages.size() && !slice.is_over());
  return at;
}

void Dispatcher::go_on_with(Batch batch, std::size_t at, Session& session, BatchAnswer& gathering, Delivery delivery) {
  asio::post(loop_, [this, batch = std::move(batch), at, kept = session.shared_from_this(),
                     gathering = gathering.shared_from_this(), delivery]() mutable {
    if (gathering->peer().closed()) return;
    bool goes_on = false;
    or_else(
        [&] {
          const std::size_t next = execute_some(batch, at, *kept, *gathering, delivery);
          if (next == batch.messages.size()) return;
          go_on_with(std::move(batch), next, *kept, *gathering, delivery);
          goes_on = true;
        },
        [&] { gathering->peer().close(); });
    if (!goes_on) gathering->peer().resume_input();
  });
}

void Dispatcher::receive_datagram(std::string_view text, Session& session, Peer& peer) {
  if (repeated_.repeat(session, text, peer)) return;
  const Message message = reader_.parse(text);
  const auto* request = std::get_if<Request>(&message);
  if (request == nullptr || asks_for_retained(*request))
    return receive(message, session, peer.answer(), Delivery::kPush);
  if (!passes_gate(message, session, peer.answer())) return;
  const auto reply = std::make_shared<Reply>(peer.answer(), request->id);
  repeated_.add(session, text, *reply);
  execute(*request, session, *reply, Delivery::kPush);
}

// The method is the library's, as a direct call; else a service's, MCP's or the server's.
void Dispatcher::execute(const Request& request, Session& session, Reply& reply, Delivery delivery) {
  reply.set_memory(request.memory);
  note_when_answered(request, reply);
  try {
    const auto plain = without_own_name(services_, request);
    const Request& asked = plain ? *plain : request;
    const Method* const method = api_.method(asked.method);
    // A request that names a stateless revision is meant for MCP, and never is a direct call.
    if (method != nullptr && !mcp::is_stateless_request(asked.params)) {
      return direct_.call(*method, asked.params, session, reply, delivery);
    }
    if (services_.call(asked.method, asked.params, session, reply)) return;
    if (mcp_.handle(asked, session, reply)) return;
    if (asked.method == "poll") return direct_.poll(asked.params, session, reply);
    if (const auto fact = rkllm_mcp::answer(api_.facts, asked.method)) return reply.result(*fact);
    throw no_such_method(api_, services_, asked.method);
  } catch (const RpcError& error) {
    reply.error(error);
  } catch (...) {
    reply.error(as_rpc_error(std::current_exception()));
    pass_on(loop_, std::current_exception());
  }
}

void Dispatcher::note_when_answered(const Request& request, Reply& reply) const {
  if (!options_.report) return;
  reply.on_answered(
      [this, alive = alive_.watch(), method = shortened(request.method), began = Clock::now()](const Reply& answered) {
        if (alive.expired() || answered.is_of_call()) return;
        note({source_of_request(answered.id(), answered.peer()), method, answered.error_code(),
              std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began)});
      });
}

bool Dispatcher::passes_gate(const Message& message, Session& session, AnswerSink& answer) {
  const Gate::Admission admission = gate_.admit(message, session, answer);
  if (admission == Gate::Admission::kExecute) return true;
  const bool is_refused = admission == Gate::Admission::kRefused;
  if (is_refused) count(options_.calls.counts, Limit::kAuthorization);
  if (const auto* request = std::get_if<Request>(&message)) {
    note({source_of_request(request->id, answer.peer()), request->method,
          is_refused ? std::optional(ErrorCode::kUnauthorized) : std::nullopt});
  }
  return false;
}

void Dispatcher::note_malformed(const Malformed& malformed, const Peer& peer) const {
  note({source_of_request(malformed.id, peer), {}, malformed.error.code()});
}

void Dispatcher::note_refused(const Request& request, const RpcError& error, const Peer& peer) const {
  note({source_of_request(request.id, peer), request.method, error.code()});
}

void Dispatcher::note(const RequestNote& note) const {
  if (options_.report) options_.report(note);
}

void Dispatcher::execute(const Notification& notification, Session& session, AnswerSink& answer) {
  const auto reply = std::make_shared<Reply>(Reply::unanswered(answer));
  reply->set_memory(notification.memory);
  try {
    const auto plain = without_own_name(services_, notification);
    const Notification& told = plain ? *plain : notification;
    const Method* const method = api_.method(told.method);
    if (method != nullptr) return direct_.call(*method, told.params, session, *reply, Delivery::kPush);
    if (services_.call(told.method, told.params, session, *reply)) return;
    mcp_.handle(told, session, answer.peer());
    reply->nothing();
  } catch (const RpcError&) {
    reply->nothing();  // nobody to tell
  } catch (...) {
    reply->nothing();
    pass_on(loop_, std::current_exception());
  }
}

}  // namespace rkllm_mcp
