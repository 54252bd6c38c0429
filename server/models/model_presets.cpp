#include "models/model_presets.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr const char* kModel = "model";
constexpr const char* kParam = "param";

std::vector<std::string> names_of(const Json& models) {
  std::vector<std::string> names;
  for (const auto& entry : models.items()) names.push_back(entry.key());
  return names;
}

[[noreturn]] void refuse(const Json& models, const std::string& name) {
  constexpr std::size_t kLongestQuoted = 60;
  constexpr std::size_t kMostListed = 20;
  const std::vector<std::string> names = names_of(models);
  std::string text = name.size() > kLongestQuoted ? "no such preset" : "no preset \"" + name + "\"";
  text += did_you_mean(name, names) + (names.empty() ? " (the settings have none: models" : " (there are ");
  for (std::size_t at = 0; at < std::min(names.size(), kMostListed); ++at) text += (at == 0 ? "" : ", ") + names[at];
  if (names.size() > kMostListed) text += ", …";
  throw InvalidParams("params.model", text + "; a file is named in params.param.model_path)");
}

// Fields of `over` go before those of `under`, inside objects that both have, too.
Json laid_over(Json under, Json over) {
  if (!under.is_object() || !over.is_object()) return over;
  for (auto& [key, value] : over.items()) {
    Json& place = under[key];
    place = laid_over(std::move(place), std::move(value));
  }
  return under;
}

}  // namespace

Json with_preset(const Json& models, Json params) {
  const auto name = params.find(kModel);
  if (name == params.end()) return params;
  if (name->is_null()) {
    params.erase(name);
    return params;
  }
  if (!name->is_string()) throw InvalidParams("params.model", "expected string");
  const auto preset = models.find(name->get<std::string>());
  if (preset == models.end()) refuse(models, name->get<std::string>());
  params.erase(name);
  Json fields = preset->value(kParam, Json::object());
  const auto own = params.find(kParam);
  params[kParam] = own == params.end() || own->is_null() ? std::move(fields) : laid_over(std::move(fields), *own);
  return params;
}

void offer_presets(mcp::Catalogue& catalogue, std::span<const Method> methods, const Json& models) {
  if (models.empty()) return;
  const Method* const init = find_method(methods, HandleRole::kCreates);
  for (auto& listed : catalogue.tools) {
    if (init == nullptr || listed->name != init->name) continue;
    mcp::Tool tool = *listed;
    tool.input_schema["properties"][kModel] = {
        {"type", "string"},
        {"enum", names_of(models)},
        {"description", "A preset of this server; fields in param go before its own."}};
    Json required = Json::array();
    for (const Json& name : tool.input_schema.value("required", Json::array())) {
      if (name != kParam) required.push_back(name);
    }
    tool.input_schema.erase("required");
    if (!required.empty()) tool.input_schema["required"] = std::move(required);
    listed = Immutable(std::move(tool));
  }
}

}  // namespace rkllm_mcp
