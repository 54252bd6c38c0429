// The line of generated code that carries one field or parameter between JSON and C. Decoder and encoder share it.
#pragma once

#include "emit/code_text.hpp"
#include "meaning/walk.hpp"

#include <string>
#include <vector>

namespace bindgen {

// `codec` is the variable to call, `scope` what precedes the names of the parts in C++ ("value." for fields, "" for
// parameters). Statements in order; none for parts that are not on the wire, or that another part's line carries.
std::vector<Expression> codec_calls(const Api& api, const Part& part, const std::vector<Part>& parts,
                                    const std::string& codec, const std::string& scope);

}  // namespace bindgen
