#include "models/known_models.hpp"

#include "backend/handle_resources.hpp"
#include "chat/templates/family.hpp"
#include "json_members.hpp"
#include "model_name.hpp"
#include "pull/model_file_name.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kMostKnownTemplates = 100;  // of simulated models

std::optional<std::string> platform_of(std::string_view path) { return chip_in_name(path.substr(path.rfind('/') + 1)); }

}  // namespace

KnownModels::KnownModels(asio::io_context& loop, spdlog::logger& log, const ModelRuntime& runtime, Choices choices,
                         Options options)
    : loop_(loop),
      log_(log),
      runtime_(runtime),
      choices_(std::move(choices)),
      options_(std::move(options)),
      reading_(loop) {
  list_.set_presets(choices_.presets);
}

void KnownModels::choose(Choices choices) {
  const bool has_other_aliases = choices.aliases != choices_.aliases;
  choices_ = std::move(choices);
  list_.set_presets(choices_.presets);
  options_.looked();
  if (has_other_aliases) options_.changed();
  look_again([] {});
}

struct KnownModels::Looked {
  FoundModels found;
  std::map<std::string, ModelFile> preset_files;
  std::map<std::string, std::optional<ModelFile>> handle_files;
};

void KnownModels::look_again(std::function<void()> then) {
  if (stopped_) return then();
  const auto looked = std::make_shared<Looked>();
  const auto simulated = runtime_.simulated ? SimulatedModels::kFound : SimulatedModels::kLeftOut;
  reading_.run(
      [looked, simulated, folders = choices_.model_dirs, paths = list_.preset_paths(), resolved = options_.resolved,
       handle_paths = unseen_handle_paths()] {
        looked->found = find_models(folders, simulated);
        const auto look_at = [&resolved](const std::string& path) -> std::optional<ModelFile> {
          try {
            return look_at_model(resolved(path));
          } catch (const std::exception&) {
            return std::nullopt;  // whoever loads it is told
          }
        };
        for (const std::string& path : paths) {
          if (auto file = look_at(path)) looked->preset_files.emplace(path, std::move(*file));
        }
        for (const std::string& path : handle_paths) looked->handle_files.emplace(path, look_at(path));
      },
      [this, looked, then = std::move(then)] {
        take(*looked);
        then();
      });
}

void KnownModels::take(Looked& looked) {
  for (const std::string& path : looked.found.hidden) {
    if (std::ranges::count(told_hidden_, path) > 0) continue;
    log_.warn("{} is left out: another file of runtime.model_dirs has its name", path);
    told_hidden_.push_back(path);
  }
  const auto before = list_.names();
  list_.set_files(std::move(looked.found.files));
  list_.set_preset_files(std::move(looked.preset_files));
  handle_files_.merge(looked.handle_files);
  options_.looked();
  if (before != list_.names()) options_.changed();
}

void KnownModels::refresh(std::function<void()> then) {
  constexpr std::chrono::seconds kOften{1};
  const bool is_fresh = looked_at_ && Clock::now() - *looked_at_ < kOften;
  if (stopped_ || (!looks_into_directories() && unseen_handle_paths().empty()))
    return asio::post(loop_, std::move(then));
  // `then` is called after a look that is still under way, so that it sees what that look finds.
  if (is_fresh && unseen_handle_paths().empty()) return reading_.run([] {}, std::move(then));
  looked_at_ = Clock::now();
  look_again(std::move(then));
}

const NamedModel* KnownModels::resolve(std::string_view name) const {
  if (const NamedModel* const model = list_.find(name)) return model;
  for (const std::string_view alias : {name, without_latest(name)}) {
    if (const auto found = choices_.aliases.find(std::string(alias)); found != choices_.aliases.end()) {
      return found->is_string() ? list_.find(found->get_ref<const std::string&>()) : nullptr;
    }
  }
  return nullptr;
}

const NamedModel* KnownModels::meant(std::string_view name) const {
  if (find_handle(name)) return nullptr;
  if (const NamedModel* const model = resolve(name)) return model;
  return choices_.any_model.empty() || is_model_path(name) ? nullptr : list_.find(choices_.any_model);
}

std::string KnownModels::handle_named(std::string_view name) const {
  if (runtime_.queue == nullptr) return {};
  if (runtime_.queue->use_of(std::string(name))) return std::string(name);
  const auto status = find_handle(name);
  return status ? status->id : std::string();
}

std::vector<KnownModels::Handle> KnownModels::handles() const {
  if (runtime_.queue == nullptr) return {};
  return runtime_.queue->handles();
}

