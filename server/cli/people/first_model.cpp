#include "cli/people/first_model.hpp"

#include "app/runtime_search.hpp"
#include "backend/program_folders.hpp"
#include "cli/serve_options.hpp"
#include "client/connection.hpp"
#include "client/http/http_round_trip.hpp"
#include "jsonrpc/bounded_json.hpp"
#include "text/shell_word.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace rkllm_mcp {
namespace {

constexpr const char* kShipped = "rk3588-1.5b.json";
constexpr std::size_t kLongestHealth = std::size_t{1} << 20U;

bool is_simulated(ServerLink& server) {
  try {
    const Json health = server.get("/health");
    if (health.contains("runtime")) return health["runtime"].value("simulated", Json()) == Json(true);  // null: none
  } catch (const ServerRefuses&) {
    // It does not tell everybody.
  } catch (const client::ConnectionError&) {
    // It does not run.
  }
  return finds_simulator(server.settings());
}

// Whoever has no access token is told less of the server's health than others. Where that cannot be learnt: whether one
// was given.
bool asks_for_token(client::Endpoint place) {
  constexpr std::chrono::seconds kPatience{2};
  constexpr int kUnauthorized = 401;
  const bool was_given = !std::exchange(place.token, {}).empty();
  int status = 0;
  std::string body;
  client::HttpRoundTrip(place, {kPatience, kPatience})
      .run(
          {"GET", "/health", {}},
          [&status](const client::HttpHead& head) {
            status = head.status;
            return true;
          },
          [&body](std::string_view bytes) {
            body += bytes;
            return body.size() < kLongestHealth;
          });
  if (status == kUnauthorized) return true;  // of a proxy, say
  const auto health = parse_bounded(body);
  if (!health || !health->is_object() || !health->contains("status")) return was_given;
  return !health->contains("models") && !health->contains("version");
}

}  // namespace

std::optional<std::string> model_of_simulator() {
  std::error_code error;
  for (const char* const folder : {"../share/rkllm_sim/models", "../../../simulator/models"}) {
    const auto file = (program_folder() / folder / kShipped).lexically_normal();
    if (std::filesystem::exists(file, error)) return file.string();
  }
  return std::nullopt;
}

std::string command_to_pull(const client::Endpoint& place, const std::string& model) {
  std::string command = "curl " + shell_word(place.url() + "/api/pull");
  if (!place.ca_file.empty()) command += " --cacert " + shell_word(place.ca_file);
  const bool is_token_asked_for = asks_for_token(place);
  if (is_token_asked_for) command += " -H \"Authorization: Bearer $RKLLM_MCP_TOKEN\"";
  command += " -d " + shell_word(Json{{"model", model}}.dump());
  return command + (is_token_asked_for
                        ? " (RKLLM_MCP_TOKEN: an access token of the file that auth.tokens of that server "
                          "names, with the permission admin)"
                        : "");
}

std::string words_of_first_model(ServerLink& server, const OfferedModels& offered) {
  if (is_simulated(server)) {
    const auto file = is_on_this_machine(server.place()) ? model_of_simulator() : std::nullopt;
    return "Load one of the simulator's: rkllm-mcp load " +
           (file ? shell_word(*file) : "FOLDER/" + std::string(kShipped)) + server.where() +
           (file ? "" : ", with the folder share/rkllm_sim/models of its installation");
  }
  const std::string load = "; load one: rkllm-mcp load FILE.rkllm" + server.where();
  const std::string name = "; or name folders with .rkllm files in runtime.model_dirs";
  if (server.is_of_settings()) {
    return "Fetch one: rkllm-mcp pull " + std::string(kAnyModel) + server.settings_options() + load + name +
           " (rkllm-mcp settings path" + server.settings_options() + " tells in which file)";
  }
  return (offered.has_chat ? "Have the server fetch one: " + command_to_pull(server.place(), kAnyModel)
                           : "Fetch one, on its machine: rkllm-mcp pull " + std::string(kAnyModel)) +
         load + name + " of its settings";
}

}  // namespace rkllm_mcp
