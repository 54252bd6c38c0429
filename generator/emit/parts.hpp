// What several emitters write in the same way.
#pragma once

#include "bindgen_json.hpp"
#include "emit/code_text.hpp"
#include "emit/emit.hpp"
#include "emit/method_schema.hpp"
#include "meaning/walk.hpp"

#include <string>
#include <vector>

namespace bindgen {

// "v1_3_0"
std::string set_name(const Api& api);

// Documentation of something that is called, as a comment.
void emit_documentation(CodeText& code, const Documentation& documentation);
// A size or an offset as a C++ expression.
std::string layout_text(const Layout& layout);
// What to write behind #include for a header of the support library.
std::string support_include(const Api& api, const std::string& name);

// A constant as a C++ expression for a value of this type; `scope` goes before an enumerator.
std::string constant_text(const c::Type& type, const Constant& constant, const std::string& scope = "");

// JSON as adjacent raw string literals, without blanks: a line for each member of an object that holds objects, and one
// for everything else.
std::vector<std::string> raw_json_lines(const Json& json);

// Title of a tool: the overlay's, else the function's name.
std::string title_of(const Api& api, const c::Function& function);

// Names of the wire parameters in C order.
std::vector<std::string> wire_params(const Api& api, const c::Function& function);
// Whether the results of this function become a stream, and which.
const Stream* stream_of(const Api& api, const c::Function& function);
// The first parameter with this meaning; null if there is none.
template <class Kind>
const c::Param* param_with(const Api& api, const c::Function& function) {
  for (const c::Param& param : function.params) {
    if (std::holds_alternative<Kind>(api.role(function.name + "." + param.name).meaning)) return &param;
  }
  return nullptr;
}

// Whether the only parameter of this function is a pointer like this one, and no handle. So it is with functions that
// free what another function has returned.
bool takes_just(const Api& api, const c::Function& function, const c::Type& pointer);
inline constexpr const char* kReturned = "value";  // the variable of a pointer that a function returns
// The arguments with which `frees` frees what `function` has left. kReturned alone, if it takes just that; else for
// each parameter of `frees` the only thing of its type among kReturned and the parameters of `function`, a handle
// exactly for a handle. None if a parameter finds none or several, if two find the same one, or if `frees` ends a
// handle.
std::vector<std::string> arguments_to_free(const Api& api, const c::Function& function, const c::Function& frees);

// What only some versions have in the record, group or function of this path (made of present names), as rows of a
// table of Elsewhere; and all rows as one initializer, which is empty if there are none.
std::vector<Expression> elsewhere_rows(const std::vector<Api>& sets, const std::string& path);
std::string elsewhere_list(const std::vector<Api>& sets, const std::string& path);

// Whether the generated code has the type of this name without declaring it: <cstddef>, <cstdint> and the language.
bool is_known_everywhere(const std::string& name);
// Whether all that there is to a type is its size and its sign, so that what only an included header declares
// (mode_t, opus_int32) can be declared anew.
bool is_repeatable(const c::Type& type);

// Whether a part is itself a struct that is in use.
inline bool holds_record(const Api& api, const Part& part) {
  return part.type->kind == c::TypeKind::kRecord && std::holds_alternative<meaning::Value>(api.role(part.path).meaning);
}

// True if any part of the record, or of a struct inside it, satisfies the predicate.
template <class Predicate>
bool any_part(const Api& api, const c::Record& record, const std::string& path, const Predicate& predicate) {
  for (const Part& part : parts_of(api, record, path)) {
    if (predicate(part, api.role(part.path))) return true;
    if (!holds_record(api, part)) continue;
    const NamedRecord inner = record_of(api, part);
    if (any_part(api, *inner.record, inner.path, predicate)) return true;
  }
  return false;
}

// Whether a record can stand on the wire: a struct of callbacks cannot.
bool is_on_wire(const Api& api, const NamedRecord& record);

}  // namespace bindgen
