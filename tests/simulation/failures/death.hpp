// Tells of a schedule that ends the whole program, or never ends.
#pragma once

#include "simulation/world/choices.hpp"
#include "simulation/world/world.hpp"

namespace rkllm_mcp::simulation {

// From now on a schedule that ends the program (a crash, a failed assertion, what a sanitizer reports), or that takes
// longer than so many seconds of the processor, is told of with its seed, its last steps and how to run it again. Its
// choices so far are written to a file. Nobody is left to make it smaller. Who handles signals outside of schedules,
// such as Catch2, then gets the signal as well.
void tell_of_death(int longest_seconds = 100);

// A schedule is being run, as long as this lives. There is one at a time.
class Watched {
 public:
  Watched(const Choices& choices, const World& world);
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;
  ~Watched();
};

}  // namespace rkllm_mcp::simulation
