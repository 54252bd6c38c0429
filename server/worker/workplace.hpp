// What a worker process is told when it is started, and what it then does: serves the library to whoever hands it
// connections through its door, until the door is closed.
#pragma once

#include "backend/file_rules.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace rkllm_mcp {

struct Workplace {
  std::string library;  // path
  std::string version;  // that the library had when the server chose the ABI set
  std::string abi;      // the ABI set to use
  FileRules::Directories files;  // that calls may name
  std::size_t message_bytes = 0;  // longest that the server takes from its clients
  std::size_t depth = 0;          // deepest nesting, likewise
  std::size_t values_bytes = 0;   // hidden states or logits of one run
};

// As the command line of `rkllm-mcp work`, and back. The latter throws std::invalid_argument.
std::vector<std::string> to_arguments(const Workplace& workplace);
Workplace from_arguments(const std::vector<std::string>& arguments);

// The whole life of a worker process; its exit code.
int work_at(const Workplace& workplace);

}  // namespace rkllm_mcp
