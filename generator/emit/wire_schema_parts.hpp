// Pieces of JSON Schema that input and output schemas share.
#pragma once

#include "bindgen_json.hpp"
#include "meaning/walk.hpp"

#include <string>
#include <vector>

namespace bindgen {

inline constexpr const char* kNoNul = "^[^\\u0000]*$";

// {"type":"object","properties":{},"additionalProperties":false}, to be filled in.
Json empty_object_schema();
// Adds a property; `description` may be empty.
void add_property(Json& object, const std::string& name, Json schema, const std::string& description, bool is_required);
// Lets null stand where the schema has one type, or several.
void allow_null(Json& schema);
// An integer of this C type, narrowed to [minimum, maximum] where given.
Json integer_schema(const c::Type& type, std::optional<double> minimum = {}, std::optional<double> maximum = {});
Json number_schema(const c::Type& type, std::optional<double> minimum = {}, std::optional<double> maximum = {});
// By name or by number.
Json enum_schema(const Api& api, const std::string& name);
// For enumerators in results: a name (of several with one value the first), or a number that has no name in the header.
Json returned_enum_schema(const Api& api, const std::string& name);
std::string enum_documentation(const Api& api, const std::string& name);
// Whether this, an element of an array, is room for a text that ends with NUL.
bool is_text_in_place(const c::Type& element);
// Whether an array of these may also come as {"base64","dtype"}: floats; and char and void, whose arrays are bytes.
bool can_be_packed(const c::Type& element);
// An array of those in either form. Results may hold null for floats that are not finite.
Json packed_array_schema(const c::Type& element, bool is_result);

// A struct with its path, from the type of a part that holds or points at one.
NamedRecord record_of(const Api& api, const Part& part);

}  // namespace bindgen
