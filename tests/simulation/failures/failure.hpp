// What is told of a schedule that has failed: what was built, what went wrong, the last steps of the smallest schedule
// that shows it, its choices, and how to see it again.
#pragma once

#include "simulation/schedule.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace rkllm_mcp::simulation {

struct Failure {
  std::optional<std::uint64_t> seed;  // nothing: its choices were given
  Outcome outcome;                    // as it was found
  Outcome least;                      // made smaller, see shrink()
};

// "commit: ...\n"; which() adds "seed: ...\n".
std::string which_commit();
std::string which(const std::optional<std::uint64_t>& seed);
// For people, without the choices.
std::string told(const Failure& failure);
// What the program simulate takes as --choices, and for people what it shows.
std::string choice_file(const std::optional<std::uint64_t>& seed, const std::string& violation,
                        const Choices::Made& choices);
// Where that is written.
std::string choice_file_of(const std::optional<std::uint64_t>& seed);
// The program simulate of the same build.
std::string program();
// What to type; with the fault that is put back, if one is.
std::string how_to_run_again(const std::string& file);
std::string how_to_run_whole(std::uint64_t seed);
// Makes the schedule smaller, and says all of it: what is told, the choices, and how to run them again. Those of a seed
// are also written to a file in the folder that is the current one; others are in `given`, or only in what is said.
constexpr std::size_t kTriesToShrink = 4'000;
std::string report(const std::optional<std::uint64_t>& seed, const Outcome& failed, const std::string& given = {},
                   std::size_t tries = kTriesToShrink);

}  // namespace rkllm_mcp::simulation
