#include "app/runtime/preset_fields.hpp"

#include "library/loaded_library.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <string>

namespace rkllm_mcp {
namespace {

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
    for (const Json& schema : schemas) {
      for (const auto& property : schema["properties"].items()) known.push_back(property.key());
    }
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
  const std::vector<Json> of_param = schemas_of("param", schemas);
  for (const auto& [name, model] : models.items()) {
    look_for_unknown_fields(model.value("param", Json::object()), of_param, "models." + name + ".param", complaints);
  }
  return complaints;
}

}  // namespace rkllm_mcp
