// The bound API as documents: rkllm://api, and rkllm://api/{kind}/{name} of each function, struct, enum and constant.
#pragma once

#include "mcp/catalogue.hpp"

#include <rkllm_mcp/abi_set.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// Adds the documents of an ABI set; it and `document`, its api_document(), live as long as the program.
void add_api_resources(mcp::Catalogue& catalogue, const AbiSet& abi, std::string_view document);

// The names of an enum's enumerators, for completion; none if there is no such enum.
std::vector<std::string> enumerators_of(std::string_view document, std::string_view enum_name);

}  // namespace rkllm_mcp
