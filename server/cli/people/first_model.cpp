#include "cli/people/first_model.hpp"

#include "app/from_settings.hpp"
#include "cli/serve_options.hpp"
#include "client/connection.hpp"
#include "library/program_folders.hpp"
#include "text/shown.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr const char* kShipped = "rk3588-1.5b.json";

enum class RuntimeKind { kReal, kSimulated, kNone };

RuntimeKind runtime_of(ServerLink& server) {
  try {
    const Json health = server.get("/health");
    const Json runtime = health.is_object() ? health.value("runtime", Json()) : Json();
    if (runtime.is_object()) {
      if (runtime.value("state", Json()) == Json("gone")) return RuntimeKind::kNone;
      return runtime.value("simulated", Json()) == Json(true) ? RuntimeKind::kSimulated : RuntimeKind::kReal;
    }
  } catch (const ServerRefuses&) {
    // GET /health needs a token.
  } catch (const client::ConnectionError&) {
    // No server is running.
  }
  return finds_simulator(server.settings()) ? RuntimeKind::kSimulated : RuntimeKind::kReal;
}

// "\nBeside it: fast.json, …": the other models of its folder; nothing if there are none.
std::string words_of_others(const std::filesystem::path& shipped) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator each(shipped.parent_path(), error);
  for (; !error && each != std::filesystem::directory_iterator(); each.increment(error)) {
    const std::filesystem::path& file = each->path();
    if (file.extension() == ".json" && file.filename() != shipped.filename()) names.push_back(file.filename().string());
  }
  std::ranges::sort(names);
  std::string words;
  for (const std::string& name : names) words += (words.empty() ? "\nBeside it: " : ", ") + name;
  return words;
}

// The one of that name there, with or without its ending; else `shipped`.
std::string file_beside(const std::string& shipped, const std::string& wanted) {
  const std::filesystem::path folder = std::filesystem::path(shipped).parent_path();
  for (const std::string& name : {wanted, wanted + ".json"}) {
    std::error_code error;
    const bool is_name = !wanted.empty() && wanted.find('/') == std::string::npos;
    if (is_name && std::filesystem::is_regular_file(folder / name, error)) return (folder / name).string();
  }
  return shipped;
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

std::string words_of_first_model(ServerLink& server, const OfferedModels& offered, const std::string& wanted) {
  const RuntimeKind kind = runtime_of(server);
  if (kind == RuntimeKind::kSimulated) {
    auto file = is_on_this_machine(server.place()) ? model_of_simulator() : std::nullopt;
    if (file) file = file_beside(*file, wanted);
    return "Load one of the simulator's: rkllm-mcp load " +
           (file ? shell_word(*file) : "FOLDER/" + std::string(kShipped)) + server.where() +
           (file ? words_of_others(*file) : ", with the folder share/rkllm_sim/models of its installation");
  }
  std::string first;
  if (kind == RuntimeKind::kNone) {
    const bool is_here = is_on_this_machine(server.place());
    first = std::string("The server has no runtime, which models need: ") + (is_here ? "" : "on its machine, ") +
            "rkllm-mcp doctor" + (server.is_of_settings() ? server.settings_options() : "") + " says what to do. ";
  }
  const std::string load = "; load one: rkllm-mcp load FILE.rkllm" + server.where();
  const std::string name = "; or name folders with .rkllm files in runtime.model_dirs";
  if (server.is_of_settings()) {
    return first + "Fetch one: rkllm-mcp pull " + std::string(kAnyModel) + server.settings_options() + load + name +
           " (rkllm-mcp settings path" + server.settings_options() + " tells in which file)";
  }
  const std::string pull = "rkllm-mcp pull " + std::string(kAnyModel);
  return first +
         (offered.has_chat ? "Have the server fetch one: " + pull + server.where()
                           : "Fetch one, on its machine: " + pull) +
         load + name + " of its settings";
}

}  // namespace rkllm_mcp
