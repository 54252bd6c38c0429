// The address space of the NPU: about 4 GB for each IOMMU domain (base_domain_id), shared by all models of the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace rkllm_mcp::sim {

// Memory that a model occupies, until the object goes. Thread-safe.
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
