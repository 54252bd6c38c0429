// What a worker process is told when it is started, by its command line.
#pragma once

#include "backend/file_rules.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp {

struct WorkerOptions {
  std::string library;  // path
  std::string version;  // that the library had when the server chose the ABI set
  std::string abi;      // the ABI set to use
  FileRules::Directories files;  // that calls may name
};

// As the command line of `rkllm-mcp work`, and back. The latter throws std::invalid_argument.
std::vector<std::string> to_arguments(const WorkerOptions& options);
WorkerOptions worker_options_from(const std::vector<std::string>& arguments);

}  // namespace rkllm_mcp
