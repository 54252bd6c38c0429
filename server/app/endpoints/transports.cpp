#include "app/endpoints/transports.hpp"

#include "dispatch/dispatcher.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace rkllm_mcp {
namespace {

ConnectionLimits connection_limits(const LimitSettings& limits) {
  ConnectionLimits result;
  result.max_message_bytes = limits.max_message_bytes;
  result.send_queue_bytes = limits.send_queue_bytes;
  result.stall = limits.stall_s;
  result.idle = limits.idle_s;
  result.message = limits.message_timeout_s;
  result.max_connections = limits.max_connections;
  result.max_connections_per_peer = limits.max_connections_per_peer;
  return result;
}

http::OriginOptions origins(const HttpSettings& http) {
  return {http.allowed_origins, http.allowed_hosts, {}, "http.allowed_origins", "http.allowed_hosts"};
}

http::RefusalHandler oversized_refusal(std::size_t limit) {
  return [limit](const http::Request& /*request*/, const http::Refusal& refusal) -> std::optional<http::Response> {
    if (refusal.status != 413) return std::nullopt;
    return http::Response{413, {}, "application/json", Dispatcher::oversized_message({refusal.body_bytes, limit})};
  };
}

// `first` may be null.
http::RefusalHandler first_of(http::RefusalHandler first, http::RefusalHandler otherwise) {
  if (!first) return otherwise;
  return [first = std::move(first), otherwise = std::move(otherwise)](const http::Request& request,
                                                                      const http::Refusal& refusal) {
    auto response = first(request, refusal);
    return response ? response : otherwise(request, refusal);
  };
}

http::Timeouts timeouts(const HttpSettings& http) {
  http::Timeouts result;
  result.header = http.header_timeout_s;
  result.body = http.body_timeout_s;
  result.keep_alive = http.keep_alive_s;
  return result;
}

TlsFiles tls_files(const Settings& settings) { return {settings.tls.certificate, settings.tls.key}; }

std::unique_ptr<TlsIdentity> tls_identity(const Settings& settings) {
  const bool is_used = (settings.tcp.enabled && settings.tcp.tls) ||
                       ((settings.http.enabled || settings.services.enabled) && settings.http.tls) ||
                       (settings.ws.enabled && settings.ws.tls);
  if (!is_used) return nullptr;
  try {
    return std::make_unique<TlsIdentity>(tls_files(settings));
  } catch (const std::runtime_error& error) {
    throw std::runtime_error("TLS is not possible: " + std::string(error.what()));
  }
}

// Where a transport listens: on the socket that was handed over for it, else where its settings say.
template <class TransportSettings>
ListenAddress place_of(const std::optional<HandedSocket>& handed, const TransportSettings& settings) {
  if (handed) return {handed->address, handed->port, handed->descriptor};
  return {settings.address, settings.port};
}

// Opens one transport; a failure then names the setting that decides.
template <class Open>
void open(Open open) {
  try {
    open();
  } catch (const ListenError& error) {
    throw std::runtime_error(std::string(error.what()) + "; choose another with " + error.transport() +
                             ".port (0 = any free one) or " + error.transport() + ".address, or switch it off with " +
                             error.transport() + ".enabled=false");
  }
}

// Opens the services' port; its error names the settings, which have another name than the transport.
template <class Open>
void open_services(Open open) {
  try {
    open();
  } catch (const ListenError& error) {
    throw std::runtime_error("services: " + std::string(error.what()) +
                             "; choose another with services.port (0 = any free one) or services.address, or switch it "
                             "off with services.enabled=false");
  }
}

}  // namespace

