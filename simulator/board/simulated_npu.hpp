// The NPU of the board that is simulated: its time and its memory, which all models of the process share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
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

}  // namespace rkllm_mcp::sim
