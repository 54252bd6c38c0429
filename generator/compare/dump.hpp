// What was read from a header, told in full: for programs (JSON, which is also how two versions of libclang are
// compared) and for people (a tree).
#pragma once

#include "bindgen_json.hpp"
#include "read/c_facts.hpp"

#include <string>

namespace bindgen {

Json layout_json(const Layout& layout);  // {"64": ..., "32": ...}

// Lines are those of the header.
std::string dump_json(const c::Header& header);

std::string dump_tree(const c::Header& header);

}  // namespace bindgen
