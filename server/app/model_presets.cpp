#include "app/model_presets.hpp"

#include "backend/loaded_library.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/nearest_name.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <iterator>
#include <string>
#include <string_view>
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

// The schemas that one of several versions has for the member `key`.
std::vector<Json> schemas_of(const std::string& key, const std::vector<Json>& schemas) {
  std::vector<Json> found;
  for (const Json& schema : schemas) {
    const Json& properties = schema["properties"];
    if (const auto member = properties.find(key); member != properties.end()) found.push_back(*member);
  }
  return found;
}

void look_for_unknown_fields(const Json& value, const std::vector<Json>& schemas, const std::string& path,
                             std::vector<Complaint>& complaints) {
  const auto lists_members = [](const Json& schema) { return schema.contains("properties"); };
  if (!value.is_object() || schemas.empty() || !std::ranges::all_of(schemas, lists_members)) return;
  for (const auto& [key, member] : value.items()) {
    const std::vector<Json> of_key = schemas_of(key, schemas);
    if (!of_key.empty()) {
      look_for_unknown_fields(member, of_key, path + "." + key, complaints);
      continue;
    }
    std::vector<std::string> known;
    for (const Json& schema : schemas) std::ranges::copy(names_of(schema["properties"]), std::back_inserter(known));
    complaints.push_back({path + "." + key, "no version of the runtime has this field" + did_you_mean(key, known)});
  }
}

}  // namespace

std::vector<Complaint> unknown_preset_fields(const Json& models) {
  std::vector<Complaint> complaints;
  if (models.empty()) return complaints;
  std::vector<Json> schemas;  // of rkllm_init's parameters in each version
  for (const AbiSet* const set : abi_sets()) {
    if (const Method* const init = find_method(set->methods, HandleRole::kCreates)) {
      schemas.push_back(Json::parse(init->input_schema));
    }
  }
  const std::vector<Json> of_param = schemas_of(kParam, schemas);
  for (const auto& [name, model] : models.items()) {
    look_for_unknown_fields(model.value(kParam, Json::object()), of_param, "models." + name + "." + kParam, complaints);
  }
  return complaints;
}

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

Backend::CallId PresetBackend::start(CallRequest request) {
  if (request.method->handle != HandleRole::kCreates) return backend_().start(std::move(request));
  try {
    request.params = with_preset(models_(), std::move(request.params));
  } catch (const RpcError&) {
    asio::post(loop_, [observer = std::move(request.observer), error = std::current_exception()] {
      CallOutcome outcome;
      outcome.error = error;
      observer->on_done(std::move(outcome));
    });
    return 0;  // nothing waits that could be cancelled
  }
  return backend_().start(std::move(request));
}

}  // namespace rkllm_mcp
