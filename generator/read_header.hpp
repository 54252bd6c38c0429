// The first step: a C header becomes facts.
#pragma once

#include "c_facts.hpp"
#include "diagnostics.hpp"

#include <string>
#include <vector>

namespace bindgen {

// Reads declarations and macro values of the header itself, not of what it includes (from its own folder, then from
// `include_folders`). Throws Refusal if it does not parse, or if the targets disagree about anything but layout.
c::Header read_header(const std::string& path, const std::vector<std::string>& include_folders = {});

// A warning for each line of the header that read_header() takes otherwise than it is written: see clean_text.hpp.
std::vector<Diagnostic> replaced_text(const std::string& path);

}  // namespace bindgen
