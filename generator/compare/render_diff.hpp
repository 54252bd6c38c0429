// The forms in which a comparison is told: to a person, to a page, to a program.
#pragma once

#include "compare/diff.hpp"

#include <string>
#include <vector>

namespace bindgen {

// `before` and `after` are how the two headers are called.
std::string diff_as_text(const std::vector<Change>& changes, const std::string& before, const std::string& after);
std::string diff_as_markdown(const std::vector<Change>& changes, const std::string& before, const std::string& after);
std::string diff_as_json(const std::vector<Change>& changes, const std::string& before, const std::string& after);

// One change in one line: "moved field S.a: @8/4 -> @16/8".
std::string line_of(const Change& change);

}  // namespace bindgen
