#include "app/description/api_resources.hpp"

#include "jsonrpc/envelope.hpp"
#include "mcp/tools/method_tools.hpp"

#include <array>
#include <optional>
#include <utility>

namespace rkllm_mcp {
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
  const Method* const method = find_method(abi.methods, function["name"].get_ref<const std::string&>());
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
