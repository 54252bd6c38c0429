// JSON Schemas (2020-12) of what travels: the parameters of each function, and its result. They say what the codecs
// enforce, as far as JSON Schema can: what depends on the handle (the size of the vocabulary, n_batch) it cannot.
#pragma once

#include "bindgen_json.hpp"
#include "meaning/model.hpp"

namespace bindgen {

// The documentation; or the few words that the overlay has instead, without fields that count an array beside them.
enum class Wording { kFull, kBrief };

Json input_schema(const Api& api, const c::Function& function, Wording wording = Wording::kFull);
// The complete answer; for functions that stream, what is told when the run has ended. Its root is an object.
Json output_schema(const Api& api, const c::Function& function);

}  // namespace bindgen
