// Documentation comments, as text: /** */ and ///, with @brief, @param and @return.
#pragma once

#include "read/c_facts.hpp"

#include <string>
#include <vector>

namespace bindgen {

// A comment as it stands in the source, markers included. Lines are joined into paragraphs; a blank line between two
// paragraphs becomes "\n\n".
Documentation parse_comment(const std::string& comment);

// The documentation comment that ends right above line `line` (counted from 1), or "". For macros, which libclang gives
// no comment.
std::string comment_above(const std::vector<std::string>& lines, unsigned line);

}  // namespace bindgen
