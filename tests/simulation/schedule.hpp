// One schedule: a server, a few clients, a few hundred steps; then the faults stop, everybody gets what it is owed or
// leaves, all time-outs pass, and nothing may be left.
#pragma once

#include "choices.hpp"
#include "violation.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

struct Outcome {
  std::string violation;           // empty: none
  Place place;                     // of who has complained; of a fault that has reached the loop there is none
  std::vector<std::string> story;  // the last steps before it
  std::uint64_t trace_hash = 0;
  Choices::Made choices;
};

Outcome run_schedule(Choices choices);
// That of a seed; each fiftieth twice, since it has to be the same.
Outcome run_seed(std::uint64_t seed);

// The same violation with fewer and more harmless choices, as far as `tries` schedules find them.
Outcome shrink(const Outcome& failed, std::size_t tries);

}  // namespace rkllm_mcp::simulation
