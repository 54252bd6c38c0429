// Addresses as they may be shown, in logs, errors and tables. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace rkllm_mcp {

// "postgresql://host/name" of "postgresql://user:password@host/name?options"; what is no such address, such as a path,
// is left as it is.
std::string shown_address(std::string_view address);

}  // namespace rkllm_mcp
