// Declarations of one parsed header as facts: with the layouts of the target it was parsed for, and then with those of
// all targets.
#pragma once

#include "read/c_facts.hpp"
#include "read/clang.hpp"

#include <string>
#include <utility>
#include <vector>

namespace bindgen {

struct Declarations {
  std::vector<c::Symbol> symbols;
  std::vector<c::Variable> variables;
  std::vector<c::Variable> variables_of_machines = {};  // see c::Header
};

// In source order. Both sides of every Layout hold this target's value. `header` is borrowed for complaints: throws
// Refusal for an enumerator that no std::int64_t holds, and for two types of one name (C++ allows them inside structs).
Declarations read_declarations(const clang::Unit& unit, const c::Header& header);

// The fields of the header's structs that hold, in place, a struct or union of another file: where they are, and what
// they hold, in words. Their layout is only as certain as that file.
std::vector<std::pair<Location, std::string>> fields_of_other_files(const clang::Unit& unit);

// One set of facts out of what the targets say. Only layouts and variables may differ. `header` names the file in
// complaints. Throws Refusal if a symbol differs between the two 64-bit targets, or if the 32-bit one has other
// symbols, fields or types. A variable that differs goes to `variables_of_machines`.
Declarations merge_layouts(const c::Header& header, Declarations on_64_bit, const Declarations& on_other_64_bit,
                           const Declarations& on_32_bit);

}  // namespace bindgen
