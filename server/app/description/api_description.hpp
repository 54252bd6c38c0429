// How this server presents the bound API, and itself, to clients: the documents of the API that are compiled in, its
// functions, and the catalogue.
#pragma once

#include "api.hpp"
#include "app/runtime/runtime.hpp"
#include "mcp/catalogue.hpp"
#include "settings/settings.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <string_view>

namespace rkllm_mcp {

// What generated/api/ says of an ABI set: its functions, structs, enums and constants as JSON text. Empty if there is
// no such set. api_documents.cpp.in has it.
std::string_view api_document(std::string_view version);

// The functions of the runtime that is in use.
Api describe_api(const Runtime& runtime);

// All but the tools: resources, prompts, and words. `report` gives the settings in force, secrets hidden. All outlive
// the catalogue.
mcp::Catalogue describe_server(const Runtime& runtime, const Settings& settings, std::function<Json()> report);

}  // namespace rkllm_mcp
