#include "cli/run_command.hpp"

#include "cli/help/terminal.hpp"
#include "cli/people/offered_models.hpp"
#include "cli/people/server_link.hpp"
#include "models/model_files.hpp"
#include "pull/part_file.hpp"
#include "text/shown.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp {
namespace {

// Called with what was deleted: the name as it was given, and the model; null: an unfinished pull.
using RemovedFunction = std::function<void(const std::string& name, const OfferedModel* model)>;

// The model of that name, if it may be deleted; null: there is none.
const OfferedModel* model_to_remove(const OfferedModels& offered, const std::string& name) {
  const OfferedModel* const model = offered.find(name);
  if (model == nullptr) return nullptr;
  if (std::ranges::find(model->aliases, name) != model->aliases.end()) {
    throw std::runtime_error(name + " is another name of " + model->name +
                             ": models are deleted by the name of their file");
  }
  if (model->is_loaded)
    throw std::runtime_error(model->name + " is loaded; first: rkllm-mcp unload " + shell_word(model->name) +
                             offered.where);
  return model;
}

struct Meant {
  std::string name;           // as it was said
  const OfferedModel* model;  // null: perhaps the beginning of one
};

// What these names mean, each thing once, whatever it is called by: a, a.rkllm. Beginnings first.
std::vector<Meant> meant_by(const std::vector<std::string>& names, const OfferedModels& offered) {
  std::vector<Meant> all;
  for (const std::string& name : names) {
    const OfferedModel* const model = model_to_remove(offered, name);
    const bool is_said_twice = std::ranges::any_of(all, [&](const Meant& each) {
      return each.model == model && (model != nullptr || file_of_model(each.name) == file_of_model(name));
    });
    if (!is_said_twice) all.push_back({name, model});
  }
  std::stable_partition(all.begin(), all.end(), [](const Meant& each) { return each.model == nullptr; });
  return all;
}

void ask_to_delete(ServerLink& server, const OfferedModels& offered, std::span<const Meant> all) {
  Json sent = Json::array();
  for (const auto& [name, model] : all) sent.push_back(model != nullptr ? model->name : name);
  try {
    server.send("DELETE", "/api/delete", sent.size() == 1 ? Json{{"model", sent[0]}} : Json{{"models", sent}});
  } catch (const ServerRefuses& refusal) {
    if (refusal.status() != 404) throw;
    for (const auto& [name, model] : all) {
      const bool is_it = std::string_view(refusal.what()).find("'" + name + "'") != std::string_view::npos;
      if (model == nullptr && is_it) throw std::runtime_error(offered.no_such_model(name));
    }
    throw;
  }
}

// Deletes what the server has, and nothing of this machine's. A name that it does not list may be that of an unfinished
// pull. Sends all names together, so that nothing is deleted if one is wrong; if the server refuses that, since its
// version is older and takes one name only, sends one after the other.
void remove_from_server(ServerLink& server, const OfferedModels& offered, const std::vector<std::string>& names,
                        const RemovedFunction& removed) {
  if (!offered.has_chat) {
    throw std::runtime_error(server.url() +
                             " deletes no models: it runs with chat.enabled=false. On its machine: rkllm-mcp rm, "
                             "without --to");
  }
  const std::vector<Meant> all = meant_by(names, offered);
  try {
    ask_to_delete(server, offered, all);
  } catch (const ServerRefuses& refusal) {
    const bool takes_one_alone = std::string_view(refusal.what()) == "model: missing";
    if (all.size() == 1 || !takes_one_alone) throw;
    for (const Meant& each : all) {
      ask_to_delete(server, offered, {&each, 1});
      removed(each.name, each.model);
    }
    return;
  }
  for (const auto& [name, model] : all) removed(name, model);
}

void remove_from_settings(const Settings& settings, const OfferedModels& known, const std::vector<std::string>& names,
                          const RemovedFunction& removed) {
  const std::vector<Meant> all = meant_by(names, known);
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<PartFile>> beginnings;
  for (const auto& [name, model] : all) {
    if (model != nullptr && (settings.models.contains(model->name) || !model->path.ends_with(".rkllm"))) {
      throw std::runtime_error(model->name + " is no .rkllm file in a folder of runtime.model_dirs");
    }
    if (model != nullptr) {
      paths.push_back(model->path);
      continue;
    }
    auto found = unfinished_pulls(model_folders(settings.runtime.model_dirs), name);
    if (found.empty()) throw std::runtime_error(known.no_such_model(name));
    std::ranges::move(found, std::back_inserter(beginnings));
  }
  delete_models(paths, beginnings);
  for (const auto& [name, model] : all) removed(name, model);
}

}  // namespace

int run_remove(const RemoveOptions& options, const SettingsRequest& request) {
  ServerLink server(options.remote, request);
  Json all = Json::array();
  const auto removed = [&](const std::string& name, const OfferedModel* model) {
    all.push_back(Json{{"model", model != nullptr ? model->name : name},
                       {"path", model != nullptr ? Json(model->path) : Json(nullptr)},
                       {"bytes", model != nullptr ? model->bytes : Json(nullptr)},
                       {"unfinished", model == nullptr}});
    if (options.json) return;
    if (model == nullptr) {
      std::printf("%s: what an unfinished pull has left is deleted\n", name.c_str());
    } else {
      std::printf("%s is deleted (%s%s)\n", model->name.c_str(), model->path.c_str(),
                  model->bytes.is_number() ? (", " + shown_bytes(model->bytes.get<std::int64_t>())).c_str() : "");
    }
  };
  try {
    const auto offered = offered_where_one_runs(server, options.remote);
    if (offered && (offered->has_chat || !options.remote.to.empty())) {
      remove_from_server(server, *offered, options.models, removed);
    } else {
      const OfferedModels known = offered ? *offered : models_of_settings(server.settings(), server.settings_options());
      remove_from_settings(server.settings(), known, options.models, removed);
    }
  } catch (const std::exception&) {
    if (options.json && !all.empty()) print_json(all);  // these are gone
    throw;
  }
  if (options.json) print_json(all);
  return kExitOk;
}

}  // namespace rkllm_mcp
