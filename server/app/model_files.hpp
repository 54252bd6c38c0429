// The models that this server knows: the presets of the settings, with their files, and the files in
// runtime.model_dirs.
#pragma once

#include "settings/settings.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp {

// Names of presets and paths of files, without duplicates, sorted. Directories that cannot be read have none; of each
// at most 1,000 files are looked at. Reads directories: may block for as long as their disk does.
std::vector<std::string> known_models(const Settings& settings);

}  // namespace rkllm_mcp
