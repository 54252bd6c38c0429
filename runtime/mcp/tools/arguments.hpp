// Are these the arguments that a tool's input_schema describes? For the part of JSON Schema that tools use: an object
// with properties of type string, integer, number or boolean, and of them required, enum, minLength, maxLength,
// minimum, maximum and default.
#pragma once

#include <rkllm_mcp/json.hpp>

namespace rkllm_mcp::mcp {

// The arguments without what the schema does not know, without nulls, and with defaults; 5.0 is an integer. Throws
// InvalidParams with the path of what is wrong.
Json checked_arguments(const Json& schema, const Json& arguments);

}  // namespace rkllm_mcp::mcp
