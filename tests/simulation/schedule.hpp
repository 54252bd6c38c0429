// One schedule: a server, a few clients, a few hundred steps; then the faults stop, everybody gets what it is owed or
// leaves, all time-outs pass, and nothing may be left.
#pragma once

#include "simulation/world/choices.hpp"
#include "simulation/world/violation.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace rkllm_mcp::simulation {

struct Outcome {
  std::string violation;           // empty: none
  Place place;                     // the line that has complained; none if an exception has reached the loop
  std::vector<std::string> story;  // the last steps before it
  std::uint64_t trace_hash = 0;
  Choices::Made choices;
};

// A line of the story, and the hash of everything that happened up to it.
struct Step {
  std::string line;
  std::uint64_t hash = 0;
};
using WholeStory = std::vector<Step>;

// If `whole` is not null, the whole story is written there.
Outcome run_schedule(Choices choices, WholeStory* whole = nullptr);
// Runs the schedule of a seed. One seed in fifty is run twice: both runs have to be the same.
Outcome run_seed(std::uint64_t seed);
// At which step two stories of the same choices go apart, for people.
std::string difference(const WholeStory& first, const WholeStory& second);

// Whether both are the same fault, whoever is concerned.
bool is_alike(const std::string& violation, const std::string& other);

// The same violation with fewer and more harmless choices, as far as `tries` schedules find them.
Outcome shrink(const Outcome& failed, std::size_t tries);

}  // namespace rkllm_mcp::simulation
