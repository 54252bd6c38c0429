#include "cli/people/state_commands.hpp"

#include "cli/exit_codes.hpp"
#include "cli/help/terminal.hpp"
#include "cli/people/load_progress_line.hpp"
#include "cli/people/server_link.hpp"
#include "client/connection.hpp"
#include "models/model_files.hpp"
#include "text/shown_bytes.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {
namespace {

using Row = std::vector<std::string>;

// The first row is the heads.
void print_table(const std::vector<Row>& rows) {
  const Paint paint(STDOUT_FILENO);
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], row[at].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t at = 0; at < row.size(); ++at) {
      line += row[at];
      if (at + 1 < row.size()) line += std::string(widths[at] + 2 - row[at].size(), ' ');
    }
    std::printf("%s\n", &row == &rows.front() ? paint.bold(line).c_str() : line.c_str());
  }
}

std::string shown_time(long long seconds) {
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds / 3600) + " h";
}

// Of any member that may be absent or null.
std::string text_at(const Json& object, const char* key, const std::string& otherwise = "-") {
  if (!object.is_object() || !object.contains(key) || object[key].is_null()) return otherwise;
  return object[key].is_string() ? object[key].get<std::string>() : object[key].dump();
}

std::string rounded(const Json& object, const char* key) {
  if (!object.contains(key) || !object[key].is_number()) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", object[key].get<double>());
  return text.data();
}

Json loaded_models(const Json& health) { return health.value("models", Json::array()); }

int print_status(ServerLink& server, bool json) {
  const Json health = server.health();
  if (json) {
    print_json(health);
    return kExitOk;
  }
  const Json runtime = health.value("runtime", Json::object());
  std::printf("server      %s, version %s, up %s, %s\n", text_at(health, "status").c_str(),
              text_at(health, "version").c_str(), shown_time(health.value("uptime_s", 0LL)).c_str(),
              server.url().c_str());
  const std::string version = text_at(runtime, "version", "");
  std::printf("runtime     %s\n", version.empty() ? ("none: " + text_at(runtime, "reason")).c_str()
                                                  : (version + ", " + text_at(runtime, "path")).c_str());
  if (runtime.contains("note") && runtime["note"].is_string()) {
    std::printf("            %s\n", runtime["note"].get<std::string>().c_str());
  }
  const Json handles = loaded_models(health);
  std::printf("models      %zu loaded%s\n", handles.size(),
              handles.empty() ? "; load one: rkllm-mcp load NAME" : "; more: rkllm-mcp ps");
  const Json transports = health.value("transports", Json::object());  // named: items() refers to it
  for (const auto& [name, place] : transports.items()) {
    if (!place.contains("connections")) continue;
    std::printf("%-11s %s connection%s\n", name.c_str(), place["connections"].dump().c_str(),
                place["connections"] == 1 ? "" : "s");
  }
  if (version.empty()) std::printf("To find out more: rkllm-mcp doctor\n");
  return kExitOk;
}

int print_loaded(ServerLink& server, bool json) {
  const Json handles = loaded_models(server.health());
  if (json) {
    print_json(handles);
    return kExitOk;
  }
  if (handles.empty()) {
    std::printf("No model is loaded. Load one: rkllm-mcp load NAME\n");
    return kExitOk;
  }
  std::vector<Row> rows{{"HANDLE", "MODEL", "STATE", "WAITING", "TOKENS/S", "FIRST TOKEN MS", "PROCESS"}};
  for (const Json& each : handles) {
    rows.push_back({text_at(each, "handle"), text_at(each, "name"), each.value("running", false) ? "running" : "idle",
                    text_at(each, "queued"), rounded(each, "tokens_per_second"),
                    rounded(each, "time_to_first_token_ms"), text_at(each, "process")});
  }
  print_table(rows);
  return kExitOk;
}

// "1.2 GB"; "-" if it is not known.
std::string shown_size(const Json& bytes) {
  return bytes.is_number() ? shown_bytes(bytes.get<std::int64_t>()) : std::string("-");
}

// Of a file of this machine; null of others.
Json size_of(const std::string& path) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(path, error);
  return error ? Json(nullptr) : Json(bytes);
}

bool is_loaded(const Json& handles, const std::string& path) {
  return std::any_of(handles.begin(), handles.end(),
                     [&path](const Json& each) { return text_at(each, "path") == path; });
}

// What the server serves by name beside what is known already; a handle is one of those that are loaded. A server
// without a chat host offers nothing.
void add_offered(ServerLink& server, const Json& handles, Json& models) {
  Json offered;
  try {
    offered = server.get("/v1/models").value("data", Json::array());
  } catch (const ServerRefuses&) {
    return;
  }
  for (const Json& each : offered) {
    const std::string name = text_at(each, "id");
    const Json facts = each.value("rkllm", Json::object());
    const auto is_it = [&name](const Json& model) {
      const std::filesystem::path path = text_at(model, "model");
      return path == name || path.filename() == name || path.stem() == name;
    };
    const auto is_handle = [&name](const Json& handle) { return text_at(handle, "handle") == name; };
    if (std::any_of(models.begin(), models.end(), is_it)) continue;
    if (std::any_of(handles.begin(), handles.end(), is_handle)) continue;
    models.push_back(Json{{"model", name},
                          {"bytes", facts.value("bytes", Json(nullptr))},
                          {"loaded", text_at(facts, "state") == "loaded"}});
  }
}

