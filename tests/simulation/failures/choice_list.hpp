// The choices of a schedule as text, to be kept and made again: numbers, and NUMBER*TIMES for one that comes several
// times in a row. A line that begins with # is for people.
#pragma once

#include "simulation/world/choices.hpp"

#include <string>
#include <string_view>

namespace rkllm_mcp::simulation {

// One line.
std::string to_text(const Choices::Made& choices);
// Throws std::invalid_argument, with what is not understood.
Choices::Made choices_from(std::string_view text);

}  // namespace rkllm_mcp::simulation
