// The ids in a message's text as they are written there. A JSON value does not tell: -0 is read as 0, 1e2 as 100.0,
// "\u00e9" as "é", and long numbers lose digits; but an answer has to carry its request's id byte for byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Text of the member "id" of an object; of an array, of each element in turn. Empty where there is none. `json` should
// be valid JSON in which no member occurs twice. In other text anything may be taken for an id, but never the last
// thing in it, which may have been cut off.
std::vector<std::string> written_ids(std::string_view json);

}  // namespace rkllm_mcp
