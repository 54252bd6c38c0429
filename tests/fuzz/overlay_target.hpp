// The generator given an overlay that nobody means well with. It is used, or refused with the place of what is wrong;
// what ends otherwise is an exception that nobody catches.
#pragma once

#include <string>

namespace bindgen::test {

// Reads the text, applies it to every_idiom.h as two versions, "1.0" and "2.0", and generates all files. True: it could
// be used. False: it was refused.
bool take_overlay(const std::string& text);

}  // namespace bindgen::test
