// The models that have a name: presets of the settings (`models`), and files of runtime.model_dirs. A preset goes
// before a file of its name.
//
// Threads: none of its own, no locks; its owner's.
#pragma once

#include "chat/turn/model_seam.hpp"
#include "models/model_files.hpp"

#include <rkllm_mcp/json.hpp>

#include <spdlog/logger.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

struct NamedModel {
  std::string name{};
  std::string path{};    // as the preset has it, or of the file
  Json param = nullptr;  // of rkllm_init
  bool is_preset = false;
  std::string template_name{};  // models.NAME.template, or what a simulated model says; empty: the file's name tells
  chat::Pooling pooling = chat::Pooling::kLast;
  std::string suffix{};                         // behind each input of embeddings
  std::optional<chat::KeepAlive> keep_alive{};  // nothing: runtime.keep_alive_s
  std::optional<std::int64_t> bytes{};          // of the file
  std::optional<std::int64_t> modified_s{};
};

// What rkllm_init is given for it. A model of a family whose calls are marked by special tokens has to show them,
// unless its preset says otherwise.
Json param_of(const NamedModel& model);

// One line where its family is not known, so that only single messages of a user can be answered.
void warn_of_unknown_template(spdlog::logger& log, const NamedModel& model);

class ModelList {
 public:
  // `models` as in the settings.
  void set_presets(const Json& models);
  void set_files(std::vector<ModelFile> files);
  // The files that were found for presets, by the path that the preset has.
  void set_preset_files(std::map<std::string, ModelFile> files);

  // By its name, or "name:latest"; null if there is none. Holds until the list is changed.
  const NamedModel* find(std::string_view name) const;
  const std::map<std::string, NamedModel>& all() const { return models_; }
  std::vector<std::string> names() const;
  std::vector<std::string> preset_paths() const;

 private:
  void gather();

  Json presets_ = Json::object();
  std::vector<ModelFile> files_;
  std::map<std::string, ModelFile> preset_files_;
  std::map<std::string, NamedModel> models_;
};

}  // namespace rkllm_mcp
