#include "app/runtime_search.hpp"

#include <exception>

namespace rkllm_mcp {

LibrarySearch library_search(const Settings& settings) {
  using Simulator = LibrarySearch::Simulator;
  const RuntimeSettings& runtime = settings.runtime;
  if (runtime.library == kSimulatorLibrary) return {{}, Simulator::kAlways};
  return {runtime.library, runtime.fallback == Fallback::kSimulator ? Simulator::kAsFallback : Simulator::kNever};
}

bool finds_simulator(const Settings& settings) {
  try {
    return find_library(library_search(settings)).simulated;
  } catch (const std::exception&) {
    return settings.runtime.library == kSimulatorLibrary;
  }
}

}  // namespace rkllm_mcp