Transports::Transports(asio::io_context& loop, const Settings& settings, const Context& context,
                       const AcceptFunction& accept, http::Handler http, const std::optional<Stdio>& stdio)
    : settings_(settings), handed_(context.handed), tls_(tls_identity(settings)) {
  const auto tls_if = [this](bool wanted) { return wanted ? tls_.get() : nullptr; };
  ConnectionLimits limits = connection_limits(settings.limits);
  limits.counts = context.counts;
  limits.memory = context.memory;
  ConnectionLimits of_stdio = limits;  // the program's own user needs no token, and may be a person who types
  of_stdio.message = {};
  limits.stranger_message_bytes = context.stranger_message_bytes;
  const RefusalFunction refusal = [limits](Limit limit) {
    const bool of_peer = limit == Limit::kConnectionsPerPeer;
    return Dispatcher::refused_connection_message(limit,
                                                  of_peer ? limits.max_connections_per_peer : limits.max_connections) +
           "\n";
  };
  if (settings.tcp.enabled) {
    open([&] {
      tcp_.emplace(loop, TcpOptions{place_of(handed_.tcp, settings.tcp), limits, tls_if(settings.tcp.tls), refusal},
                   accept);
    });
  }
  const auto mode = static_cast<mode_t>(std::stoul(settings.unix_socket.mode, nullptr, 8));
  if (const auto& given = handed_.unix_socket) {
    unix_.emplace(loop, UnixOptions{given->address, mode, limits, given->descriptor, refusal}, accept);
  } else if (!settings.unix_socket.path.empty()) {
    unix_.emplace(loop, UnixOptions{settings.unix_socket.path, mode, limits, -1, refusal}, accept);
  }
  if (settings.udp.enabled) {
    UdpOptions options;
    options.listen = place_of(handed_.udp, settings.udp);
    options.max_message_bytes = std::min(kMaxDatagramBytes, limits.max_message_bytes);
    options.send_queue_bytes = limits.send_queue_bytes;
    options.chunk_bytes = settings.udp.chunk_bytes;
    options.max_peers = limits.max_connections;
    options.max_peers_per_address = limits.max_connections_per_peer;
    options.counts = limits.counts;
    options.loopback_is_proof = settings.auth.tokens.empty();
    options.idle = settings.udp.idle_s;
    open([&] { udp_.emplace(loop, options, accept); });
  }
  websocket::Limits websocket;
  websocket.ping_interval = settings.ws.ping_s;
  if (settings.http.enabled || settings.services.enabled) {
    http::Options options;
    options.limits = limits;
    options.timeouts = timeouts(settings.http);
    options.origins = origins(settings.http);
    options.websocket = websocket;
    options.header_bytes = settings.http.header_bytes;
    options.identify = context.identify;
    options.refuse_guess = context.refuse_guess;
    options.tls = tls_if(settings.http.tls);
    options.refused = oversized_refusal(limits.max_message_bytes);
    if (settings.http.enabled) {
      http::Options own = options;
      own.listen = place_of(handed_.http, settings.http);
      own.origins.local_pages_read = context.local_pages_read;
      own.refused = first_of(context.refused, options.refused);
      open([&] { http_.emplace(loop, own, std::move(http), settings.ws.enabled ? accept : AcceptFunction()); });
    }
    if (settings.services.enabled) {
      options.listen = {settings.services.address, settings.services.port};
      options.identify = context.identify_for_services;
      open_services([&] { services_.emplace(loop, options, context.services, AcceptFunction()); });
    }
  }
  if (settings.ws.enabled) {
    const websocket::Options options{place_of(handed_.ws, settings.ws),
                                     limits,
                                     timeouts(settings.http),
                                     origins(settings.http),
                                     websocket,
                                     settings.http.header_bytes,
                                     tls_if(settings.ws.tls)};
    open([&] { ws_.emplace(loop, options, accept); });
  }
  if (stdio) stdio_.emplace(loop, StdioOptions{stdio->input, stdio->output, of_stdio}, stdio->accept);
}

Json Transports::status() const {
  Json status = Json::object();
  const auto add = [&status](const char* name, const std::string& address, const auto& transport) {
    status[name] =
        Json{{"address", address}, {"port", transport.port()}, {"connections", transport.connection_count()}};
  };
  if (stdio_) status["stdio"] = Json{{"connections", stdio_->connection_count()}};
  if (tcp_) add("tcp", place_of(handed_.tcp, settings_.tcp).address, *tcp_);
  if (tcp_) status["tcp"]["tls"] = settings_.tcp.tls;
  if (unix_) status["unix"] = Json{{"path", unix_->path()}, {"connections", unix_->connection_count()}};
  if (udp_) add("udp", place_of(handed_.udp, settings_.udp).address, *udp_);
  if (http_) add("http", place_of(handed_.http, settings_.http).address, *http_);
  if (http_) status["http"]["tls"] = settings_.http.tls;
  if (services_) add("services", settings_.services.address, *services_);
  if (services_) status["services"]["tls"] = settings_.http.tls;
  if (ws_) add("ws", place_of(handed_.ws, settings_.ws).address, *ws_);
  if (ws_) status["ws"]["tls"] = settings_.ws.tls;
  return status;
}

std::size_t Transports::connections() const {
  return (tcp_ ? tcp_->connection_count() : 0) + (unix_ ? unix_->connection_count() : 0) +
         (udp_ ? udp_->connection_count() : 0) + (http_ ? http_->connection_count() : 0) +
         (services_ ? services_->connection_count() : 0) + (ws_ ? ws_->connection_count() : 0) +
         (stdio_ ? stdio_->connection_count() : 0);
}

bool Transports::renew_certificate() {
  if (tls_) tls_->replace(tls_files(settings_));
  return tls_ != nullptr;
}

void Transports::stop() {
  if (tcp_) tcp_->stop();
  if (unix_) unix_->stop();
  if (udp_) udp_->stop();
  if (http_) http_->stop();
  if (services_) services_->stop();
  if (ws_) ws_->stop();
}

void Transports::abort_all() {
  if (tcp_) tcp_->abort_all();
  if (unix_) unix_->abort_all();
  if (udp_) udp_->abort_all();
  if (http_) http_->abort_all();
  if (services_) services_->abort_all();
  if (ws_) ws_->abort_all();
  if (stdio_) stdio_->abort_all();
}

void Transports::close_all() {
  if (tcp_) tcp_->close_all();
  if (unix_) unix_->close_all();
  if (udp_) udp_->close_all();
  if (http_) http_->close_all();
  if (services_) services_->close_all();
  if (ws_) ws_->close_all();
  if (stdio_) stdio_->close_all();
}

}  // namespace rkllm_mcp
