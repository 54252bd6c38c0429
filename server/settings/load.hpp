// Puts the settings together: command line over environment over file over built-in values.
#pragma once

#include "settings/location.hpp"
#include "settings/refused.hpp"
#include "settings/settings.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

// A value given on the command line, e.g. {"http.port", "9000", "--set http.port"}.
struct Assignment {
  std::string name;
  std::string text;
  std::string place;  // the option that gave it, for complaints
};

struct SettingsRequest {
  std::optional<std::string> path;      // --settings
  std::vector<Assignment> assignments;  // later ones win
  Environment environment;
  // What is wrong with presets (`models`), whose fields are the bound API's and not the settings' own; empty: unknown.
  std::function<std::vector<Complaint>(const Json& models)> check_presets{};
};

enum class Source { kBuiltIn, kFile, kEnvironment, kCommandLine };

struct ValueSource {
  Source source = Source::kBuiltIn;
  std::string place = "built-in";  // "settings.json:12", "RKLLM_MCP_HTTP_PORT", "--set http.port"
};

struct LoadedSettings {
  Settings values;
  std::vector<ValueSource> sources;   // one for each of settings_table()
  std::string file;                   // the file that was read; empty if there is none
  std::vector<std::string> warnings;  // for the log
};

// Reads all sources; a settings file that does not exist has no say. Throws SettingsRefused with everything that is
// wrong: unknown names, wrong types, values out of range, addresses that must not be served without authentication, and
// TLS without a certificate.
LoadedSettings load_settings(const SettingsRequest& request);

// The values in force: {"file", "values": {"http.port": {"value", "origin", "place"}}}, secrets hidden.
Json settings_report(const LoadedSettings& settings);

// What a re-read changes: the settings that can follow at once, put into `running`, and those that wait for a restart.
struct Reload {
  std::vector<std::string> changed;
  std::vector<std::string> need_restart;
};
Reload reload(Settings& running, const Settings& fresh);

}  // namespace rkllm_mcp
