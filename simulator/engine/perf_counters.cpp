#include "engine/perf_counters.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace rkllm_mcp::sim {
namespace {

float milliseconds(PerfCounters::Duration time) { return std::chrono::duration<float, std::milli>(time).count(); }

// The kernel's high-water mark of the process's resident memory, in MB.
float peak_memory_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    float kilobytes = 0;
    status >> kilobytes;
    return kilobytes / 1024;
  }
  return 0;
}

}  // namespace

void PerfCounters::prefilled(std::size_t tokens, Duration time) {
  if (tokens == 1) return generated(1, time);
  prefill_tokens_ += tokens;
  prefill_time_ += time;
}

void PerfCounters::generated(std::size_t tokens, Duration time) {
  generate_tokens_ += tokens;
  generate_time_ += time;
}

Perf PerfCounters::take() {
  Perf perf;
  perf.prefill_time_ms = milliseconds(prefill_time_);
  perf.prefill_tokens = static_cast<int>(prefill_tokens_);
  perf.generate_time_ms = milliseconds(generate_time_);
  perf.generate_tokens = static_cast<int>(std::max<std::size_t>(1, generate_tokens_));
  perf.memory_usage_mb = peak_memory_mb();
  *this = PerfCounters();
  return perf;
}

}  // namespace rkllm_mcp::sim
