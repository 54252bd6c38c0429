// A server for the conformance suite: the runtime library over Streamable HTTP, with the fixtures that the suite wants,
// and no model. Prints "PORT n" when it can be reached; ends on SIGTERM or SIGINT.
//
//   mcp_conformance_server [PORT]
#include "fixtures.hpp"

#include "api.hpp"
#include "backend.hpp"
#include "dispatch/dispatcher.hpp"
#include "dispatch/http_sessions.hpp"
#include "dispatch/streamable_http.hpp"
#include "support/usual_limits.hpp"
#include "transport/http/http_transport.hpp"

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>

namespace rkllm_mcp::conformance {
namespace {

// There is no API to call.
class NoBackend final : public Backend {
 public:
  CallId start(CallRequest /*request*/) override { throw std::logic_error("no method can have been called"); }
  void cancel(CallId /*id*/) override {}
  void give_up(CallId /*id*/, const RpcError& /*why*/) override {}
};

std::uint16_t port_from(const char* text) {
  const int port = std::stoi(text);
  if (port < 0 || port > 65535) throw std::invalid_argument("a port is a number up to 65535");
  return static_cast<std::uint16_t>(port);
}

void serve(std::uint16_t port) {
  asio::io_context loop;
  mcp::Catalogue catalogue;
  catalogue.name = "mcp-conformance-server";
  catalogue.title = "Fixtures for the conformance suite";
  catalogue.version = "1";
  catalogue.instructions = "Not for use: every tool exists for a test.";
  const Api no_api{};
  NoBackend no_backend;
  Dispatcher dispatcher(loop, no_api, catalogue, no_backend, test::usual_limits<Dispatcher::Options>());
  add_content_tools(catalogue);
  add_timed_tools(catalogue, loop);
  add_asking_tools(catalogue);
  add_input_required_tools(catalogue);
  add_diagnostic_tools(catalogue, loop, dispatcher.mcp());
  add_task_tools(catalogue, loop);
  add_resources(catalogue);
  add_prompts(catalogue);

  HttpSessions sessions(dispatcher, std::chrono::minutes(5));
  StreamableHttp mcp(dispatcher, sessions);
  auto options = test::usual_limits<http::Options>();
  options.listen.port = port;
  options.identify = [&dispatcher](const http::Request& head) { return dispatcher.gate().principal_of(head); };
  http::Transport http(loop, options,
                       [&mcp](const http::Request& request, http::Exchange& exchange) {
                         if (request.path == "/mcp") return mcp.handle(request, exchange);
                         exchange.respond(http::plain_response(404, "There is /mcp only."));
                       },
                       {});

  asio::signal_set signals(loop, SIGTERM, SIGINT);
  signals.async_wait([&](const asio::error_code& /*error*/, int /*signal*/) {
    http.stop();
    dispatcher.mcp().end();
    http.abort_all();
    loop.stop();
  });
  std::printf("PORT %u\n", static_cast<unsigned>(http.port()));
  std::fflush(stdout);
  loop.run();
}

}  // namespace
}  // namespace rkllm_mcp::conformance

int main(int argc, char** argv) {
  try {
    rkllm_mcp::conformance::serve(argc > 1 ? rkllm_mcp::conformance::port_from(argv[1]) : 0);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mcp_conformance_server: %s\n", error.what());
    return 1;
  }
}
