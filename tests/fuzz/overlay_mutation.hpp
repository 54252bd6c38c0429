// Changes of an overlay that leave it JSON, and so come further than to the parser.
#pragma once

#include <random>
#include <string>

namespace bindgen::test {

// The overlay with up to three of its values replaced or joined by others that stand elsewhere in it, left out, or
// replaced by odd ones. Of what is no JSON: nothing.
std::string mutated_overlay(const std::string& text, std::minstd_rand& random);

}  // namespace bindgen::test
