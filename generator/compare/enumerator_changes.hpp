// What changed among the enumerators of two headers.
#pragma once

#include "compare/diff.hpp"

#include <vector>

namespace bindgen {

std::vector<Change> enumerator_changes(const c::Header& before, const c::Header& after);

}  // namespace bindgen
