// Text of a header as it may go into files and onto terminals. Vendors' comments are not always UTF-8, and some hold
// control characters; neither may end the tool, reach a terminal, or make generated JSON invalid.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace bindgen {

// The text with U+FFFD for what is no UTF-8, and a blank for each control character but tab, line feed and carriage
// return; those that change the direction of writing count among them, and others that nobody sees. The same on every
// machine.
std::string clean(std::string_view text);

// The text with what clean() replaces by a blank as JSON and C++ write it in a string: \u202E. For the values of
// constants, which stay what they are.
std::string with_escapes(std::string_view text);

bool is_utf8(std::string_view text);

// Where the first byte stands that clean() replaces; npos if there is none.
std::size_t first_unclean(std::string_view text);

}  // namespace bindgen
