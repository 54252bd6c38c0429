// What is told of all settings together: the schema of a settings file, and a file with the built-in values.
#pragma once

#include <rkllm_mcp/json.hpp>

namespace rkllm_mcp {

// What a settings file looks like, as JSON Schema (draft 2020-12), with documentation, ranges and defaults: editors
// show it.
Json settings_schema();
// A settings file with every built-in value; it names the schema beside it.
Json default_settings_file();

}  // namespace rkllm_mcp
