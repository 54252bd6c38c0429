// The larger parts of a method in methods.hpp.
#pragma once

#include "emit/code_text.hpp"
#include "meaning/model.hpp"

#include <string>
#include <vector>

namespace bindgen {

// The last lines of a stub: the call with these arguments, and what becomes of its result.
void emit_call(CodeText& code, const Api& api, const c::Function& function, std::vector<Expression> arguments);

// What a method says of itself.
void emit_description(CodeText& code, const Api& api, const c::Function& function);
// A constant text.
void emit_text(CodeText& code, const std::string& name, const std::string& text);

}  // namespace bindgen
