#include "cli/run_command.hpp"

#include "cli/help/terminal.hpp"
#include "cli/people/first_model.hpp"
#include "cli/people/load_commands.hpp"
#include "cli/people/offered_models.hpp"
#include "cli/people/server_link.hpp"
#include "cli/serve_options.hpp"
#include "client/connection.hpp"
#include "json_members.hpp"
#include "text/shown.hpp"
#include "text/utf8.hpp"

#include <rkllm_mcp/errors.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace rkllm_mcp {
namespace {

using Row = std::vector<std::string>;

// The first row is the heads.
void print_table(const std::vector<Row>& rows) {
  const Paint paint(STDOUT_FILENO);
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t at = 0; at < row.size(); ++at) widths[at] = std::max(widths[at], characters_in(row[at]));
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t at = 0; at < row.size(); ++at) {
      line += row[at];
      if (at + 1 < row.size()) line += std::string(widths[at] + 2 - characters_in(row[at]), ' ');
    }
    std::printf("%s\n", &row == &rows.front() ? paint.bold(line).c_str() : line.c_str());
  }
}

std::string shown_time(long long seconds) {
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min";
  return std::to_string(seconds / 3600) + " h";
}

std::string rounded(const Json& object, const char* key) {
  const auto number = number_in(object, key);
  if (!number) return "-";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", *number);
  return text.data();
}

Json loaded_models(const Json& health) { return health.value("models", Json::array()); }

// How a model comes to be loaded: one that the server offers, or the first of all.
std::string words_of_loading(ServerLink& server) {
  std::string load = "Load one: rkllm-mcp load NAME" + server.where();
  try {
    const OfferedModels offered = offered_models(server);
    if (offered.all.empty()) return words_of_first_model(server, offered);
  } catch (const ServerRefuses&) {
    return load;  // an older server, say: what was asked for is there all the same
  } catch (const client::ConnectionError&) {
    return load;  // it is ending
  }
  return load + "; rkllm-mcp models" + server.where() + " names them";
}

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
              (handles.empty() ? ". " + words_of_loading(server) : "; more: rkllm-mcp ps" + server.where()).c_str());
  const Json transports = health.value("transports", Json::object());  // named: items() refers to it
  for (const auto& [name, place] : transports.items()) {
    if (!place.contains("connections")) continue;
    std::printf("%-11s %s connection%s\n", name.c_str(), place["connections"].dump().c_str(),
                place["connections"] == 1 ? "" : "s");
  }
  if (version.empty()) {
    std::printf("To find out more%s: rkllm-mcp doctor%s\n",
                is_on_this_machine(server.place()) ? "" : ", on the server's machine",
                server.is_of_settings() ? server.settings_options().c_str() : "");
  }
  return kExitOk;
}

int print_loaded(ServerLink& server, bool json) {
  const Json handles = loaded_models(server.health());
  if (json) {
    print_json(handles);
    return kExitOk;
  }
  if (handles.empty()) {
    std::printf("No model is loaded. %s\n", words_of_loading(server).c_str());
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

// What the server has; where none runs what it would have, by the settings of this machine.
OfferedModels models_to_show(ServerLink& server, const StateOptions& options) {
  if (auto offered = offered_where_one_runs(server, options.remote)) return *std::move(offered);
  std::fprintf(stderr,
               "rkllm-mcp: no server runs at %s: these are the models that this machine's settings name, and none is "
               "loaded\n",
               server.url().c_str());
  return models_of_settings(server.settings(), server.settings_options());
}

int print_models(ServerLink& server, const StateOptions& options) {
  const OfferedModels models = models_to_show(server, options);
  if (options.json) {
    Json all = Json::array();
    for (const OfferedModel& each : models.all) {
      all.push_back(Json{{"model", each.name},
                         {"path", each.path.empty() ? Json(nullptr) : Json(each.path)},
                         {"bytes", each.bytes},
                         {"loaded", each.is_loaded}});
    }
    print_json(all);
    return kExitOk;
  }
  if (models.all.empty()) {
    std::printf("No models. %s\n", words_of_first_model(server, models).c_str());
    return kExitOk;
  }
  std::vector<Row> rows{{"MODEL", "SIZE", "LOADED", "FILE"}};
  for (const OfferedModel& each : models.all) {
    rows.push_back({each.name, shown_size(each.bytes), each.is_loaded ? "yes" : "no",
                    !each.is_profile    ? each.path
                    : each.path.empty() ? "a profile"
                                        : "a profile, of " + each.path});
  }
  print_table(rows);
  return kExitOk;
}

// A load by name is no call of JSON-RPC, so that its refusal has no code: then the server's health tells.
bool lacks_runtime(ServerLink& server, const ServerRefuses& refusal) {
  if (refusal.code() != 0) return refusal.code() == static_cast<int>(ErrorCode::kRuntimeUnavailable);
  if (refusal.status() < 500) return false;
  try {
    const Json health = server.health();
    return health.contains("runtime") && text_at(health["runtime"], "version", "").empty();
  } catch (const ServerRefuses&) {
    return false;
  } catch (const client::ConnectionError&) {
    return false;
  }
}

// Without a runtime nothing can be loaded, and the server's words name settings alone.
int load_or_propose(ServerLink& server, const StateOptions& options) {
  try {
    return load_model(server, options);
  } catch (const ServerRefuses& refusal) {
    if (!lacks_runtime(server, refusal)) throw;
    throw std::runtime_error(std::string(refusal.what()) + "; rkllm-mcp doctor" +
                             (server.is_of_settings() ? server.settings_options() : "") +
                             " says more; on a PC without a board: rkllm-mcp serve --simulator");
  }
}

}  // namespace

int run_state(const StateOptions& options, const SettingsRequest& request) {
  ServerLink server(options.remote, request);
  switch (options.action) {
    case StateOptions::Action::kStatus: return print_status(server, options.json);
    case StateOptions::Action::kLoaded: return print_loaded(server, options.json);
    case StateOptions::Action::kModels: return print_models(server, options);
    case StateOptions::Action::kLoad: return load_or_propose(server, options);
    case StateOptions::Action::kUnload: return unload_models(server, options);
  }
  return kExitFailed;
}

}  // namespace rkllm_mcp
