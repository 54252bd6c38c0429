// One set of facts out of what the targets say: everything but layout must be the same.
#pragma once

#include "read/c_facts.hpp"

#include <vector>

namespace bindgen {

// `header` names the file in complaints. Throws Refusal if the two 64-bit targets differ in any way, or if the 32-bit
// one has other symbols or fields.
std::vector<c::Symbol> merge_layouts(const c::Header& header, std::vector<c::Symbol> on_64_bit,
                                     const std::vector<c::Symbol>& on_other_64_bit,
                                     const std::vector<c::Symbol>& on_32_bit);

}  // namespace bindgen
