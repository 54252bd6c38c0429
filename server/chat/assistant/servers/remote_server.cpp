#include "chat/assistant/servers/remote_server.hpp"

#include "auth/owner.hpp"
#include "chat/assistant/servers/service_server.hpp"
#include "client/http/http_error.hpp"
#include "jsonrpc/envelope.hpp"
#include "threads/stop_signal.hpp"
#include "verified_client.hpp"

#include <rkllm_mcp/errors.hpp>

#include <httplib.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp::chat {
namespace {

constexpr std::size_t kMostResultBytes = std::size_t{16} << 20U;

std::exception_ptr remote_failure(const Url& url, const std::string& why) {
  return std::make_exception_ptr(RpcError(ErrorCode::kInternalError, url.authority() + ": " + why));
}

}  // namespace

// One call, from its request to its end. Destroying it gives the call up.
class RemoteServers::RemoteCall final : public HostCall {
 public:
  // What the thread that makes it needs.
  struct Call {
    Url url{};
    std::string body{};
    StopSignal stop{};
  };

  RemoteCall(FairThreads& threads, mcp::DoneFunction done) : HostCall(std::move(done)), threads_(threads) {}
  ~RemoteCall() override {
    call_->stop.stop();
    if (ticket_) threads_.withdraw(*ticket_);
  }

  // False: too many wait, of all or of this owner.
  bool begin(const std::string& owner, const WayToLoop& loop, const Options& options) {
    ticket_ = threads_.submit(owner, [call = call_, loop, options, end = end()] {
      if (call->stop.is_stopped()) return;           // whoever asked has gone while it waited
      const auto made = std::make_shared<Result>();  // one step fills it in, the other takes it
      try {
        *made = result_from(*call, options);
      } catch (...) {
        made->error = std::current_exception();
      }
      loop.post([end, made] { end(std::move(made->result), made->error); });
    });
    return ticket_.has_value();
  }
  Call& call() { return *call_; }

 private:
  struct Result {
    Json result{};
    std::exception_ptr error{};
  };
  static Result result_from(Call& call, const Options& options);

  FairThreads& threads_;
  std::optional<FairThreads::Ticket> ticket_{};
  const std::shared_ptr<Call> call_ = std::make_shared<Call>();  // with the thread
};

// On the thread.
RemoteServers::RemoteCall::Result RemoteServers::RemoteCall::result_from(Call& call, const Options& options) {
  const auto client = new_verified_client(call.url, options.ca_file);
  client->set_connection_timeout(options.to_connect);
  client->set_read_timeout(options.patience);
  client->set_write_timeout(options.to_connect);
  client->set_tcp_nodelay(true);
  client->set_socket_options([&call](auto socket) { call.stop.watch(static_cast<int>(socket)); });
  httplib::Request request;
  request.method = "POST";
  request.path = call.url.target;
  request.body = call.body;
  request.headers = {
      {"Host", call.url.authority()}, {"Content-Type", "application/json"}, {"User-Agent", options.user_agent}};
  std::string text;
  request.content_receiver = [&](const char* bytes, std::size_t count, std::uint64_t, std::uint64_t) {
    if (call.stop.is_stopped() || text.size() + count > kMostResultBytes) return false;
    text.append(bytes, count);
    return true;
  };
  httplib::Response response;
  auto error = httplib::Error::Success;
  if (!client->send(request, response, error)) {
    if (client::is_certificate_refused(error))
      return {nullptr, remote_failure(call.url, "its certificate cannot be verified")};
    if (client::is_not_connected(error)) return {nullptr, remote_failure(call.url, "no connection could be made")};
    return {nullptr,
            remote_failure(call.url, "it does not answer, has broken off, or its answer is longer than 16 MiB")};
  }
  try {
    return {result_of_answer(text), nullptr};
  } catch (const RpcError& refused) {
    constexpr int kWell = 200;
    if (response.status == kWell || refused.code() != ErrorCode::kInternalError)
      return {nullptr, std::current_exception()};
    return {nullptr, remote_failure(call.url, "status " + std::to_string(response.status))};
  }
}

class RemoteServers::Server final : public HostedServer {
 public:
  Server(RemoteServers& servers, std::string name, Url url)
      : servers_(servers), name_(std::move(name)), url_(std::move(url)) {}

  const std::string& name() const override { return name_; }
  std::unique_ptr<HostCall> call(const std::string& method, const Json& params, const Principal& who,
                                 mcp::DoneFunction done) override {
    auto running = std::make_unique<RemoteCall>(servers_.threads_, std::move(done));
    running->call().url = url_;
    running->call().body =
        to_text(Json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", name_ + "/" + method}, {"params", params}});
    if (!running->begin(owner_of(who.name, name_), servers_.way_to_loop_, servers_.options_)) {
      const RpcError full(ErrorCode::kInternalError, "too many calls of other servers are waited for");
      servers_.way_to_loop_.post(
          [end = running->end(), error = std::make_exception_ptr(full)] { end(nullptr, error); });
    }
    return running;
  }

 private:
  RemoteServers& servers_;
  const std::string name_;
  const Url url_;
};

RemoteServers::RemoteServers(asio::io_context& loop, Options options)
    : options_(std::move(options)),
      way_to_loop_(loop),
      threads_(FairThreads::shared_by_owners(options_.threads, options_.most_waiting)) {}

RemoteServers::~RemoteServers() { way_to_loop_.close(); }

std::unique_ptr<HostedServer> RemoteServers::server(std::string name, std::string_view address) {
  Url url = parse_url(address);
  while (url.target.ends_with('/')) url.target.pop_back();
  url.target += "/jsonrpc";
  return std::make_unique<Server>(*this, std::move(name), std::move(url));
}

}  // namespace rkllm_mcp::chat
