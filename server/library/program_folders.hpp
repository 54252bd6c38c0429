// Where this program lies, and what was installed together with it.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace rkllm_mcp {

std::filesystem::path program_folder();

// Folders of libraries, relative to the program's, the most probable first: as it was built, as Debian and others
// install.
extern const std::span<const std::string_view> kLibraryFolders;

}  // namespace rkllm_mcp
