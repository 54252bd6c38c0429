#include "app/api_resources.hpp"

#include "jsonrpc/envelope.hpp"

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
};
constexpr std::array<DocumentKind, 4> kDocumentKinds{
    DocumentKind{"functions", "function", "One function"}, DocumentKind{"structs", "struct", "One struct"},
    DocumentKind{"enums", "enum", "One enum"}, DocumentKind{"constants", "constant", "One constant"}};

std::vector<std::string> names_of(std::string_view document, const char* kind) {
  std::vector<std::string> names;
  const Json all = Json::parse(document);
  for (const Json& each : all[kind]) names.push_back(each["name"].get<std::string>());
  return names;
}

std::optional<ResourceText> find_entry(std::string_view document, const char* kind, std::string_view name) {
  const Json all = Json::parse(document);
  for (const Json& each : all[kind]) {
    if (each["name"] == name) return ResourceText{to_text(each)};
  }
  return std::nullopt;
}

}  // namespace

void add_api_resources(Catalogue& catalogue, std::string_view version, std::string_view document) {
  catalogue.resources.push_back({std::string(kApi), "api", "RKLLM API " + std::string(version),
                                 "Functions, structs, enums and constants of the bound header, as JSON.", kJsonType,
                                 [document] { return ResourceText{std::string(document)}; }, document.size()});
  for (const DocumentKind& kind : kDocumentKinds) {
    const std::string beginning = std::string(kApi) + "/" + kind.plural + "/";
    catalogue.templates.push_back(
        {beginning + "{name}",
         kind.singular,
         kind.title,
         "What rkllm://api has of it.",
         kJsonType,
         [document, beginning, &kind](std::string_view uri) -> std::optional<ResourceText> {
           if (!uri.starts_with(beginning)) return std::nullopt;
           return find_entry(document, kind.plural, uri.substr(beginning.size()));
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
