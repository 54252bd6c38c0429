// The first step: a C header becomes facts.
#pragma once

#include "c_facts.hpp"

#include <string>

namespace bindgen {

// Reads declarations and macro values of the header itself, not of what it includes. Throws Refusal if it does not
// parse, or if the targets disagree about anything but layout.
c::Header read_header(const std::string& path);

}  // namespace bindgen
