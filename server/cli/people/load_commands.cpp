#include "cli/people/load_commands.hpp"

#include "cli/help/terminal.hpp"
#include "cli/people/first_model.hpp"
#include "cli/people/load_progress_line.hpp"
#include "cli/people/offered_models.hpp"
#include "cli/run_command.hpp"
#include "text/shown.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace rkllm_mcp {
namespace {

constexpr int kCallFailed = 4001;  // the code of: the library has refused

struct LoadedHandle {
  std::string handle{};
  std::string name{};
  std::string path{};
};

std::vector<LoadedHandle> loaded_handles(ServerLink& server) {
  std::vector<LoadedHandle> handles;
  const Json health = server.health();
  for (const Json& each : health.value("models", Json::array())) {
    handles.push_back({text_at(each, "handle"), text_at(each, "name"), text_at(each, "path", "")});
  }
  return handles;
}

// What the server's settings have in that place; null if it does not tell.
Json setting_of(ServerLink& server, const char* name) {
  try {
    return server.resource("rkllm://settings").at("values").at(name).at("value");
  } catch (const ServerRefuses&) {
    return nullptr;
  } catch (const Json::exception&) {
    return nullptr;
  }
}

// Loads it by rkllm_init, with the context of models that are loaded by name (runtime.default_context). If the library
// refuses that, as for a model that was built for a smaller context, loads it with the runtime's own.
Json init_file(ServerLink& server, const std::string& path) {
  Json param{{"model_path", path}};
  const Json context = setting_of(server, "runtime.default_context");
  if (!context.is_number_integer() || context.get<std::int64_t>() <= 0) {
    return server.call("rkllm_init", Json{{"param", param}});
  }
  Json with_context = param;
  with_context["max_context_len"] = context;
  try {
    return server.call("rkllm_init", Json{{"param", std::move(with_context)}});
  } catch (const ServerRefuses& refusal) {
    if (refusal.code() != kCallFailed) throw;
    return server.call("rkllm_init", Json{{"param", std::move(param)}});
  }
}

// Loads the model by its name, as chat clients do, and for ever: it stays until somebody unloads it. One that is loaded
// already is not loaded once more.
Json load_by_name(ServerLink& server, const OfferedModels& offered, const OfferedModel& model) {
  if (offered.has_chat) {
    server.send("POST", "/api/generate", Json{{"model", model.name}, {"keep_alive", -1}, {"stream", false}});
    return Json{{"status", 0}};
  }
  if (model.is_loaded) return Json{{"status", 0}, {"handle", model.handle}};
  const Json presets = setting_of(server, "models");
  if (presets.is_object() && presets.contains(model.name)) {
    return server.call("rkllm_init", Json{{"model", model.name}});
  }
  return init_file(server, model.path);
}

bool is_called(const LoadedHandle& handle, const std::string& name) {
  return handle.handle == name || handle.name == name;
}

bool is_of_file(const LoadedHandle& handle, const std::string& name) {
  const std::filesystem::path path = handle.path;
  return path == name || path.filename() == name || path.stem() == name;
}

// The path of the file to load. Of a file on this machine: its full path, since the server may run in another folder.
// Of another file, which the server may have: `name` itself. Nothing if `name` cannot be that of a file.
std::optional<std::string> file_meant_by(const std::string& name) {
  const std::filesystem::path path = name;
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) return std::filesystem::absolute(path).lexically_normal().string();
  const bool is_like_file = name.find('/') != std::string::npos || path.extension() == ".rkllm";
  return is_like_file ? std::optional(name) : std::nullopt;
}

struct Unloading {
  std::string name;  // as it was said
  const LoadedHandle* handle;
};

