// Every transport that the settings switch on, opened together and closed together. Event loop only.
#pragma once

#include "service/handed_sockets.hpp"
#include "settings/settings.hpp"
#include "transport/bytes/tls_identity.hpp"
#include "transport/http/http_transport.hpp"
#include "transport/lines/stdio_transport.hpp"
#include "transport/lines/tcp_transport.hpp"
#include "transport/lines/unix_transport.hpp"
#include "transport/udp/udp_transport.hpp"
#include "transport/websocket/websocket_transport.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <memory>
#include <optional>

namespace rkllm_mcp {

struct Stdio {
  int input;
  int output;
  AcceptFunction accept;
};

class Transports {
 public:
  // What the settings do not say, and the transports need of the rest of the server.
  struct Context {
    HandedSockets handed{};  // to serve on, in place of the addresses of the settings
    Counts* counts = nullptr;
    MemoryBudget memory{};  // that input and output count in
    // Longest message of a client that has not presented a token.
    std::size_t stranger_message_bytes = static_cast<std::size_t>(-1);
    http::Identify identify{};               // tells who has sent a request
    http::Identify identify_for_services{};  // whose a request on the services' port is; needed if that is on
    http::GuessHandler refuse_guess{};
    http::RefusalHandler refused{};  // words for what is refused on the HTTP port; null, or nothing: those of JSON-RPC
    // What web pages of loopback origins may read there.
    std::function<bool(const http::Request& request)> local_pages_read{};
    http::Handler services{};  // of the services' own port; needed if that is switched on
  };

  // Opens all. Throws std::runtime_error that names the transport, the address and the setting of the first that cannot
  // be opened, or the file that makes TLS impossible; nothing is left open then.
  Transports(asio::io_context& loop, const Settings& settings, const Context& context, const AcceptFunction& accept,
             http::Handler http, const std::optional<Stdio>& stdio);

  // {"tcp":{"address","port","connections"},...}: what is open, with the addresses and ports really used.
  Json status() const;
  void stop();       // accepts no connection any more
  void close_all();  // after what is queued has been written
  void abort_all();  // at once; the functions of when_closed() run in the next pass of the loop
  std::size_t connections() const;
  // Reads certificate and key again, for connections to come. Throws std::runtime_error, and goes on with the old ones
  // then. False if no transport uses TLS.
  bool renew_certificate();

 private:
  const Settings& settings_;
  const HandedSockets handed_;
  const std::unique_ptr<TlsIdentity> tls_;  // null if no transport uses it
  std::optional<TcpTransport> tcp_;
  std::optional<UnixTransport> unix_;
  std::optional<UdpTransport> udp_;
  std::optional<http::Transport> http_;
  std::optional<http::Transport> services_;
  std::optional<websocket::Transport> ws_;
  std::optional<StdioTransport> stdio_;
};

}  // namespace rkllm_mcp
