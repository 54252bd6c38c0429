// One set of facts out of what the targets say: everything but layout must be the same.
#pragma once

#include "read/c_facts.hpp"
#include "read/declarations.hpp"

#include <vector>

namespace bindgen {

// `header` names the file in complaints. Throws Refusal if the two 64-bit targets differ in any way, or if the 32-bit
// one has other symbols or fields.
Declarations merge_layouts(const c::Header& header, Declarations on_64_bit, const Declarations& on_other_64_bit,
                           const Declarations& on_32_bit);

}  // namespace bindgen
