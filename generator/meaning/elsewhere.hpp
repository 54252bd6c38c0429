// What each version lacks: a call that uses it is then told which runtime it needs, not just that it is wrong.
#pragma once

#include "meaning/model.hpp"

#include <vector>

namespace bindgen {

// Fills in Api::elsewhere and Api::names_elsewhere of all versions, which go from old to new.
void note_elsewhere(std::vector<Api>& sets);

}  // namespace bindgen