bool KnownModels::has_own_name(const Handle& handle) const {
  return !handle.model.empty() ||
         std::ranges::any_of(autoloaded_, [&handle](const auto& each) { return each.second == handle.id; });
}

std::string KnownModels::name_of(const Handle& handle) const {
  for (const auto& [name, id] : autoloaded_) {
    if (id == handle.id) return name;
  }
  return name_of_handle(handle, handles(), [this](const std::string& name) {
    return list_.find(name) != nullptr || choices_.aliases.contains(name);
  });
}

std::string KnownModels::family_of(const Handle& handle) const {
  const chat::Family* const family = chat::family_of_model(template_of(handle), model_path_of(handle));
  return family == nullptr ? std::string() : family->name;
}

std::string KnownModels::file_of(const std::string& path) const {
  try {
    return options_.resolved(path);
  } catch (const std::exception&) {
    return {};  // whoever loads it is told
  }
}

std::vector<std::string> KnownModels::unseen_handle_paths() const {
  std::vector<std::string> paths;
  for (const auto& handle : handles()) {
    if (has_own_name(handle)) continue;
    if (std::string path = model_path_of(handle); !handle_files_.contains(path)) paths.push_back(std::move(path));
  }
  return paths;
}

Json KnownModels::as_presets() const {
  Json presets = choices_.presets;
  for (const auto& [name, model] : list_.all()) {
    presets[name]["param"] = param_of(model);
  }
  return presets;
}

std::optional<KnownModels::Handle> KnownModels::find_handle(std::string_view name) const {
  auto all = handles();
  auto found = std::ranges::find(all, name, &Handle::id);
  if (found == all.end()) {
    found = std::ranges::find_if(all, [this, name](const auto& each) {
      return !has_own_name(each) && model_name_of(each) == name && name_of(each) == name;
    });
  }
  return found == all.end() ? std::nullopt : std::optional(std::move(*found));
}

// For a model with a name, what its settings say. A simulated model's file is a few lines, which are read once.
const std::string& KnownModels::template_of(const Handle& handle) const {
  static const std::string kTheNameTells;
  const NamedModel* const model = has_own_name(handle) ? list_.find(name_of(handle)) : nullptr;
  if (model != nullptr) return model->template_name;
  if (!runtime_.simulated) return kTheNameTells;
  const std::string path = model_path_of(handle);
  const auto known = simulated_templates_.find(path);
  if (known != simulated_templates_.end()) return known->second;
  if (simulated_templates_.size() >= kMostKnownTemplates) simulated_templates_.clear();
  return simulated_templates_.emplace(path, simulated_template(path)).first->second;
}

chat::ModelDescription KnownModels::describe(const NamedModel& model) const {
  chat::ModelDescription description;
  description.name = model.name;
  description.path = model.path;
  description.bytes = model.bytes;
  description.modified_s = model.modified_s;
  description.template_name = model.template_name;
  description.platform = platform_of(model.path);
  for (const auto& [alias, target] : choices_.aliases.items()) {
    if (target == model.name) description.aliases.push_back(alias);
  }
  return description;
}

chat::ModelDescription KnownModels::describe(const Handle& handle) const {
  chat::ModelDescription description;
  description.name = name_of(handle);
  description.handle = handle.id;
  const Json param = handle.created_with.value("param", Json::object());
  description.path = param.value("model_path", std::string());
  description.template_name = template_of(handle);
  description.platform = platform_of(description.path);
  if (const auto context = integer_in(param, "max_context_len")) description.context = context;
  if (const auto file = handle_files_.find(description.path); file != handle_files_.end() && file->second) {
    description.bytes = file->second->bytes;
    description.modified_s = file->second->modified_s;
  }
  description.state = chat::ModelState::kLoaded;
  description.waiting = handle.queue.size() + (handle.running ? 1 : 0);
  return description;
}

void KnownModels::set_autoloaded(const std::string& name, const std::string& handle) {
  if (handle.empty()) {
    autoloaded_.erase(name);
  } else {
    autoloaded_.insert_or_assign(name, handle);
  }
}

std::optional<KnownModels::Handle> KnownModels::autoloaded(const NamedModel& model) const {
  const auto own = autoloaded_.find(model.name);
  if (own == autoloaded_.end()) return std::nullopt;
  auto all = handles();
  const auto found = std::ranges::find(all, own->second, &Handle::id);  // another one may have it as its name
  return found == all.end() ? std::nullopt : std::optional(std::move(*found));
}

void KnownModels::forget_autoloaded(const std::string& handle) {
  std::erase_if(autoloaded_, [&handle](const auto& each) { return each.second == handle; });
}

}  // namespace rkllm_mcp
