// The forms in which a comparison is told: to a person, to a page, to a program.
#pragma once

#include "diff.hpp"

#include <string>
#include <vector>

namespace bindgen {

enum class DiffFormat { kText, kMarkdown, kJson };

// `before` and `after` are how the two headers are called.
std::string render_diff(const std::vector<Change>& changes, const std::string& before, const std::string& after,
                        DiffFormat format);

// One change in one line: "moved field S.a: @8/4 -> @16/8".
std::string line_of(const Change& change);

}  // namespace bindgen
