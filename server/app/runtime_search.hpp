// Where the settings say that the runtime library is to be looked for.
#pragma once

#include "library/library_file.hpp"
#include "settings/settings.hpp"

namespace rkllm_mcp {

LibrarySearch library_search(const Settings& settings);

// Whether what is found there is the simulator, whatever it is named by.
bool finds_simulator(const Settings& settings);

}  // namespace rkllm_mcp
