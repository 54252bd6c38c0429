// The whole life of a worker process: it loads the library, serves a model to whoever hands it a pair of sockets
// through its control socket, and ends when the control socket is closed.
#pragma once

#include "worker/process_title.hpp"
#include "worker/worker_options.hpp"

namespace rkllm_mcp {

// Its exit code. `title` gets the name of the model that is being loaded.
int run_worker(const WorkerOptions& options, ProcessTitle& title);

}  // namespace rkllm_mcp
