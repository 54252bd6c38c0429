#include "exports/code_address.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace rkllm_mcp::sim {

bool is_code(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"), std::fclose);
  if (!maps) return false;
  // A line is "START-END rwxp ..." in hexadecimal. What can be written is data, such as an executable stack.
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), maps.get()) != nullptr) {
    unsigned long long start = 0;
    unsigned long long end = 0;
    std::array<char, 5> access{};
    if (std::sscanf(line.data(), "%llx-%llx %4s", &start, &end, access.data()) != 3) continue;
    if (start <= number && number < end) return access[2] == 'x' && access[1] != 'w';
  }
  return false;
}

}  // namespace rkllm_mcp::sim
