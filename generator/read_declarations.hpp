// Declarations of one parsed header as facts, with the layouts of the target it was parsed for.
#pragma once

#include "c_facts.hpp"
#include "clang.hpp"

#include <vector>

namespace bindgen {

// In source order. Both sides of every Layout hold this target's value.
std::vector<c::Symbol> read_declarations(const clang::Unit& unit);

}  // namespace bindgen
