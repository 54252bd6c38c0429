// JSON Schemas (2020-12) of the parameters and the result of each function: what travels, and what lists of tools
// show of it. They say what the codecs enforce, as far as JSON Schema can: what depends on the handle (the size of the
// vocabulary, n_batch) it cannot.
#pragma once

#include "bindgen_json.hpp"
#include "meaning/model.hpp"
#include "meaning/walk.hpp"

#include <optional>
#include <string>
#include <vector>

namespace bindgen {

// The documentation; or the few words that the overlay has instead, without fields that count an array beside them.
enum class Wording { kFull, kBrief };

Json input_schema(const Api& api, const c::Function& function, Wording wording = Wording::kFull);
// The complete answer; for functions that stream, what is told when the run has ended. Its root is an object.
Json output_schema(const Api& api, const c::Function& function);

// --- for lists of tools

// Hosts give them to language models of many makers, each of which knows another part of JSON Schema, and whose context
// they fill: so they say less than those above, in few words.
//
// What is left of an input: one type for each value, names for enumerators, objects, arrays and bounds that somebody
// chose. No references, conditions, alternatives and patterns; of several spellings of a value (a number for an
// enumerator, null for nothing, base64 for an array, an array of inputs for a batch) the first alone. The program
// accepts the others, too. Only the root says that it holds nothing else: below it, counts that follow from an array
// are not shown.
Json tool_input_schema(const Api& api, const c::Function& function);
// The members of the result and their types; what they hold is not told. Nothing beside them is forbidden.
Json tool_output_schema(const Api& api, const c::Function& function);

// --- pieces that the schemas of inputs and outputs share

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
