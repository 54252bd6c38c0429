// Macros that stand for a value. The AST does not hold macro values, so clang is asked a second time: for a file in
// memory that includes the header and initialises one variable from each macro.
#pragma once

#include "read/c_facts.hpp"
#include "read/clang.hpp"
#include "read/parse.hpp"

#include <vector>

namespace bindgen {

// Macros of the header itself, in source order; those with parameters, without a body, or whose body is no constant
// expression are no values and are left out.
struct Macros {
  std::vector<c::Macro> constants;
  std::vector<c::Macro> of_machines;  // with a value on one machine, and another one or none elsewhere; without values
};

// `units`: the header as it was read for each target.
Macros read_macros(const clang::Index& index, const std::vector<clang::Unit>& units, const c::Header& header,
                   const Source& source);

}  // namespace bindgen
