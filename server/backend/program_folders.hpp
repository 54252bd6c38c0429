// Where libraries lie that were installed together with this program.
#pragma once

#include <span>
#include <string_view>

namespace rkllm_mcp {

// Relative to the program's own folder, the most probable first: as it was built, as Debian and others install.
extern const std::span<const std::string_view> kLibraryFolders;

}  // namespace rkllm_mcp
