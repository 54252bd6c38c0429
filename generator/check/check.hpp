// The rules that an understood API must keep before code is made from it.
#pragma once

#include "meaning/model.hpp"

namespace bindgen {

// Throws Refusal with everything that breaks a rule; each complaint ends with the rule's name in brackets.
void check(const Api& api);

}  // namespace bindgen
