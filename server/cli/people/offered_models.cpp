#include "cli/people/offered_models.hpp"

#include "app/from_settings.hpp"
#include "client/connection.hpp"
#include "model_name.hpp"
#include "models/model_files.hpp"
#include "models/model_list.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

namespace rkllm_mcp {
namespace {

namespace fs = std::filesystem;

// `facts`: the member "rkllm" of a row of /v1/models, or a row of rkllm://models.
OfferedModel offered_model(const std::string& name, const Json& facts) {
  OfferedModel model;
  model.name = name;
  const Json aliases = facts.value("aliases", Json::array());
  for (const Json& alias : aliases) model.aliases.push_back(alias.get<std::string>());
  model.path = text_at(facts, "path", "");
  model.handle = text_at(facts, "handle", "");
  model.bytes = facts.value(facts.contains("bytes") ? "bytes" : "size", Json(nullptr));
  model.is_loaded = text_at(facts, "state") == "loaded";
  model.is_profile = facts.value("profile", false);
  return model;
}

// The models of a server without a chat host.
OfferedModels models_of_resource(ServerLink& server) {
  OfferedModels offered;
  offered.where = server.where();
  offered.has_chat = false;
  const Json resource = server.resource("rkllm://models");
  for (const Json& each : resource.value("models", Json::array())) {
    offered.all.push_back(offered_model(text_at(each, "name"), each));
  }
  return offered;
}

}  // namespace

std::string text_at(const Json& object, const char* key, const std::string& otherwise) {
  if (!object.is_object() || !object.contains(key) || object[key].is_null()) return otherwise;
  return object[key].is_string() ? object[key].get<std::string>() : object[key].dump();
}

bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return one == other || fs::equivalent(one, other, error);
}

std::vector<std::string> OfferedModels::names() const {
  std::vector<std::string> names;
  for (const OfferedModel& each : all) names.push_back(each.name);
  return names;
}

const OfferedModel* OfferedModels::find(const std::string& name) const {
  const auto first = [this](const auto& is_it) {
    const auto found = std::ranges::find_if(all, is_it);
    return found == all.end() ? nullptr : &*found;
  };
  const auto is_one_of = [](const std::vector<std::string>& names, const std::string& each) {
    return std::ranges::find(names, each) != names.end();
  };
  for (const std::string& wanted : {name, std::string(without_latest(name))}) {
    if (const auto* const found = first([&](const auto& each) { return each.name == wanted; })) return found;
    if (const auto* const found = first([&](const auto& each) { return is_one_of(each.aliases, wanted); })) {
      return found;
    }
  }
  if (const auto* const found = first([&](const auto& each) { return !name.empty() && each.handle == name; })) {
    return found;
  }
  const bool is_bare = name.find('/') == std::string::npos;
  return first([&](const OfferedModel& each) {
    const fs::path path = each.path;
    if (path.empty() || each.is_profile) return false;
    return is_same_file(each.path, name) || (is_bare && (path.filename() == name || path.stem() == name));
  });
}

std::string OfferedModels::no_such_model(const std::string& name) const {
  std::vector<std::string> known = names();
  for (const OfferedModel& each : all) known.insert(known.end(), each.aliases.begin(), each.aliases.end());
  return "there is no model " + name + did_you_mean(name, known) + "\nWhat there is: rkllm-mcp models" + where;
}

OfferedModels models_to_chat_with(ServerLink& server) {
  OfferedModels offered;
  offered.where = server.where();
  const Json answer = server.get("/v1/models");
  const Json data = answer.is_object() ? answer.value("data", Json()) : Json();
  if (!data.is_array())
    throw client::ConnectionError(server.url() + "/v1/models lists no models: is this an rkllm-mcp server?");
  for (const Json& each : data) {
    if (!each.is_object()) continue;
    const Json facts = each.value("rkllm", Json());
    offered.all.push_back(offered_model(text_at(each, "id"), facts.is_object() ? facts : Json::object()));
  }
  return offered;
}

OfferedModels offered_models(ServerLink& server) {
  try {
    return models_to_chat_with(server);
  } catch (const ServerRefuses& refusal) {
    if (refusal.status() != 404) throw;
  }
  return models_of_resource(server);
}

std::optional<OfferedModels> offered_where_one_runs(ServerLink& server, const RemoteOptions& options) {
  try {
    return offered_models(server);
  } catch (const client::Unreachable&) {
    if (!options.to.empty()) throw;
    return std::nullopt;
  }
}

OfferedModels models_of_settings(const Settings& settings, const std::string& settings_options) {
  ModelList list;
  list.set_presets(settings.models);
  list.set_files(find_models(model_folders(settings.runtime.model_dirs),
                             finds_simulator(settings) ? SimulatedModels::kFound : SimulatedModels::kLeftOut)
                     .files);
  std::map<std::string, ModelFile> preset_files;
  for (const std::string& path : list.preset_paths()) {
    if (auto file = look_at_model(path)) preset_files.emplace(path, *std::move(file));
  }
  list.set_preset_files(std::move(preset_files));
  OfferedModels offered;
  offered.where = settings_options;
  for (const auto& [name, named] : list.all()) {
    OfferedModel model;
    model.name = name;
    model.path = named.path;
    if (named.bytes) model.bytes = *named.bytes;
    for (const auto& [alias, target] : settings.chat.aliases.items()) {
      if (target == Json(name)) model.aliases.push_back(alias);
    }
    offered.all.push_back(std::move(model));
  }
  return offered;
}

}  // namespace rkllm_mcp
