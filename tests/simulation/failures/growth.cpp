#include "growth.hpp"

#include "failure.hpp"
#include "simulation/world/sim_heap.hpp"

#include "faults.hpp"

#include <algorithm>

namespace rkllm_mcp::simulation {
namespace {

constexpr int kTimesToGrow = 20;
// So many are looked at, for a minute or so: it is a rare leak that shows in none of them.
constexpr std::uint64_t kMostSeeds = 20'000;

// How much more stays allocated for each time that the seed is run; 0 if it does not always become more.
std::size_t stays_of(std::uint64_t seed) {
  run_seed(seed);
  const std::size_t before = allocated_bytes();
  for (int i = 0; i < kTimesToGrow; ++i) {
    const std::size_t now = allocated_bytes();
    run_seed(seed);
    if (allocated_bytes() <= now) return 0;
  }
  return (allocated_bytes() - before) / kTimesToGrow;
}

}  // namespace

void Growth::done() {
  if (++schedules_ == kFirstSchedules) allocated_ = allocated_bytes();
}

std::string Growth::report() const {
  const std::size_t now = allocated_bytes();
  if (schedules_ <= kFirstSchedules || now <= allocated_ + kMayStay) return {};
  const std::string fault(present_fault);
  std::string text = which_commit() + "seeds: " + std::to_string(first_seed_) + " to " +
                     std::to_string(first_seed_ + schedules_ - 1) + "\nviolation: " + std::to_string(now - allocated_) +
                     " bytes stay allocated that nobody can need\n\n";
  std::uint64_t seed = first_seed_;
  std::size_t stays = 0;
  const std::uint64_t end = first_seed_ + std::min(schedules_, kMostSeeds);
  for (; seed < end && stays == 0; ++seed) stays = stays_of(seed);
  if (stays == 0) {
    text += "No seed up to " + std::to_string(end - 1) + " leaves more each time that it is run.\n";
  } else {
    --seed;
    text += "The first that leaves more each time that it is run: seed " + std::to_string(seed) + ", some " +
            std::to_string(stays) + " bytes.\nIts last steps:\n";
    for (const std::string& line : run_seed(seed).story) text += "  " + line + "\n";
  }
  return text + "\nTo see it again: " + program() + (fault.empty() ? "" : " --put-back \"" + fault + "\"") +
         " --seed " + std::to_string(first_seed_) + " --schedules " + std::to_string(schedules_) + "\n";
}

}  // namespace rkllm_mcp::simulation
