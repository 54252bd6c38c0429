// What somebody is told to do who has no model yet: a command that works where the server is. On a PC, where the
// simulator stands in for the runtime, that is to load a model of the simulator's.
#pragma once

#include "cli/people/offered_models.hpp"
#include "cli/people/server_link.hpp"

#include <optional>
#include <string>

namespace rkllm_mcp {

inline constexpr const char* kAnyModel = "hf.co/OWNER/NAME";  // stands for a repository where none is named

// The file of a model that comes with the simulator, as built or as installed; nothing if there is none on this
// machine.
std::optional<std::string> model_of_simulator();

// "Load one of the simulator's: rkllm-mcp load /usr/share/rkllm_sim/models/FILE.json ...", or how to fetch one for a
// board. Asks the server which runtime it has; if no server answers, the settings of this machine count. `wanted`: the
// name that somebody gave; if a model of the simulator has that name, it is the one that is proposed.
std::string words_of_first_model(ServerLink& server, const OfferedModels& offered, const std::string& wanted = {});

}  // namespace rkllm_mcp
