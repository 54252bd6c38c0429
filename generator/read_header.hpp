// The first step: a C header becomes facts.
#pragma once

#include "c_facts.hpp"

#include <string>
#include <vector>

namespace bindgen {

// Reads declarations and macro values of the header itself, not of what it includes (from its own folder, then from
// `include_folders`). Throws Refusal if it does not parse, or if the targets disagree about anything but layout.
c::Header read_header(const std::string& path, const std::vector<std::string>& include_folders = {});

}  // namespace bindgen
