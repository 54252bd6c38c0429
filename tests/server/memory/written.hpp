// Clients that write while something is killed, and what has to be there afterwards.
#pragma once

#include "server/memory/memory_server.hpp"

#include <atomic>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace rkllm_mcp::test {

// What one client has asked to be written into a conversation of its own. Each content occurs once.
struct Written {
  std::string conversation;
  std::vector<std::string> asked{};
  std::set<std::string> acknowledged{};
};

// Writes until `stop`, or until the server goes; several requests are on their way at any time. What is acknowledged is
// counted in `count` as well. Contents begin with `prefix`.
void write_on(LiveServer& server, Written& written, const std::string& prefix, std::atomic<std::size_t>& count,
              const std::atomic<bool>& stop);

// What is wrong with a conversation's contents: it has to have all that was acknowledged, in the order in which it was
// asked for, and nothing twice. Empty: nothing is.
std::string fault_of(const std::vector<std::string>& found, const Written& written);

}  // namespace rkllm_mcp::test
