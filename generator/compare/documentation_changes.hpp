// What is said in other words. Words alone can turn a meaning around, and no compiler sees it.
#pragma once

#include "compare/diff.hpp"

#include <vector>

namespace bindgen {

// Of everything that both headers declare: documentation that was added, removed or reworded, however it is wrapped.
// None of it breaks anything. The words that deprecation_changes() reports are left out here. In the order of the later
// header. `changes` are those of diff(): with them, what was renamed or moved is compared with what it was before. A
// parameter whose name is new is compared with the old one at its place.
std::vector<Change> documentation_changes(const c::Header& before, const c::Header& after,
                                          const std::vector<Change>& changes);

// What both headers declare and only one says is deprecated: changes with "deprecation" added or removed. diff() lists
// them, since a compiler warns of the use of such things, and the next version may be without them.
std::vector<Change> deprecation_changes(const c::Header& before, const c::Header& after,
                                        const std::vector<Change>& changes);

}  // namespace bindgen
