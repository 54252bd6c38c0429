// The larger parts of a method in methods.hpp.
#pragma once

#include "emit/several_versions.hpp"
#include "emit/type_names.hpp"

#include <string>
#include <vector>

namespace bindgen {

// What the parts of one stub have in common.
struct StubScope {
  const std::vector<Api>& sets;
  const Api& api;  // the version that it is written for, if need be for others, too
  const c::Function& function;
  const SharedTexts& texts;
  TypeNames& types;
};

// The statements of a stub.
void emit_stub_body(CodeText& code, const StubScope& scope);
// The last statements of a stub: the call with these arguments, and what becomes of its result.
void emit_call(CodeText& code, const StubScope& scope, std::vector<Expression> arguments);

// What a method says of itself: the members of its description, one a line, for the version of `api`. `suffix` is that
// of the name of its list of parameters.
void emit_description(CodeText& code, const Api& api, const c::Function& function, const SharedTexts& texts,
                      const std::string& suffix);
void emit_param_names(CodeText& code, const Api& api, const c::Function& function, const std::string& suffix);

// A constant text.
void emit_text(CodeText& code, const std::string& name, const std::string& text);

// How a callback becomes a stream: what its states mean, and where in the result the parts are; and the C function that
// is given to the library. Of all sets that have this callback.
void emit_stream(CodeText& code, const std::vector<Api>& sets, const std::string& callback);

}  // namespace bindgen
