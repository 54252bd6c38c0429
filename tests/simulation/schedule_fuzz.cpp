// libFuzzer chooses what happens: each byte is a choice, and what reaches new code is kept. So it finds schedules that
// no seed would come upon. A find is told like a seed's, and its choices can be run again by simulate.
#include "schedule.hpp"
#include "simulation/failures/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>

using namespace rkllm_mcp::simulation;

namespace {

constexpr std::size_t kTriesOfFuzzer = 500;  // to shrink: each takes long here

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Outcome outcome = run_schedule(Choices(Choices::Made(data, data + size)));
  if (outcome.violation.empty()) return 0;
  std::fprintf(stderr, "%s", report(std::nullopt, outcome, {}, kTriesOfFuzzer).c_str());
  std::abort();
}
