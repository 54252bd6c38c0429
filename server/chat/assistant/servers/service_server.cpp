#include "chat/assistant/servers/service_server.hpp"

#include "call/session.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "jsonrpc/reply.hpp"
#include "transport/peer.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/post.hpp>

#include <exception>
#include <limits>
#include <optional>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

ServiceCalls::Limits no_limits() {
  ServiceCalls::Limits limits;
  limits.page_items = std::numeric_limits<std::size_t>::max();
  limits.requests_per_session = std::numeric_limits<std::size_t>::max();
  return limits;
}

struct Outcome {
  Json result;
  std::exception_ptr error;
};

Outcome outcome_of(std::string_view text) {
  try {
    return {result_of_answer(text), nullptr};
  } catch (...) {
    return {nullptr, std::current_exception()};
  }
}

}  // namespace

Json result_of_answer(std::string_view text) {
  Json answer = parse_bounded(text).value_or(nullptr);
  if (answer.is_object() && answer.contains("result")) return std::move(answer["result"]);
  const Json error = answer.is_object() ? answer.value("error", Json::object()) : Json::object();
  if (!error.is_object() || !error.contains("code") || !error["code"].is_number_integer()) {
    throw RpcError(ErrorCode::kInternalError, "what was answered is no JSON-RPC");
  }
  const Json message = error.value("message", Json());
  throw RpcError(static_cast<ErrorCode>(error["code"].get<int>()),
                 message.is_string() ? message.get<std::string>() : "it does not say why", error.value("data", Json()));
}

// One call: who makes it, and who waits for it. Destroying it cancels the call.
class ServiceServer::Caller final : public HostCall {
 public:
  Caller(Principal who, mcp::DoneFunction done) : HostCall(std::move(done)) {
    // The invocation may hold the session for longer than this object lives. The session points at its principal, so
    // its deleter keeps the principal alive.
    auto principal = std::make_unique<const Principal>(std::move(who));
    const Principal* const asking = principal.get();
    session_ = std::shared_ptr<Session>(new Session(requests_),
                                        [principal = std::move(principal)](const Session* session) { delete session; });
    session_->principal = asking;
  }
  ~Caller() override { session_->cancel_all(); }

  Session& session() const { return *session_; }

 private:
  const std::shared_ptr<RequestTable> requests_ = std::make_shared<RequestTable>();
  std::shared_ptr<Session> session_;
};

ServiceServer::ServiceServer(asio::io_context& loop, const Immutable<mcp::Service>& service)
    : loop_(loop), calls_(catalogue_, no_limits()), reading_(loop) {
  renew(service);
}

void ServiceServer::renew(const Immutable<mcp::Service>& service) {
  catalogue_ = mcp::Catalogue();
  catalogue_.name = service->name;
  catalogue_.is_server = false;
  mcp::add_service(catalogue_, service);
}

std::unique_ptr<HostCall> ServiceServer::call(const std::string& method, const Json& params, const Principal& who,
                                              mcp::DoneFunction done) {
  auto caller = std::make_unique<Caller>(who, std::move(done));
  const auto reply = std::make_shared<Reply>(*std::make_shared<SilentPeer>(TransportKind::kStdio, "assistant"), "1");
  reply->on_last([this, end = caller->end(), alive = alive_.watch()](const std::optional<std::string_view>& text) {
    if (!alive.expired()) take(std::string(text.value_or("")), end);
  });
  try {
    if (!calls_.call(name() + "/" + method, params, caller->session(), *reply)) {
      throw RpcError(ErrorCode::kMethodNotFound, "method not found");
    }
  } catch (const RpcError& error) {
    reply->error(error);
  }
  return caller;
}

// The answer may come from inside call(), so `end` is always called from the loop instead.
void ServiceServer::take(std::string text, mcp::DoneFunction end) {
  if (text.size() <= kMostParsedOnLoop || !reading_.start()) {
    return asio::post(loop_, [end = std::move(end), text = std::move(text)] {
      Outcome outcome = outcome_of(text);
      end(std::move(outcome.result), outcome.error);
    });
  }
  const auto outcome = std::make_shared<Outcome>();  // one step fills it in, the other takes it
  reading_.run([outcome, text = std::move(text)] { *outcome = outcome_of(text); },
               [outcome, end = std::move(end)] { end(std::move(outcome->result), outcome->error); });
}

}  // namespace rkllm_mcp::chat
