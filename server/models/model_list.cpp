#include "models/model_list.hpp"

#include "chat/templates/family.hpp"
#include "json_members.hpp"
#include "model_name.hpp"

#include <utility>

namespace rkllm_mcp {
namespace {

chat::Pooling pooling_of(const std::string& word) {
  if (word == "mean") return chat::Pooling::kMean;
  return word == "cls" ? chat::Pooling::kFirst : chat::Pooling::kLast;
}

NamedModel preset_model(const std::string& name, const Json& preset) {
  NamedModel model;
  model.name = name;
  model.is_preset = true;
  model.param = preset.value("param", Json::object());
  model.path = text_in(model.param, "model_path");
  model.template_name = text_in(preset, "template");
  const Json embeddings = preset.value("embeddings", Json::object());
  model.pooling = pooling_of(text_in(embeddings, "pooling"));
  model.suffix = text_in(embeddings, "suffix");
  if (const auto seconds = number_in(preset, "keep_alive_s")) {
    model.keep_alive = chat::KeepAlive{*seconds < 0, *seconds < 0 ? 0 : *seconds};
  }
  return model;
}

}  // namespace

Json param_of(const NamedModel& model) {
  constexpr const char* kHides = "skip_special_token";
  Json param = model.param;
  const chat::Family* const family = chat::family_of_model(model.template_name, model.path);
  const bool is_silent = !param.contains(kHides) || param[kHides].is_null();
  if (family != nullptr && family->calls_are_special && is_silent) param[kHides] = false;
  return param;
}

void warn_of_unknown_template(spdlog::logger& log, const NamedModel& model) {
  if (chat::family_of_model(model.template_name, model.path) != nullptr) return;
  log.warn(
      "model {}: its template is not known{}, so chat clients have answers to single messages only, without history, "
      "system text and tools; models.{}.template in the settings names its family",
      model.name, model.template_name.empty() ? " by its file's name" : "", model.name);
}

void ModelList::set_presets(const Json& models) {
  presets_ = models;
  gather();
}

void ModelList::set_files(std::vector<ModelFile> files) {
  files_ = std::move(files);
  gather();
}

void ModelList::set_preset_files(std::map<std::string, ModelFile> files) {
  preset_files_ = std::move(files);
  gather();
}

void ModelList::gather() {
  models_.clear();
  for (const auto& [name, preset] : presets_.items()) {
    NamedModel model = preset_model(name, preset);
    if (const auto file = preset_files_.find(model.path); file != preset_files_.end()) {
      model.bytes = file->second.bytes;
      model.modified_s = file->second.modified_s;
      if (model.template_name.empty()) model.template_name = file->second.template_name;
    }
    models_.insert_or_assign(name, std::move(model));
  }
  for (const ModelFile& file : files_) {
    NamedModel model;
    model.name = file.name;
    model.path = file.path;
    model.param = Json{{"model_path", file.path}};
    model.bytes = file.bytes;
    model.modified_s = file.modified_s;
    model.template_name = file.template_name;
    models_.emplace(file.name, std::move(model));
  }
}

const NamedModel* ModelList::find(std::string_view name) const {
  const auto find_exactly = [this](std::string_view exact) {
    const auto found = models_.find(std::string(exact));
    return found == models_.end() ? nullptr : &found->second;
  };
  const NamedModel* const model = find_exactly(name);
  return model != nullptr ? model : find_exactly(without_latest(name));
}

std::vector<std::string> ModelList::names() const {
  std::vector<std::string> names;
  for (const auto& [name, model] : models_) names.push_back(name);
  return names;
}

std::vector<std::string> ModelList::preset_paths() const {
  std::vector<std::string> paths;
  for (const auto& [name, model] : models_) {
    if (model.is_preset && !model.path.empty()) paths.push_back(model.path);
  }
  return paths;
}

}  // namespace rkllm_mcp
