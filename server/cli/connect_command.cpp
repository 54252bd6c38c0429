#include "cli/run_command.hpp"

#include "cli/bridge.hpp"
#include "cli/target.hpp"
#include "client/endpoint.hpp"
#include "log_output.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace rkllm_mcp {
namespace {

// With what the bridge waits for the last answers less than a second.
constexpr std::chrono::milliseconds kLongestLeave{300};

// To take leave of the server may need the network; the host does not wait for that.
int leave(std::unique_ptr<Bridge> bridge, int exit_code) {
  std::promise<void> left;
  auto has_left = left.get_future();
  std::thread([bridge = std::move(bridge), left = std::move(left)]() mutable {
    bridge.reset();
    left.set_value();
  }).detach();
  if (has_left.wait_for(kLongestLeave) != std::future_status::ready) std::_Exit(exit_code);
  return exit_code;
}

}  // namespace

int run_connect(const ConnectOptions& options) {
  client::Endpoint endpoint;
  try {
    endpoint = target_of(options.url, Settings{}, client::Protocol::kTcp, "/mcp");
  } catch (const std::invalid_argument& error) {
    say_on_standard_error(std::string("rkllm-mcp: ") + error.what());
    return kExitUsage;
  }
  endpoint.token = options.token;
  endpoint.ca_file = options.ca_file;
  std::signal(SIGPIPE, SIG_IGN);
  auto bridge = std::make_unique<Bridge>(std::move(endpoint));
  const int exit_code = bridge->run();
  return leave(std::move(bridge), exit_code);
}

}  // namespace rkllm_mcp
