// JSON Schemas (2020-12) of the parameters and the result of each function: what travels, and what lists of tools
// show of it. They say what the codecs enforce, as far as JSON Schema can: what depends on the handle (the size of the
// vocabulary, n_batch) it cannot.
#pragma once

#include "bindgen_json.hpp"
#include "meaning/model.hpp"

namespace bindgen {

// The documentation; or the few words that the overlay has instead, without fields that count an array beside them.
enum class Wording { kFull, kBrief };

Json input_schema(const Api& api, const c::Function& function, Wording wording = Wording::kFull);
// The complete answer; for functions that stream, what is told when the run has ended. Its root is an object.
Json output_schema(const Api& api, const c::Function& function);

// The schemas that lists of tools show. Hosts give them to language models of many makers, each of which knows another
// part of JSON Schema, and whose context they fill: so they say less than those above, in few words.
//
// What is left of an input: one type for each value, names for enumerators, objects, arrays and bounds that somebody
// chose. No references, conditions, alternatives and patterns; of several spellings of a value (a number for an
// enumerator, null for nothing, base64 for an array, an array of inputs for a batch) the first alone. The program
// accepts the others, too. Only the root says that it holds nothing else: below it, counts that follow from an array
// are not shown.

Json tool_input_schema(const Api& api, const c::Function& function);
// The members of the result and their types; what they hold is not told. Nothing beside them is forbidden.
Json tool_output_schema(const Api& api, const c::Function& function);

}  // namespace bindgen
