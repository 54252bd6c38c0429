// A connection to an MCP server that is started for it: the protocol on its standard input and output. The process ends
// with the connection, and with this program, however that ends.
//
// Threads: as Connection. One of its own hands on what the server says on standard error.
#pragma once

#include "client/connection.hpp"
#include "client/sockets/tcp_connection.hpp"
#include "clock.hpp"
#include "process/descriptor.hpp"
#include "process/process_output.hpp"

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rkllm_mcp {

struct ServerCommand {
  std::string program;  // looked for in PATH if it has no slash
  std::vector<std::string> arguments{};
  std::map<std::string, std::string> environment{};  // beside this program's own, but for RKLLM_MCP_...

  std::string text() const;  // for people
};

class CommandConnection final : public client::Connection {
 public:
  // Starts it. `line` is called with each line of its standard error until interrupt() is called, on this connection's
  // thread, or in receive() when the process has ended. Throws ConnectionError. The thread that calls must outlive the
  // connection: the kernel kills the process when that thread ends.
  CommandConnection(const ServerCommand& command, ProcessOutput::LineFunction line);
  // Closes its input; kills it, with what it has started, if that does not end it.
  ~CommandConnection() override;

  void send(std::string_view message) override;
  std::optional<std::string> receive(Clock::time_point deadline) override;
  void interrupt() override;

 private:
  CommandConnection(const ServerCommand& command, ProcessOutput::LineFunction line, DescriptorPair ends,
                    DescriptorPair errors);
  std::thread start_reader();
  void end_group() const;
  void pass_on(std::string_view line);
  void read_errors();
  bool await_end(std::chrono::milliseconds patience) const;  // whether it has ended
  std::optional<siginfo_t> ending() const;                   // nothing: it runs
  std::string how_it_ended();

  const std::string program_;
  const ProcessOutput::LineFunction line_;
  std::mutex mutex_;  // guards the next two; held while a line is handed on
  bool interrupted_ = false;
  std::string last_line_;
  client::TcpConnection connection_;
  ProcessOutput errors_;
  const pid_t id_;
  std::atomic<bool> closing_ = false;
  std::thread reader_;  // last: it uses all of the above
};

}  // namespace rkllm_mcp
