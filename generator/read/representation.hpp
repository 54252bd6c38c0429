// Whether two types, each of its own header, are the same to the processor: names and const aside.
#pragma once

#include "read/c_facts.hpp"

namespace bindgen {

// Types that `header` declares are looked into, so that a struct that was merely renamed is still the same. Records and
// enums of one name count as the same: how they differ is told of them, not of everything that uses them.
bool same_representation(const c::Header& before, const c::Type& one, const c::Header& after, const c::Type& other);

}  // namespace bindgen
