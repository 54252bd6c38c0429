#include "cli/people/first_model.hpp"

#include "client/connection.hpp"
#include "text/shell_word.hpp"

#include <filesystem>
#include <system_error>

namespace rkllm_mcp {
namespace {

constexpr const char* kShipped = "rk3588-1.5b.json";

bool is_simulated(ServerLink& server) {
  try {
    const Json health = server.get("/health");
    if (health.contains("runtime")) return health["runtime"].value("simulated", false);
  } catch (const ServerRefuses&) {
    // It does not tell everybody.
  } catch (const client::ConnectionError&) {
    // It does not run.
  }
  return server.settings().runtime.library == kSimulatorLibrary;
}

}  // namespace

std::optional<std::string> model_of_simulator() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* const folder : {"../share/rkllm_sim/models", "../../../simulator/models"}) {
    const auto file = (program / folder / kShipped).lexically_normal();
    if (std::filesystem::exists(file, error)) return file.string();
  }
  return std::nullopt;
}

std::string words_of_first_model(ServerLink& server) {
  if (!is_simulated(server)) {
    return "Fetch one: rkllm-mcp pull hf.co/OWNER/NAME; load one: rkllm-mcp load FILE.rkllm" + server.where() +
           "; or name folders with .rkllm files in runtime.model_dirs (rkllm-mcp settings path tells in which file)";
  }
  const auto file = server.is_on_this_machine() ? model_of_simulator() : std::nullopt;
  return "Load one of the simulator's: rkllm-mcp load " +
         (file ? shell_word(*file) : "FOLDER/" + std::string(kShipped)) + server.where() +
         (file ? "" : ", with the folder share/rkllm_sim/models of its installation");
}

}  // namespace rkllm_mcp
