// Whether two types, each of its own header, are the same in memory, and whether a type has an end.
#pragma once

#include "read/c_facts.hpp"

#include <cstdint>

namespace bindgen {

// Whether `one`, of `before`, and `other`, of `after`, are the same, const aside. What the headers declare is looked
// into, so that a struct that was merely renamed is still the same; its fields must have kept their names. Records,
// enums and typedefs of one name count as the same: how they differ is told of them, not of everything that uses them.
bool same_representation(const c::Header& before, const c::Type& one, const c::Header& after, const c::Type& other);

// The struct or union that a field holds in itself, declared there or elsewhere in the header. Null: it holds none.
const c::Record* record_in(const c::Header& header, const c::Field& field);

// Adds `offset` to that of each field, also in structs declared in place: to go from offsets in the record itself to
// offsets in the one that holds it.
void move_by(c::Record& record, const Layout& offset);

// Whether nobody knows where the type ends: an array of at most `elements` elements, or a struct or union that can end
// in one. 0: arrays without a length; 1: also those of one element, which C had before it had the others.
bool ends_openly(const c::Header& header, const c::Type& type, std::uint64_t elements);
bool ends_openly(const c::Header& header, const c::Record& record, std::uint64_t elements);

}  // namespace bindgen
