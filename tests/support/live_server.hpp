// The real program, serving on free ports of this machine with the simulator as its runtime, which writes down what
// each run generated. Ends with the test's scope. Threads: start and stop from one; connect() and the record from any.
#pragma once

#include "client/connection.hpp"
#include "client/endpoint.hpp"
#include "support/process.hpp"
#include "support/transport.hpp"

#include <rkllm_mcp/json.hpp>

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::test {

using client::Connection;

// The path of a model of simulator/models, e.g. "fast".
std::string shipped_model(std::string_view name);

// The versions of the runtime that there is a simulator of, oldest first.
inline constexpr std::array<const char*, 5> kRuntimeVersions{"1.1.4", "1.2.0", "1.2.1b1", "1.2.3", "1.3.0"};
// The library that simulates one of them.
std::string simulator_of(const std::string& version);

// A prompt that the simulated models answer for longer than any test takes.
inline const std::string kEndless = "@n=100000000 @seed=1";

// What the simulator says that it delivered in one run.
struct RecordedRun {
  std::uint64_t handle;  // the n-th rkllm_init of the server
  std::string prompt;
  std::uint64_t tokens;
  bool aborted;
  int status;
  std::string ending;
  std::string text;
  std::uint64_t prefilled = 0;  // tokens of the prompt that were computed
  std::uint64_t reused = 0;     // and those that were there already
};

class LiveServer {
 public:
  struct Options {
    std::vector<std::string> set{};  // settings, e.g. "limits.stall_s=1"
    std::vector<std::string> runtime{"--simulator"};
    std::vector<std::pair<std::string, std::string>> env{};
    bool with_stdio = false;
    std::vector<std::string> launcher{};  // a command that starts the one that follows it
  };

  static Options with_stdio() { return {.with_stdio = true}; }

  // Returns when the server listens. Throws std::runtime_error with its log if it does not.
  LiveServer() : LiveServer(Options()) {}
  explicit LiveServer(const Options& options);

  std::uint16_t port(Transport transport) const;
  client::Endpoint endpoint(Transport transport, std::string path = {}) const;
  // A new connection; to kStdio there is only one, which the server must have been started with.
  std::unique_ptr<Connection> connect(Transport transport);

  Process& process() { return *process_; }
  Json health() const;  // of GET /health
  // Until /health says that the runtime is so ("ready"); throws std::runtime_error if it does not.
  void await_runtime(std::string_view state) const;
  std::vector<RecordedRun> recorded_runs() const;
  std::size_t peak_resident_bytes() const;

  // A place for files, gone with the server.
  const TemporaryDirectory& directory() const { return directory_; }
  // Writes a simulated model with these fields beside the necessary ones; gives its path.
  std::string write_model(std::string_view name, Json fields) const;
  // One that takes its time: so many tokens a second, after a prompt that is computed at once.
  std::string paced_model(double tokens_per_s) const;

 private:
  void await_ports(const std::string& file);

  TemporaryDirectory directory_;
  Json ports_;
  std::unique_ptr<Process> process_;
};

}  // namespace rkllm_mcp::test