// All handles of the model that is meant: it may have a second one for embeddings. Throws std::runtime_error if there
// is none, or if the name means several models.
std::vector<const LoadedHandle*> handles_meant_by(const std::string& name, const std::vector<LoadedHandle>& handles,
                                                  ServerLink& server) {
  std::vector<const LoadedHandle*> meant;
  const auto take_all = [&](const auto& is_meant) {
    for (const LoadedHandle& each : handles) {
      if (is_meant(each)) meant.push_back(&each);
    }
  };
  take_all([&](const LoadedHandle& each) { return is_called(each, name); });  // what `ps` prints goes before files
  if (meant.empty()) take_all([&](const LoadedHandle& each) { return is_of_file(each, name); });
  OfferedModels offered;
  if (meant.empty()) {
    offered = offered_models(server);
    const OfferedModel* const model = offered.find(name);
    take_all([&](const LoadedHandle& each) {
      return model != nullptr && (each.handle == model->handle || each.name == model->name);
    });
  }
  const auto is_same_model = [&meant](const LoadedHandle* each) { return each->name == meant.front()->name; };
  if (!meant.empty() && std::ranges::all_of(meant, is_same_model)) return meant;
  std::string loaded;
  for (const LoadedHandle& each : handles) {
    loaded += (loaded.empty() ? "" : ", ") + each.handle + " (" + each.name + ")";
  }
  const bool is_known = !meant.empty() || offered.find(name) != nullptr;
  throw std::runtime_error(name + (meant.empty() ? " is not loaded" : " is loaded more than once: name the handle") +
                           (is_known ? "" : did_you_mean(name, offered.names())) +
                           "; loaded: " + (loaded.empty() ? "nothing" : loaded));
}

// " (handle llm-2)" where what was said means several.
std::string of_several(const std::vector<Unloading>& all, const std::string& name, const LoadedHandle& handle) {
  const auto said = std::ranges::count_if(all, [&](const Unloading& each) { return each.name == name; });
  return said > 1 ? " (handle " + handle.handle + ")" : "";
}

}  // namespace

int load_model(ServerLink& server, const StateOptions& options) {
  const OfferedModels offered = offered_models(server);
  const OfferedModel* model = offered.find(options.model);
  const auto file = file_meant_by(options.model);
  if (model == nullptr && file) model = offered.find(*file);
  if (model != nullptr && !model->is_loaded && !offered.has_chat) {
    // What rkllm_init has made of its file goes by another name.
    const auto same = std::ranges::find_if(
        offered.all, [model](const OfferedModel& each) { return each.is_loaded && each.path == model->path; });
    if (same != offered.all.end()) model = &*same;
  }
  if (model == nullptr && !file) {
    throw std::runtime_error(offered.all.empty() ? "there is no model " + options.model + ", nor any other. " +
                                                       words_of_first_model(server, offered, options.model)
                                                 : offered.no_such_model(options.model));
  }
  if (model != nullptr && model->is_profile) {
    throw std::runtime_error(model->name + " is a profile: its model is loaded by that one's name");
  }
  Json result;
  {
    const LoadProgressLine progress(server, model != nullptr ? model->name : *file);
    result = model != nullptr ? load_by_name(server, offered, *model) : init_file(server, *file);
  }
  // The server knows now which name and which handle the model has.
  std::string name = model != nullptr ? model->name : *file;
  for (const LoadedHandle& each : loaded_handles(server)) {
    const bool is_it = result.contains("handle") ? result["handle"] == Json(each.handle) : each.name == name;
    if (!is_it) continue;
    name = each.name;
    result["handle"] = each.handle;
    break;
  }
  result["model"] = name;
  if (options.json) {
    print_json(result);
  } else {
    std::printf("%s %s: handle %s. Talk to it: rkllm-mcp chat %s%s\n", name.c_str(),
                model != nullptr && model->is_loaded ? "was loaded already" : "is loaded",
                text_at(result, "handle").c_str(), shell_word(name).c_str(), server.where().c_str());
  }
  return kExitOk;
}

int unload_models(ServerLink& server, const StateOptions& options) {
  const auto handles = loaded_handles(server);
  std::vector<Unloading> all;
  for (const std::string& name : options.models) {
    for (const LoadedHandle* const meant : handles_meant_by(name, handles, server)) {
      const bool is_said_twice = std::ranges::any_of(all, [&](const Unloading& each) { return each.handle == meant; });
      if (!is_said_twice) all.push_back({name, meant});
    }
  }
  Json result{{"status", nullptr}, {"unloaded", Json::array()}};
  try {
    for (const auto& [name, handle] : all) {
      const Json destroyed = server.call("rkllm_destroy", Json{{"handle", handle->handle}});
      result["unloaded"].push_back(Json{{"model", handle->name}, {"handle", handle->handle}});
      if (handle == all.back().handle) result["status"] = destroyed.value("status", Json());
      if (!options.json) std::printf("%s is unloaded%s.\n", name.c_str(), of_several(all, name, *handle).c_str());
    }
  } catch (const std::exception&) {
    if (options.json && !result["unloaded"].empty()) print_json(result);  // these are gone
    throw;
  }
  if (options.json) print_json(result);
  return kExitOk;
}

}  // namespace rkllm_mcp
