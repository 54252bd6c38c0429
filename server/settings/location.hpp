// Where settings.json is, and how it comes to be there.
#pragma once

#include <map>
#include <optional>
#include <string>

namespace rkllm_mcp {

using Environment = std::map<std::string, std::string>;

Environment current_environment();

// The settings file that $RKLLM_MCP_SETTINGS names; nothing if it names none.
std::optional<std::string> settings_file_of(const Environment& environment);

// The path of the settings file, which need not exist: `asked_for` (--settings), else $RKLLM_MCP_SETTINGS, else
// settings.json in the working directory if it exists, else $XDG_CONFIG_HOME/rkllm-mcp/settings.json, with ~/.config
// for an unset XDG_CONFIG_HOME. Nothing if no home is known either.
std::optional<std::string> settings_path(const std::optional<std::string>& asked_for, const Environment& environment);

enum class Written { kWritten, kExists };

// Writes a complete settings file with all built-in values, readable by its owner only, and settings.schema.json beside
// it; directories are made. What exists is left alone, also if it comes to exist at this very moment. A file is there
// completely or not at all. Throws std::system_error if the place cannot be written to.
Written write_default_settings(const std::string& path);

}  // namespace rkllm_mcp
