// Memory that stays allocated from schedule to schedule, though nobody can need it: noticed over many of them, and then
// looked for in each.
#pragma once

#include "simulation/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace rkllm_mcp::simulation {

class Growth {
 public:
  explicit Growth(std::uint64_t first_seed) : first_seed_(first_seed) {}

  // Called after each schedule, from the first seed on.
  void done();
  // For people: how much stays, of which seeds, the first seed that leaves some each time it is run, with its last
  // steps, and how to see it again. Empty: nothing stays.
  std::string report() const;

 private:
  const std::uint64_t first_seed_;
  std::uint64_t schedules_ = 0;
  std::size_t allocated_ = 0;  // bytes, after kFirstSchedules schedules: what is made once has been made
};

}  // namespace rkllm_mcp::simulation
