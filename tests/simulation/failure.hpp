// What is told of a schedule that has failed: what was built, what went wrong, the last steps of the smallest schedule
// that shows it, its choices, and how to see it again.
#pragma once

#include "schedule.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace rkllm_mcp::simulation {

struct Failure {
  std::optional<std::uint64_t> seed;  // nothing: its choices were given
  Outcome outcome;                    // as it was found
  Outcome least;                      // made smaller, see shrink()
};

// For people, without the choices.
std::string told(const Failure& failure);
// What the program simulate takes as --choices: the least schedule, and for people what it shows.
std::string choice_file(const Failure& failure);

}  // namespace rkllm_mcp::simulation
