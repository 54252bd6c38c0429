// Structs and unions with their fields, and where each lies for the target that a unit was parsed for.
#pragma once

#include "read/c_facts.hpp"
#include "read/clang.hpp"
#include "read/types.hpp"

#include <string>

namespace bindgen {

// The record that is defined at `cursor`, under this name, with those that are declared in it without a name.
c::Record read_record(const TypeReader& types, CXCursor cursor, const std::string& name);

}  // namespace bindgen