// What there is; a server that does not run has nothing loaded.
int print_models(ServerLink& server, bool json) {
  Json handles = Json::array();
  bool is_running = true;
  try {
    handles = loaded_models(server.health());
  } catch (const client::Unreachable&) {
    is_running = false;
    std::fprintf(stderr, "rkllm-mcp: no server runs at %s: nothing is loaded\n", server.url().c_str());
  }
  Json models = Json::array();
  for (const std::string& model : known_models(server.settings().models, server.settings().runtime.model_dirs)) {
    models.push_back(Json{{"model", model}, {"bytes", size_of(model)}, {"loaded", is_loaded(handles, model)}});
  }
  for (const Json& each : handles) {
    const std::string path = text_at(each, "path", "");
    const auto is_it = [&path](const Json& model) { return model["model"] == path; };
    if (!path.empty() && std::none_of(models.begin(), models.end(), is_it)) {
      models.push_back(Json{{"model", path}, {"bytes", size_of(path)}, {"loaded", true}});
    }
  }
  if (is_running) add_offered(server, handles, models);
  if (json) {
    print_json(models);
    return kExitOk;
  }
  if (models.empty()) {
    std::printf("No models. Name their folders in runtime.model_dirs (rkllm-mcp settings path tells where).\n");
    return kExitOk;
  }
  std::vector<Row> rows{{"MODEL", "SIZE", "LOADED"}};
  for (const Json& each : models) {
    rows.push_back({text_at(each, "model"), shown_size(each["bytes"]), each["loaded"].get<bool>() ? "yes" : "no"});
  }
  print_table(rows);
  return kExitOk;
}

// The file that is meant: one in the folders of the settings by its name, with or without ending; one of this machine
// by its path, which the server's own folder would not lead to; else as it was said.
std::string file_for(const Settings& settings, const std::string& name) {
  for (const std::string& each : known_models(settings.models, settings.runtime.model_dirs)) {
    const std::filesystem::path path = each;
    if (path.has_parent_path() && (path.filename() == name || path.stem() == name)) return each;
  }
  std::error_code error;
  if (std::filesystem::exists(name, error)) return std::filesystem::absolute(name).lexically_normal().string();
  return name;
}

// The file of a preset, as the settings have it; empty if they name none.
std::string path_of_preset(const Json& preset) {
  const Json param = preset.is_object() ? preset.value("param", Json()) : Json();
  return param.is_object() ? text_at(param, "model_path", "") : std::string();
}

int load(ServerLink& server, const StateOptions& options) {
  const bool is_preset = server.settings().models.contains(options.model);
  const Json params = is_preset ? Json{{"model", options.model}}
                                : Json{{"param", {{"model_path", file_for(server.settings(), options.model)}}}};
  Json result;
  try {
    const LoadProgressLine progress(server, is_preset ? path_of_preset(server.settings().models[options.model])
                                                      : text_at(params["param"], "model_path"));
    result = server.call("rkllm_init", params);
  } catch (const ServerRefuses& refusal) {
    if (std::string_view(refusal.what()).find("token") != std::string_view::npos) throw;  // of access
    throw ServerRefuses(refusal.status(), std::string(refusal.what()) + "; what there is: rkllm-mcp models");
  }
  if (options.json) {
    print_json(result);
  } else {
    std::printf("%s is loaded: handle %s. Talk to it: rkllm-mcp chat\n", options.model.c_str(),
                text_at(result, "handle").c_str());
  }
  return kExitOk;
}

// A handle, the path of a model, or its name: the file's, with or without its ending.
bool is_meant(const Json& handle, const std::string& name) {
  const std::filesystem::path path = text_at(handle, "path", "");
  return text_at(handle, "handle") == name || path == name || path.filename() == name || path.stem() == name;
}

int unload(ServerLink& server, const StateOptions& options) {
  std::vector<std::string> meant;
  std::string loaded;
  for (const Json& each : loaded_models(server.health())) {
    if (is_meant(each, options.model)) meant.push_back(text_at(each, "handle"));
    loaded += (loaded.empty() ? "" : ", ") + text_at(each, "handle") + " (" + text_at(each, "name") + ")";
  }
  if (meant.size() != 1) {
    std::fprintf(stderr, "rkllm-mcp: %s %s; loaded: %s\n", options.model.c_str(),
                 meant.empty() ? "is not loaded" : "is loaded more than once: name the handle",
                 loaded.empty() ? "nothing" : loaded.c_str());
    return kExitFailed;
  }
  const Json result = server.call("rkllm_destroy", Json{{"handle", meant.front()}});
  if (options.json) {
    print_json(result);
  } else {
    std::printf("%s is unloaded.\n", options.model.c_str());
  }
  return kExitOk;
}

}  // namespace

int run_state(const StateOptions& options, const SettingsRequest& request) {
  ServerLink server(options.remote, request);
  switch (options.action) {
    case StateOptions::Action::kStatus: return print_status(server, options.json);
    case StateOptions::Action::kLoaded: return print_loaded(server, options.json);
    case StateOptions::Action::kModels: return print_models(server, options.json);
    case StateOptions::Action::kLoad: return load(server, options);
    case StateOptions::Action::kUnload: return unload(server, options);
  }
  return kExitFailed;
}

}  // namespace rkllm_mcp
