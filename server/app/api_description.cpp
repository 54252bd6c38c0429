#include "app/api_description.hpp"

#include "app/prompts.hpp"
#include "backend/handle_resources.hpp"
#include "jsonrpc/envelope.hpp"
#include "mcp/tools/method_tools.hpp"
#include "models/model_files.hpp"
#include "version.hpp"
#include "watch/board.hpp"

#include <algorithm>
#include <array>
#include <optional>
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

Api describe_api(const RuntimeHost& runtime) {
  return {runtime.abi().methods, runtime.abi().facts, runtime.abi().elsewhere, runtime.version()};
}

mcp::Catalogue describe_server(const RuntimeHost& runtime, const Settings& settings, std::function<Json()> report) {
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

namespace {

constexpr std::string_view kApi = "rkllm://api";

struct DocumentKind {
  const char* plural;  // as in the document and in addresses
  const char* singular;
  const char* title;
  const char* description;
};
constexpr const char* kEntry = "What rkllm://api has of it.";
constexpr std::array<DocumentKind, 4> kDocumentKinds{
    DocumentKind{"functions", "function", "One function",
                 "What rkllm://api has of it, and the whole JSON Schemas of its parameters and its result."},
    DocumentKind{"structs", "struct", "One struct", kEntry}, DocumentKind{"enums", "enum", "One enum", kEntry},
    DocumentKind{"constants", "constant", "One constant", kEntry}};

std::vector<std::string> names_of(std::string_view document, const char* kind) {
  std::vector<std::string> names;
  const Json all = Json::parse(document);
  for (const Json& each : all[kind]) names.push_back(each["name"].get<std::string>());
  return names;
}

// Everything about a function's parameters and result that JSON Schema can say; lists of tools say less.
void add_schemas(Json& function, const AbiSet& abi) {
  const Method* const method =
      find_method(abi.methods, [&](const Method& each) { return function["name"] == each.name; });
  if (method == nullptr) return;
  function["inputSchema"] = Json::parse(method->input_schema);
  function["outputSchema"] = Json::parse(method->output_schema);
  mcp::add_own_members(function["outputSchema"], *method);
}

std::optional<mcp::ResourceText> find_entry(const AbiSet& abi, std::string_view document, std::string_view kind,
                                            std::string_view name) {
  Json all = Json::parse(document);
  for (Json& each : all[std::string(kind)]) {
    if (each["name"] != name) continue;
    if (kind == "functions") add_schemas(each, abi);
    return mcp::ResourceText{to_text(each)};
  }
  return std::nullopt;
}

}  // namespace

void add_api_resources(mcp::Catalogue& catalogue, const AbiSet& abi, std::string_view document) {
  catalogue.resources.push_back({std::string(kApi), "api", "RKLLM API " + std::string(abi.version),
                                 "Functions, structs, enums and constants of the bound header, as JSON.",
                                 mcp::kJsonType, [document] { return mcp::ResourceText{std::string(document)}; },
                                 document.size()});
  for (const DocumentKind& kind : kDocumentKinds) {
    const std::string beginning = std::string(kApi) + "/" + kind.plural + "/";
    catalogue.templates.push_back(
        {beginning + "{name}",
         kind.singular,
         kind.title,
         kind.description,
         mcp::kJsonType,
         [document, beginning, &kind, &abi](std::string_view uri) -> std::optional<mcp::ResourceText> {
           if (!uri.starts_with(beginning)) return std::nullopt;
           return find_entry(abi, document, kind.plural, uri.substr(beginning.size()));
         },
         {{"name", [document, &kind](std::string_view, const Json&) { return names_of(document, kind.plural); }}}});
  }
}

std::vector<std::string> enumerators_of(std::string_view document, std::string_view enum_name) {
  std::vector<std::string> names;
  const Json all = Json::parse(document);
  for (const Json& each : all["enums"]) {
    if (each["name"] != enum_name) continue;
    for (const Json& enumerator : each["enumerators"]) names.push_back(enumerator["name"].get<std::string>());
  }
  return names;
}

}  // namespace rkllm_mcp
