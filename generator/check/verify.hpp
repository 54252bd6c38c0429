// Whether generated code compiles, asked of clang before any of it is written.
#pragma once

#include "emit/emit.hpp"
#include "overlay/overlay.hpp"

#include <string>
#include <vector>

namespace bindgen {

// Checks the syntax and the assertions of all generated headers together, as C++20 for each target whose layouts are
// read. `folders`: where the support headers may be, besides those places where clang looks by itself; and `out` is
// what complaints call the folder of the output. Throws Refusal with clang's complaints.
void verify(const std::vector<File>& files, const std::vector<std::string>& folders, const std::string& out);

// The generated code uses what the support headers declare by its bare name, so it stands in their namespace. Throws
// Refusal if those in `folders` are in another one than the overlay says; says nothing where there are none.
void refuse_other_namespace(const Overlay& overlay, const std::vector<std::string>& folders);

}  // namespace bindgen
