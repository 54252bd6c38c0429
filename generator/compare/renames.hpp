// What was removed under one name and added under another: told as one change.
#pragma once

#include "compare/diff.hpp"

#include <vector>

namespace bindgen {

// A removed and an added symbol become a renamed one if they are alike in all but the name, and no third one is like
// them: structs and enums are compared by what they hold, functions by their signature, enumerators by their value in
// one enum, fields by their type and place in one struct. If all enumerators of an enum begin with other words than
// before, they, and the enum, are alike if they end alike. Symbols must also have similar names, unless they hold the
// same names, as structs with the same fields do: a new thing in the place of an old one is not the old one. A
// typedef, or an opaque struct, is also known by what uses it: a function that has the new name where it had the old
// one. What differs only in the names of renamed opaque structs and enums breaks no binaries. A field that one struct
// loses and another one gains, with the same name and type, has moved.
std::vector<Change> with_renames(std::vector<Change> changes, const c::Header& before, const c::Header& after);

}  // namespace bindgen
