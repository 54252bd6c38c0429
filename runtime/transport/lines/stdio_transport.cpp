#include "transport/lines/stdio_transport.hpp"

#include "transport/bytes/descriptor_stream.hpp"
#include "transport/lines/line_connection.hpp"

#include <memory>
#include <utility>

namespace rkllm_mcp {

StdioTransport::StdioTransport(asio::io_context& io, const StdioOptions& options, const AcceptFunction& accept) {
  auto stream = std::make_unique<DescriptorStream>(io, options.input, options.output);
  const auto channel = std::make_shared<Channel>(io, std::move(stream), options.limits);
  channels_.add(*channel);
  LineConnection::start(*channel, {.transport = TransportKind::kStdio, .address = "stdio"}, options.limits, accept);
}

}  // namespace rkllm_mcp
