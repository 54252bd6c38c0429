// The CPUs of the board that is simulated: those of this machine, unless RKLLM_SIM_CPUS says how many there are.
#pragma once

#include <unistd.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace rkllm_mcp::sim {

inline int cpus_online() {
  const char* pretended = std::getenv("RKLLM_SIM_CPUS");
  return pretended == nullptr ? static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)) : std::max(1, std::atoi(pretended));
}

// Whether a mask names a CPU that the board does not have. Never without RKLLM_SIM_CPUS: a mask is meant for a board,
// and the developer's machine need not have its CPUs.
inline bool names_missing_cpu(std::uint32_t mask) {
  return std::getenv("RKLLM_SIM_CPUS") != nullptr && cpus_online() < 32 && mask >> cpus_online() != 0;
}

}  // namespace rkllm_mcp::sim
