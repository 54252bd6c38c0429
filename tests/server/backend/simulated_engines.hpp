// The simulator, as engines take it: as a library in this process, and by the command of a worker process.
#pragma once

#include "library/library_file.hpp"
#include "library/loaded_library.hpp"
#include "settings_defaults.h"
#include "support/loop_thread.hpp"
#include "support/paths.hpp"
#include "worker/worker_engine.hpp"
#include "worker/worker_main.hpp"

#include <chrono>

namespace rkllm_mcp::test {

inline const LoadedLibrary& simulator() {
  static const LoadedLibrary library(inspect_library(kSimulator), *choose_abi_set("1.3.0", "").set);
  return library;
}

inline WorkerEngine::Options worker_options() {
  static LoopThread reading;
  return {.loop = reading.loop(),
          .command = {kProgram, to_arguments({kSimulator, "1.3.0", "1.3.0", {}})},
          .hang = std::chrono::seconds(defaults::kRuntimeHangS)};
}

}  // namespace rkllm_mcp::test
