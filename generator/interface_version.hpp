// Versions of an interface, in order: "1.2.0" < "1.2.1b1" (a beta of 1.2.1) < "1.2.1" < "1.3.0".
#pragma once

#include <string_view>

namespace bindgen {

// Digits, then digits, letters, dots and hyphens: what can be part of a C++ name and of a path.
bool is_version(std::string_view text);
// Negative, zero or positive, as `left` is older than, the same as, or newer than `right`.
int compare_versions(std::string_view left, std::string_view right);

}  // namespace bindgen
