// The processors of the board that is simulated: its NPU, whose time and memory all models of the process share, and
// its CPUs.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>

namespace rkllm_mcp::sim {

// The time that the NPU takes. It computes one thing at a time, whichever handle asks for it, so models that have a
// pace share it.
class NpuClock {
 public:
  using Clock = std::chrono::steady_clock;

  // Books the NPU for `seconds`, from `earliest` or, if it is taken then, from when it is free. Returns the end. Any
  // thread.
  static Clock::time_point book(Clock::time_point earliest, double seconds);

  // Gives back what is left of a booking that ends at `end`, if none has come behind it. Any thread.
  static void give_back(Clock::time_point end);
};

// Memory that a model occupies, until the object goes, in the address space of the NPU: about 4 GB for each IOMMU
// domain (base_domain_id), shared by all models of the process. Thread-safe.
class NpuMemory {
 public:
  // Absent if the domain has no room for it.
  static std::optional<NpuMemory> reserve(std::int32_t domain, std::size_t megabytes);

  NpuMemory() = default;
  NpuMemory(NpuMemory&& other) noexcept;
  NpuMemory& operator=(NpuMemory&&) = delete;
  ~NpuMemory();

 private:
  NpuMemory(std::int32_t domain, std::size_t megabytes) : domain_(domain), megabytes_(megabytes) {}

  std::int32_t domain_ = 0;
  std::size_t megabytes_ = 0;
};

// The CPUs of the board that is simulated: those of this machine, unless RKLLM_SIM_CPUS says how many there are.
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
