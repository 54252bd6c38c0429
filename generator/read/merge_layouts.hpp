// One set of facts out of what the targets say. Only layouts and variables may differ.
#pragma once

#include "read/c_facts.hpp"
#include "read/declarations.hpp"

#include <vector>

namespace bindgen {

// `header` names the file in complaints. Throws Refusal if a symbol differs between the two 64-bit targets, or if the
// 32-bit one has other symbols, fields or types. A variable that differs goes to `variables_of_machines`.
Declarations merge_layouts(const c::Header& header, Declarations on_64_bit, const Declarations& on_other_64_bit,
                           const Declarations& on_32_bit);

}  // namespace bindgen
