// The whole life of a worker process: it loads the library, serves a model to whoever hands it a pair of sockets
// through its control socket, and ends when the control socket is closed. And what it is told when it is started.
#pragma once

#include "backend/file_rules.hpp"
#include "worker/process_title.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp {

// What a worker process is told when it is started, by its command line.
struct WorkerOptions {
  std::string library;           // path
  std::string version;           // that the library had when the server chose the ABI set
  std::string abi;               // the ABI set to use
  FileRules::Directories files;  // that calls may name
};

// As the command line of `rkllm-mcp work`, and back. The latter throws std::invalid_argument.
std::vector<std::string> to_arguments(const WorkerOptions& options);
WorkerOptions worker_options_from(const std::vector<std::string>& arguments);

// Its exit code. `title` gets the name of the model that is being loaded.
int run_worker(const WorkerOptions& options, ProcessTitle& title);

}  // namespace rkllm_mcp
