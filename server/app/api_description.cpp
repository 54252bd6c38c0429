#include "app/api_description.hpp"

#include "app/api_documents.hpp"
#include "backend/handle_resources.hpp"
#include "version.hpp"

namespace rkllm_mcp {
namespace {

// What a model should know before it uses the tools; sent by initialize.
constexpr std::string_view kInstructions =
    "Rockchip's RKLLM runtime, one tool per C function. Call rkllm_init with "
    "{\"param\":{\"model_path\":\"/path/to/model.rkllm\"}} "
    "first; it returns a handle such as \"llm-1\", which may be left out of later calls while it is the only one. "
    "Generate with "
    "rkllm_run: {\"rkllm_input\":{\"prompt_input\":\"Hello\"}}. Free the model with rkllm_destroy. The resource "
    "rkllm://api "
    "documents every function, struct, enum and constant.";

}  // namespace

Api describe_api(const RuntimeHost& runtime, const std::string& name) {
  const std::string simulated = runtime.simulated() ? " (SIMULATED)" : "";
  Api api;
  api.name = name;
  api.title = "RKLLM runtime" + simulated;
  api.version = std::string(kProgramVersion);
  api.instructions = std::string(kInstructions);
  if (runtime.simulated()) api.instructions += " This server runs on a SIMULATED runtime: its answers are made up.";
  api.methods = runtime.abi().methods;
  api.facts = runtime.abi().facts;
  api.elsewhere = runtime.abi().elsewhere;
  api.api_version = runtime.version();
  const std::string_view document = api_document(runtime.abi().version);
  api.resources.push_back({"rkllm://api", "api", "RKLLM API " + std::string(runtime.abi().version),
                           "Functions, structs, enums and constants of the bound header, as JSON.", "application/json",
                           [document] { return std::string(document); }, document.size()});
  add_handle_resources(api, [&runtime] { return runtime.handles(); });
  return api;
}

}  // namespace rkllm_mcp
