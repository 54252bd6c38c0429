// The encoder of Opus, a codec for sound, as an MCP server on standard input and output: the bindings are generated
// from its header and opus.overlay.json, the protocol is this project's runtime library, and these are all the lines
// between.
#include "uchardet/direct_backend.hpp"

#include "api.hpp"
#include "dispatch/dispatcher.hpp"
#include "mcp/catalogue.hpp"
#include "mcp/tools/method_tools.hpp"
#include "transport/lines/stdio_transport.hpp"
#include "usual_options.hpp"

#include <rkllm_mcp/abi_sets.hpp>

#include <asio/io_context.hpp>

#include <dlfcn.h>

#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace {

int serve() {
  void* const library = ::dlopen("libopus.so.0", RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  const rkllm_mcp::AbiSet& set = *rkllm_mcp::kAbiSets[0];

  rkllm_mcp::Api api;
  api.methods = set.methods;
  api.facts = set.facts;
  api.api_version = std::string(set.version);

  rkllm_mcp::mcp::Catalogue catalogue;
  catalogue.name = "opus";
  catalogue.title = "Opus";
  catalogue.version = api.api_version;
  catalogue.instructions =
      "Encodes sound: opus_encoder_create, then opus_encode for each frame; opus_packet_parse tells what is in a "
      "packet.";

  asio::io_context loop;
  examples::DirectBackend backend(loop, set.bind([library](const char* name) { return ::dlsym(library, name); }),
                                  "encoder");
  rkllm_mcp::Dispatcher dispatcher(loop, api, catalogue, backend, rkllm_mcp::usual_dispatcher_options());
  rkllm_mcp::mcp::add_method_tools(catalogue, loop, dispatcher.caller());
  const rkllm_mcp::StdioTransport stdio(loop, {.limits = rkllm_mcp::usual_connection_limits()}, dispatcher.acceptor());
  loop.run();  // until the input has ended and everything is answered
  return 0;
}

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    return serve();
  } catch (const std::exception& error) {
    std::cerr << "opus: " << error.what() << "\n";
    return 1;
  }
}
