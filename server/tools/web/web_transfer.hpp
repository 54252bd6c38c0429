// One GET of one address over one connection.
#pragma once

#include "text/ip_address.hpp"
#include "text/url.hpp"
#include "threads/stop_signal.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

namespace rkllm_mcp {

struct TransferOptions {
  std::string user_agent;
  std::string accept;
  std::string ca_file;
  std::chrono::milliseconds patience;
  std::size_t max_bytes;
};

struct TransferResult {
  int status = 0;
  std::string content_type;
  std::string location;
  std::string body;
  bool is_cut = false;
};

// Nothing was connected to, so that another address may be tried. The words follow the host's name.
class NoConnection : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Connects to `address` and to no other. Throws NoConnection, ToolFailure.
TransferResult transfer(const Url& url, const IpAddress& address, const TransferOptions& options, StopSignal& stop);

}  // namespace rkllm_mcp
