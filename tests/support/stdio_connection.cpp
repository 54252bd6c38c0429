#include "support/stdio_connection.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace rkllm_mcp::test {

void StdioConnection::send(std::string_view message) {
  if (!process_.write(std::string(message) + "\n")) throw client::ConnectionError("standard input has been closed");
}

std::optional<std::string> StdioConnection::receive(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<Process::Duration>(deadline - std::chrono::steady_clock::now());
  auto line = process_.read_line(std::max(left, Process::Duration(0)));
  if (!line && std::chrono::steady_clock::now() < deadline) throw client::ConnectionError("end of standard output");
  return line;
}

}  // namespace rkllm_mcp::test
