// What types are in memory, names and const aside: whether two, each of its own header, are the same, and whether one
// has an end.
#pragma once

#include "read/c_facts.hpp"

#include <cstdint>

namespace bindgen {

// Types that `header` declares are looked into, so that a struct that was merely renamed is still the same. Records,
// enums and typedefs of one name count as the same: how they differ is told of them, not of everything that uses them.
bool same_representation(const c::Header& before, const c::Type& one, const c::Header& after, const c::Type& other);

// The struct or union that a field holds in itself, declared there or elsewhere in the header. Null: it holds none.
const c::Record* record_in(const c::Header& header, const c::Field& field);

// Has the fields of a struct lie that much further on, as they do where another one holds it there.
void move_by(c::Record& record, const Layout& offset);

// Whether it is an array of at most so many elements, or a struct or union that can end in one: 0, an array without a
// length; 1, also as C had them before there were such. Nobody knows where they really end.
bool ends_openly(const c::Header& header, const c::Type& type, std::uint64_t elements);
bool ends_openly(const c::Header& header, const c::Record& record, std::uint64_t elements);

}  // namespace bindgen
