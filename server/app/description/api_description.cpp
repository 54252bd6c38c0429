#include "app/description/api_description.hpp"

#include "app/description/api_resources.hpp"
#include "app/description/prompts.hpp"
#include "backend/handle_resources.hpp"
#include "jsonrpc/envelope.hpp"
#include "models/model_files.hpp"
#include "version.hpp"
#include "watch/board.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp {
namespace {

// What a model should know before it uses the tools; sent by initialize and server/discover.
constexpr std::string_view kInstructions =
    "Rockchip's RKLLM runtime, one tool per C function. Call rkllm_init with "
    "{\"param\":{\"model_path\":\"/path/to/model.rkllm\"}} "
    "first; it returns a handle such as \"llm-1\", which may be left out of later calls while it is the only one. "
    "Generate with "
    "rkllm_run: {\"rkllm_input\":{\"prompt_input\":\"Hello\"}}. Free the model with rkllm_destroy. The resource "
    "rkllm://api documents every function, struct, enum and constant; rkllm://api/functions/{name} has the whole "
    "schemas "
    "of one, where the list of tools has short ones.";
// What a model should know where mcp.tools leaves the C functions out of the list of tools.
constexpr std::string_view kShortInstructions =
    "Each C function of Rockchip's RKLLM runtime is a tool, too, that is not listed; rkllm://api documents them.";

bool lists_functions(const Settings& settings) { return std::ranges::count(settings.mcp.tools, "api") > 0; }

}  // namespace

Api describe_api(const Runtime& runtime) {
  return {runtime.abi().methods, runtime.abi().facts, runtime.abi().elsewhere, runtime.version()};
}

mcp::Catalogue describe_server(const Runtime& runtime, const Settings& settings, std::function<Json()> report) {
  mcp::Catalogue catalogue;
  catalogue.name = settings.server.name;
  catalogue.title = std::string("RKLLM runtime") + (runtime.simulated() ? " (SIMULATED)" : "");
  catalogue.version = std::string(kProgramVersion);
  catalogue.instructions = std::string(lists_functions(settings) ? kInstructions : kShortInstructions);
  if (runtime.simulated())
    catalogue.instructions += " This server runs on a SIMULATED runtime: its answers are made up.";
  catalogue.offers_tasks = true;

  const auto handles = [&runtime] { return runtime.handles(); };
  const auto document = api_document(runtime.abi().version);
  add_api_resources(catalogue, runtime.abi(), document);
  catalogue.resources.push_back(
      {"rkllm://runtime", "runtime", "The runtime",
       "Which library serves, its version, whether it is simulated, and the board it runs on.", mcp::kJsonType,
       [&runtime] {
         Json status = runtime.status();
         status["board"] = board_description("/");
         return mcp::ResourceText{to_text(status)};
       }});
  catalogue.resources.push_back({"rkllm://settings", "settings", "The settings",
                                 "Every setting in force and where it comes from; secrets are hidden.", mcp::kJsonType,
                                 [report = std::move(report)] { return mcp::ResourceText{to_text(report())}; }});
  add_handle_resources(catalogue, handles);
  add_prompts(catalogue, {handles,
                          [&settings](std::string_view, const Json&) {
                            return known_models(settings.models, model_folders(settings.runtime.model_dirs));
                          },
                          settings.models, document, lists_functions(settings)});
  return catalogue;
}

}  // namespace rkllm_mcp
