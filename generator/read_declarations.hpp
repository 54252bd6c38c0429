// Declarations of one parsed header as facts, with the layouts of the target it was parsed for.
#pragma once

#include "c_facts.hpp"
#include "clang.hpp"

#include <vector>

namespace bindgen {

// In source order. Both sides of every Layout hold this target's value. `header` is borrowed for complaints: throws
// Refusal for an enumerator that no std::int64_t holds.
std::vector<c::Symbol> read_declarations(const clang::Unit& unit, const c::Header& header);

}  // namespace bindgen
