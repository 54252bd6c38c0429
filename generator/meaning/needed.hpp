// Of a large header, what some of its functions need: an overlay may name the functions that become methods.
#pragma once

#include "read/c_facts.hpp"

#include <set>
#include <string>

namespace bindgen {

// The header with these functions only, and with the types that they reach. Enums and macros stay: they are facts that
// stand for themselves.
c::Header needed_by(c::Header header, const std::set<std::string>& functions, const std::set<std::string>& types = {});

}  // namespace bindgen
