// Joins facts and overlay: every declaration gets a meaning, or the header is refused with the entries to write.
#pragma once

#include "model.hpp"
#include "overlay.hpp"

#include <string>

namespace bindgen {

// Throws Refusal listing, with the line of the header and the line of the overlay, every entry that matches nothing or
// whose quote no longer matches, and every declaration that has no meaning, with the entry to write.
Api understand(c::Header header, const Overlay& overlay, const std::string& version);

}  // namespace bindgen
