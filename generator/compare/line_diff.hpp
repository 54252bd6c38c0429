// What changed between two texts, line by line.
#pragma once

#include <string>

namespace bindgen {

// Lines with "-" and "+" in front, each group under the line number where it stands in `before`; empty if the texts are
// equal. `limit` bounds the number of lines told.
std::string line_diff(const std::string& before, const std::string& after, std::size_t limit = 40);

}  // namespace bindgen
