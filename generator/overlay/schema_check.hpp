// Checks a JSON document against a JSON Schema. Knows the keywords that the overlay's schema uses, and throws
// std::logic_error for any other, so that a schema never promises what is not checked.
#pragma once

#include "bindgen_json.hpp"

#include <string>
#include <vector>

namespace bindgen {

struct SchemaViolation {
  std::string pointer;  // JSON pointer into the document, e.g. "/entries/12/text"
  std::string message;
};

std::vector<SchemaViolation> violations(const Json& schema, const Json& document);

}  // namespace bindgen
