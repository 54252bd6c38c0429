// Joins facts and overlay: every declaration gets a meaning, or the header is refused with the entries to write.
#pragma once

#include "diagnostics.hpp"
#include "meaning/model.hpp"
#include "meaning/suggest.hpp"
#include "overlay/overlay.hpp"

#include <string>
#include <vector>

namespace bindgen {

// Throws Refusal listing, with the line of the header and the line of the overlay, every entry that matches nothing or
// whose quote no longer matches, and every declaration that has no meaning, with the entry to write.
Api understand(c::Header header, const Overlay& overlay, const std::string& version);

// What a header still needs before it can be understood.
struct Needs {
  std::vector<Declared> unanswered;    // no type and no entry says what these mean
  std::vector<Diagnostic> in_the_way;  // what no further entry mends: C that has no wire form, entries that do not fit
};

Needs needs_of(c::Header header, const Overlay& overlay);

}  // namespace bindgen
