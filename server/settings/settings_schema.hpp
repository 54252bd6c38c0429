// What a settings file looks like: its JSON Schema, and the one with every built-in value.
#pragma once

#include <rkllm_mcp/json.hpp>

namespace rkllm_mcp {

Json settings_schema();        // draft 2020-12, with documentation, ranges and defaults; editors show it
Json default_settings_file();  // names the schema beside it

}  // namespace rkllm_mcp
