// One entry of the overlay, from JSON that its schema has accepted.
#pragma once

#include "bindgen_json.hpp"
#include "overlay/overlay.hpp"

#include <string>

namespace bindgen {

// `source_line` is the line at `at`. Throws Refusal if the entry says two things at once.
OverlayEntry read_entry(const Json& json, const Location& at, const std::string& source_line);

}  // namespace bindgen
