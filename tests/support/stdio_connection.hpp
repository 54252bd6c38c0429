// A child process as a connection: one message per line on its standard input and output.
#pragma once

#include "client/connection.hpp"
#include "clock.hpp"
#include "support/process.hpp"

namespace rkllm_mcp::test {

class StdioConnection final : public client::Connection {
 public:
  explicit StdioConnection(Process& process) : process_(process) {}

  void send(std::string_view message) override;
  std::optional<std::string> receive(Clock::time_point deadline) override;

 private:
  Process& process_;
};

}  // namespace rkllm_mcp::test
