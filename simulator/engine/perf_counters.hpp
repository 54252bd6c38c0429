// The counters behind RKLLMPerfStat. They run on until a run ends with RKLLM_RUN_FINISH or is paused: what was computed
// by a run that failed shows up in the figures of the next one.
#pragma once

#include "engine/client.hpp"

#include <chrono>
#include <cstddef>

namespace rkllm_mcp::sim {

// Not thread-safe: belongs to whoever runs on the handle.
class PerfCounters {
 public:
  using Duration = std::chrono::steady_clock::duration;

  // A prompt was computed. A single token goes through the same step as a generated one, and is counted as one.
  void prefilled(std::size_t tokens, Duration time);
  void generated(std::size_t tokens, Duration time);

  // The figures since the last call, and the most memory the process has used.
  Perf take();

 private:
  std::size_t prefill_tokens_ = 0;
  std::size_t generate_tokens_ = 0;
  Duration prefill_time_{};
  Duration generate_time_{};
};

}  // namespace rkllm_mcp::sim
