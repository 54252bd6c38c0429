// CPU masks: one bit per core, accompanied by their number. Runtime 1.3.0 gives a default mask on machines with 4 or 8
// cores online and leaves the field undefined on all others, so it is filled in here.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstdint>

#include <unistd.h>

namespace rkllm_mcp {

// The runtime names CPU0 to CPU7, whatever the machine has.
inline constexpr int kNamedCpus = 8;

inline long online_cpus() { return ::sysconf(_SC_NPROCESSORS_ONLN); }

// `count` cores, the last ones of those online that have a name: on the usual boards the fast cores come last.
constexpr std::uint32_t last_cpus(long count, long online) {
  const long named = std::min<long>(online, kNamedCpus);
  const long first = named > count ? named - count : 0;
  std::uint32_t mask = 0;
  for (long cpu = first; cpu < first + count && cpu < 32; ++cpu) mask |= std::uint32_t{1} << static_cast<unsigned>(cpu);
  return mask;
}

// Sets `mask` where the runtime's defaults leave it undefined, to `count` cores.
template <std::unsigned_integral Mask, std::integral Count>
void fill_undefined_cpu_mask(Mask& mask, Count count, long online = online_cpus()) {
  if (online == 4 || online == 8) return;
  mask = static_cast<Mask>(last_cpus(count, online));
}

}  // namespace rkllm_mcp
