#include "app/runtime_search.hpp"

namespace rkllm_mcp {

LibrarySearch library_search(const Settings& settings) {
  using Simulator = LibrarySearch::Simulator;
  const RuntimeSettings& runtime = settings.runtime;
  if (runtime.library == kSimulatorLibrary) return {{}, Simulator::kAlways};
  return {runtime.library, runtime.fallback == Fallback::kSimulator ? Simulator::kAsFallback : Simulator::kNever};
}

}  // namespace rkllm_mcp
