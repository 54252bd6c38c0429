// Turns settings into the options of classes that know no settings themselves.
#pragma once

#include "counts.hpp"
#include "dispatch/dispatcher.hpp"
#include "library/library_file.hpp"
#include "memory_budget.hpp"
#include "models/server_models.hpp"
#include "settings/settings.hpp"
#include "stream/token_stream.hpp"

#include <string>

namespace rkllm_mcp {

ServerModels::Choices model_choices(const Settings& settings);

// Of the streams that carry chat turns. `counts` outlives them; they share `memory` with others.
TokenStream::Options stream_options(const Settings& settings, Counts& counts, const MemoryBudget& memory);

// Options of the dispatcher; both parameters as above. Throws std::runtime_error if a token's file cannot be read.
Dispatcher::Options dispatcher_options(const Settings& settings, Counts& counts, const MemoryBudget& memory);

// Where the runtime library is to be looked for.
LibrarySearch library_search(const Settings& settings);

// Whether what is found there is the simulator, whatever it is named by.
bool finds_simulator(const Settings& settings);

// The path of a model as the runtime library is given it. Throws RpcError where the settings do not allow that file.
std::string path_for_library(const Settings& settings, const std::string& path);

}  // namespace rkllm_mcp
