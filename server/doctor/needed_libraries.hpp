// Which other libraries a shared library needs, read from its file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp::doctor {

// The DT_NEEDED entries of an ELF file of 32 or 64 bits, little-endian. Empty if it has none, or is no such file. A
// name that the file does not hold to its end is left out.
std::vector<std::string> needed_libraries(std::string_view content);

}  // namespace rkllm_mcp::doctor
