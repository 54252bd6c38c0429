// What generated/api/ says of each ABI set, compiled in.
#pragma once

#include <string_view>

namespace rkllm_mcp {

// Functions, structs, enums and constants of an ABI set as JSON text; empty if there is no such set.
std::string_view api_document(std::string_view version);

}  // namespace rkllm_mcp
