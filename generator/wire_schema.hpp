// JSON Schemas (2020-12) of what travels: the parameters of each function, and its result. They say what the codecs
// enforce, as far as JSON Schema can: what depends on the handle (the size of the vocabulary, n_batch) it cannot.
#pragma once

#include "json.hpp"
#include "model.hpp"

namespace bindgen {

Json input_schema(const Api& api, const c::Function& function);
// The complete answer; for functions that stream, what is told when the run has ended. Its root is an object.
Json output_schema(const Api& api, const c::Function& function);

}  // namespace bindgen
