#include "models/server_models.hpp"

#include "backend/handle_resources.hpp"
#include "chat/templates/families.hpp"
#include "jsonrpc/failure.hpp"
#include "model_name.hpp"
#include "pull/model_chip.hpp"

#include <rkllm_mcp/nearest_name.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <system_error>

namespace rkllm_mcp {
namespace {

constexpr std::size_t kMostKnownTemplates = 100;  // of simulated models

using chat::ErrorKind;
using chat::TurnError;

NamedModel model_by_path(std::string path) {
  NamedModel model;
  model.name = path;
  model.param = Json{{"model_path", path}};
  model.path = std::move(path);
  return model;
}

std::optional<std::string> platform_of(std::string_view path) { return chip_in_name(path.substr(path.rfind('/') + 1)); }

TurnError forbidden(const std::string& what) {
  return {ErrorKind::kForbidden, what + " takes an access token with the permission admin"};
}

}  // namespace

// A ticket whose place is made later, or never.
class ServerModels::LaterTicket final : public chat::QueuePlace {
 public:
  // Hands the place over, unless `alive` has expired; may destroy the ticket.
  void take(std::unique_ptr<chat::QueuePlace> place) { place_ = std::move(place); }
  std::weak_ptr<const void> alive() const { return alive_.watch(); }

 private:
  std::unique_ptr<chat::QueuePlace> place_{};  // once there is one
  const Lifetime alive_;
};

ServerModels::ServerModels(asio::io_context& loop, spdlog::logger& log, Choices choices, Options options)
    : loop_(loop),
      log_(log),
      choices_(std::move(choices)),
      options_(std::move(options)),
      digests_(std::make_unique<FileDigests>(loop)),
      reading_(loop) {
  list_.set_presets(choices_.presets);
}

void ServerModels::use_runtime(ModelRuntime runtime) {
  runtime_ = std::move(runtime);  // the slots see it
  autoloaded_.clear();
  for (auto& [name, waiting] : std::exchange(autoloading_, {})) {
    for (const auto& then : waiting) then();
  }
  // Models that were loaded ended with the runtime before this one. The slots may not have been told yet.
  const auto slots = slots_;
  for (const auto& [key, slot] : slots) slot->lost(slot->handle());
  look_again([] {});
}

void ServerModels::choose(Choices choices) {
  choices_ = std::move(choices);
  list_.set_presets(choices_.presets);
  for (const auto& [key, slot] : slots_) {
    if (const NamedModel* const model = list_.find(key.first)) slot->update(*model, choices_.keep_alive);
  }
  look_again([] {});
}

void ServerModels::look_again(std::function<void()> then) {
  if (stopped_) return;
  struct Looked {
    FoundModels found;
    std::map<std::string, ModelFile> preset_files;
    std::map<std::string, std::optional<ModelFile>> handle_files;
  };
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
        for (const std::string& path : looked->found.hidden) {
          if (std::ranges::count(told_hidden_, path) > 0) continue;
          log_.warn("{} is left out: another file of runtime.model_dirs has its name", path);
          told_hidden_.push_back(path);
        }
        const auto before = list_.names();
        list_.set_files(std::move(looked->found.files));
        list_.set_preset_files(std::move(looked->preset_files));
        handle_files_.merge(looked->handle_files);
        for (const auto& [key, slot] : slots_) {
          if (const NamedModel* const model = list_.find(key.first)) slot->update(*model, choices_.keep_alive);
        }
        if (before != list_.names()) options_.changed();
        then();
      });
}

void ServerModels::refresh(std::function<void()> then) {
  constexpr std::chrono::seconds kOften{1};
  const bool is_fresh = looked_at_ && Clock::now() - *looked_at_ < kOften;
  if (stopped_ || (!looks_into_directories() && unseen_handle_paths().empty()))
    return asio::post(loop_, std::move(then));
  // Behind a look that is under way: what it finds is known then.
  if (is_fresh && unseen_handle_paths().empty()) return reading_.run([] {}, std::move(then));
  looked_at_ = Clock::now();
  look_again(std::move(then));
}

void ServerModels::lost(const std::string& handle) {
  const auto slots = slots_;
  for (const auto& [key, slot] : slots) slot->lost(handle);
  std::erase_if(autoloaded_, [&handle](const auto& each) { return each.second == handle; });
}

void ServerModels::autoload_begun(const std::string& name) { autoloading_[name]; }

void ServerModels::autoload_ended(const std::string& name, const std::string& handle) {
  if (handle.empty()) {
    autoloaded_.erase(name);
  } else {
    autoloaded_.insert_or_assign(name, handle);
    if (const NamedModel* const model = list_.find(name)) warn_of_unknown_template(log_, *model);
  }
  const auto waiting = std::exchange(autoloading_[name], {});
  autoloading_.erase(name);
  for (const auto& then : waiting) then();
  options_.changed();
}

void ServerModels::after_autoload(std::string_view name, std::function<void()> then) {
  const NamedModel* const model = resolve(name);
  const auto found = model == nullptr ? autoloading_.end() : autoloading_.find(model->name);
  if (found == autoloading_.end()) return then();
  found->second.push_back(std::move(then));
}

void ServerModels::stop() {
  stopped_ = true;
  digests_->stop();
}

const NamedModel* ServerModels::resolve(std::string_view name) const {
  if (const NamedModel* const model = list_.find(name)) return model;
  for (const std::string_view alias : {name, without_latest(name)}) {
    if (const auto found = choices_.aliases.find(std::string(alias)); found != choices_.aliases.end()) {
      return found->is_string() ? list_.find(found->get_ref<const std::string&>()) : nullptr;
    }
  }
  return nullptr;
}

const NamedModel* ServerModels::model_meant(std::string_view name) const {
  if (handle_status(name)) return nullptr;
  if (const NamedModel* const model = resolve(name)) return model;
  return choices_.any_model.empty() || is_model_path(name) ? nullptr : list_.find(choices_.any_model);
}

ModelSlot* ServerModels::existing_slot(const std::string& name, ModelSlot::Use use) const {
  const auto found = slots_.find({name, use});
  return found == slots_.end() ? nullptr : found->second.get();
}

ModelSlot& ServerModels::slot(const NamedModel& model, ModelSlot::Use use) {
  auto& slot = slots_[{model.name, use}];
  if (slot) return *slot;
  ModelSlot::Events events;
  events.make_room = [this](ModelSlot& wanting, std::function<void(bool)> then) {
    make_room(wanting, std::move(then));
  };
  events.forbids = [this] { return why_not(); };
  events.changed = options_.changed;
  events.keep_alive = choices_.keep_alive;
  events.default_context = choices_.default_context;
  slot = std::make_shared<ModelSlot>(SlotSurroundings{loop_, log_, runtime_}, model, use, std::move(events));
  return *slot;
}

std::optional<LoadFailure> ServerModels::why_not() const {
  if (!choices_.has_one_process || runtime_.queue->use() < QueuedBackend::Use::kLoading) return std::nullopt;
  const auto loaded = handles();
  const std::string holder =
      loaded.empty() ? "one is being loaded or unloaded" : "model " + name_of(loaded.front()) + " has it";
  return LoadFailure{
      ErrorKind::kNotSupported,
      RpcError(ErrorCode::kQueueFull,
               "with runtime.isolation=thread there is one handle at a time for models by name, and " + holder,
               Json{{"queued", 1}, {"limit", 1}})};
}

void ServerModels::make_room(ModelSlot& wanting, std::function<void(bool made_room)> then) {
  ModelSlot* oldest = nullptr;
  for (const auto& [key, slot] : slots_) {
    if (slot.get() == &wanting || !slot->is_idle()) continue;
    if (oldest == nullptr || slot->last_used() < oldest->last_used()) oldest = slot.get();
  }
  if (oldest == nullptr) return then(false);
  log_.info("model {} is unloaded to make room for {}", oldest->model().name, wanting.model().name);
  oldest->unload([then = std::move(then)](const std::exception_ptr& error) { then(error == nullptr); });
}

std::optional<RpcError> ServerModels::full_for(const ModelSlot& slot, const std::string& holder) const {
  const std::size_t all = slot.waiting();
  if (!holder.empty() && slot.waiting_of(holder) >= choices_.most_per_holder) {
    return RpcError(
        ErrorCode::kQueueFull,
        "this access token has as many places in the queue of " + slot.model().name + " as queue.max_per_token allows",
        Json{{"queued", all}, {"limit", choices_.most_per_holder}});
  }
  if (all < choices_.most_waiting) return std::nullopt;
  return RpcError(ErrorCode::kQueueFull, "the queue of model " + slot.model().name + " is full",
                  Json{{"queued", all}, {"limit", choices_.most_waiting}});
}

ModelSlot* ServerModels::slot_for(std::string_view name) {
  const NamedModel* const model = resolve(name);
  return model == nullptr ? nullptr : &slot(*model, ModelSlot::Use::kTurns);
}

std::string ServerModels::handle_named(std::string_view name) const {
  if (runtime_.queue == nullptr) return {};
  if (runtime_.queue->use_of(std::string(name))) return std::string(name);
  const auto status = handle_status(name);
  return status ? status->id : std::string();
}

std::vector<QueuedBackend::HandleStatus> ServerModels::handles() const {
  if (runtime_.queue == nullptr) return {};
  return runtime_.queue->handles();
}

bool ServerModels::has_own_name(const QueuedBackend::HandleStatus& handle) const {
  return !handle.model.empty() ||
         std::ranges::any_of(autoloaded_, [&handle](const auto& each) { return each.second == handle.id; });
}

std::string ServerModels::name_of(const QueuedBackend::HandleStatus& handle) const {
  for (const auto& [name, id] : autoloaded_) {
    if (id == handle.id) return name;
  }
  return name_of_handle(handle, handles(), [this](const std::string& name) {
    return list_.find(name) != nullptr || choices_.aliases.contains(name);
  });
}

std::string ServerModels::family_of(const QueuedBackend::HandleStatus& handle) const {
  const chat::Family* const family = chat::family_of_model(template_of_handle(handle), model_path_of(handle));
  return family == nullptr ? std::string() : family->name;
}

std::string ServerModels::file_of(const std::string& path) const {
  try {
    return options_.resolved(path);
  } catch (const std::exception&) {
    return {};  // whoever loads it is told
  }
}

std::vector<std::string> ServerModels::unseen_handle_paths() const {
  std::vector<std::string> paths;
  for (const auto& handle : handles()) {
    if (has_own_name(handle)) continue;
    if (std::string path = model_path_of(handle); !handle_files_.contains(path)) paths.push_back(std::move(path));
  }
  return paths;
}

std::string ServerModels::autoloaded_handle(std::string_view name) const {
  const NamedModel* const model = resolve(name);
  const auto own = model == nullptr ? autoloaded_.end() : autoloaded_.find(model->name);
  const bool is_there = own != autoloaded_.end() && handle_status(own->second);
  return is_there ? own->second : std::string();
}

std::string ServerModels::handle_of(std::string_view name) const {
  if (std::string own = autoloaded_handle(name); !own.empty()) return own;
  const NamedModel* const model = resolve(name);
  const ModelSlot* const slot = model == nullptr ? nullptr : existing_slot(model->name, ModelSlot::Use::kTurns);
  return slot == nullptr || slot->state() != ModelSlot::State::kLoaded ? std::string() : slot->handle();
}

Json ServerModels::as_presets() const {
  Json presets = choices_.presets;
  for (const auto& [name, model] : list_.all()) {
    presets[name]["param"] = param_of(model);
  }
  return presets;
}

chat::ModelDescription ServerModels::info(const NamedModel& model) const {
  chat::ModelDescription info;
  info.name = model.name;
  info.path = model.path;
  info.bytes = model.bytes;
  info.modified_s = model.modified_s;
  info.template_name = model.template_name;
  info.platform = platform_of(model.path);
  for (const auto& [alias, target] : choices_.aliases.items()) {
    if (target == model.name) info.aliases.push_back(alias);
  }
  if (const auto own = autoloaded_.find(model.name); own != autoloaded_.end()) {
    if (const auto status = handle_status(own->second)) {
      const auto loaded = info_of_handle(*status);
      info.state = chat::ModelState::kLoaded;
      info.handle = loaded->handle;
      info.context = loaded->context;
      info.waiting = loaded->waiting;
      return info;
    }
  }
  ModelSlot* const slot = existing_slot(model.name, ModelSlot::Use::kTurns);
  if (slot == nullptr) return info;
  info.context = slot->context();
  info.load_s = slot->load_s();
  info.waiting = slot->waiting();
  if (slot->state() == ModelSlot::State::kLoading) {
    info.state = chat::ModelState::kLoading;
    info.progress = slot->progress();
  }
  if (slot->state() != ModelSlot::State::kLoaded) return info;
  const auto use = runtime_.queue->use_of(slot->handle());
  if (!use) return info;
  info.state = chat::ModelState::kLoaded;
  info.handle = slot->handle();
  info.loaded_since_s = slot->loaded_since_s();
  info.waiting += use->waiting + (use->in_use ? 1 : 0);
  if (const auto expires = slot->expires(); expires && !use->in_use) {
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(*expires - Clock::now()).count();
    info.expires_s = seconds_since_1970() + std::max<std::int64_t>(left, 0);
  }
  return info;
}

std::optional<QueuedBackend::HandleStatus> ServerModels::handle_status(std::string_view id) const {
  auto all = handles();
  auto found = std::ranges::find(all, id, &QueuedBackend::HandleStatus::id);
  if (found == all.end()) {
    found = std::ranges::find_if(all, [this, id](const auto& each) {
      return !has_own_name(each) && model_name_of(each) == id && name_of(each) == id;
    });
  }
  return found == all.end() ? std::nullopt : std::optional(std::move(*found));
}

// For a model with a name, what its settings say. A simulated model's file is a few lines, which are read once.
const std::string& ServerModels::template_of_handle(const QueuedBackend::HandleStatus& handle) const {
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

std::optional<chat::ModelDescription> ServerModels::info_of_handle(const QueuedBackend::HandleStatus& handle) const {
  chat::ModelDescription info;
  info.name = name_of(handle);
  info.handle = handle.id;
  const Json param = handle.created_with.value("param", Json::object());
  info.path = param.value("model_path", std::string());
  info.template_name = template_of_handle(handle);
  info.platform = platform_of(info.path);
  const auto context = param.find("max_context_len");
  if (context != param.end() && context->is_number_integer()) info.context = context->get<std::int64_t>();
  if (const auto file = handle_files_.find(info.path); file != handle_files_.end() && file->second) {
    info.bytes = file->second->bytes;
    info.modified_s = file->second->modified_s;
  }
  info.state = chat::ModelState::kLoaded;
  info.waiting = handle.queue.size() + (handle.running ? 1 : 0);
  return info;
}

std::vector<chat::ModelDescription> ServerModels::models(const chat::Asker& asker) const {
  std::vector<chat::ModelDescription> all;
  if (!asker.may_call) return all;
  for (const auto& [name, model] : list_.all()) {
    all.push_back(info(model));
    if (model.bytes && model.modified_s) all.back().sha256 = digests_->of(model.path, *model.bytes, *model.modified_s);
  }
  for (const auto& [key, slot] : slots_) {  // by path
    const bool is_there = slot->state() != ModelSlot::State::kUnloaded;
    if (is_model_path(key.first) && key.second == ModelSlot::Use::kTurns && is_there)
      all.push_back(info(slot->model()));
  }
  for (const auto& handle : handles()) {
    if (!has_own_name(handle)) all.push_back(*info_of_handle(handle));
  }
  return all;
}

std::optional<chat::ModelDescription> ServerModels::find(std::string_view name, const chat::Asker& asker) const {
  if (!asker.may_call) return std::nullopt;
  if (const auto handle = handle_status(name)) return info_of_handle(*handle);
  if (const NamedModel* const model = model_meant(name)) return info(*model);
  if (!is_model_path(name) || !asker.may_admin) return std::nullopt;
  const std::string path(name);
  std::error_code error;  // of a file that is not there; what is loaded may have lost its own
  const bool is_there =
      existing_slot(path, ModelSlot::Use::kTurns) != nullptr || std::filesystem::is_regular_file(file_of(path), error);
  return is_there ? std::optional(info(model_by_path(path))) : std::nullopt;
}

template <typename Lease>
std::unique_ptr<chat::QueuePlace> ServerModels::begin(ModelSlot::Use use, chat::PlaceWish wish,
                                                      chat::PlaceEvents<Lease> events, MakeLease<Lease> make) {
  const auto refuse = [this, &events](const TurnError& error) {
    auto ticket = std::make_unique<LaterTicket>();
    asio::post(loop_, [failed = events.failed, error, wanted = ticket->alive()] {
      if (!wanted.expired()) failed(error);
    });
    return ticket;
  };
  const bool unloads = wish.keep_alive && wish.keep_alive->unloads();
  if (!wish.asker.may_call) return refuse(forbidden("using a model"));
  if (unloads && !wish.asker.may_admin) return refuse(forbidden("a keep_alive of less than a second"));
  LeaseSource source{loop_};
  source.runtime = runtime_;
  source.stream = options_.stream;
  const NamedModel* const model = model_meant(wish.model);
  std::string handle;
  if (const auto named = handle_status(wish.model)) {
    handle = named->id;
  } else if (model != nullptr && use == ModelSlot::Use::kTurns) {
    if (const auto own = autoloaded_.find(model->name); own != autoloaded_.end()) handle = own->second;
  }
  const auto status = handle.empty() ? std::nullopt : handle_status(handle);
  if (status && use == ModelSlot::Use::kEmbeddings) {
    return refuse(TurnError(ErrorKind::kNotSupported,
                            "embeddings take a handle of their own: ask for them by the name of a model, not of a "
                            "handle that rkllm_init has made"));
  }
  if (status) {
    const Json param = status->created_with.value("param", Json::object());
    if (model != nullptr) {
      source.loaded.model = *model;
    } else {
      const auto info = info_of_handle(*status);
      source.loaded.model.name = info->name;
      source.loaded.model.template_name = info->template_name;
      source.loaded.model.bytes = info->bytes;
      source.loaded.model.modified_s = info->modified_s;
    }
    source.loaded.model.path = param.value("model_path", std::string());
    source.loaded.param = param;
    source.loaded.handle = handle;
    source.load = runtime_.queue->use_of(handle).value_or(QueuedBackend::HandleUse{}).load;
  } else if (model != nullptr) {
    source.slot = slot(*model, use).shared_from_this();
    if (const auto full = full_for(*source.slot, wish.asker.name)) {
      return refuse(turn_error(ErrorKind::kQueueFull, full->what()));
    }
  } else if (is_model_path(wish.model)) {
    if (!wish.asker.may_admin) return refuse(forbidden("loading a model by its path"));
    source.slot = slot(model_by_path(wish.model), use).shared_from_this();
  } else {
    return refuse(TurnError::unknown_model(wish.model));
  }
  const auto place = std::make_shared<PlaceOf<Lease>>(std::move(source), std::move(wish), std::move(events), make);
  place->begin();
  return std::make_unique<PlaceTicket>(*place);
}

// A name that nobody knows may be that of a file which has come since the directories were last looked into.
template <typename Lease>
std::unique_ptr<chat::QueuePlace> ServerModels::place(ModelSlot::Use use, chat::PlaceWish wish,
                                                      chat::PlaceEvents<Lease> events, MakeLease<Lease> make) {
  const NamedModel* const model = model_meant(wish.model);
  const bool is_known = model != nullptr || handle_status(wish.model) || is_model_path(wish.model);
  const bool is_coming = model != nullptr && autoloading_.contains(model->name);
  if ((is_known && !is_coming) || (!is_known && !looks_into_directories()) || stopped_) {
    return begin(use, std::move(wish), std::move(events), make);
  }
  auto later = std::make_unique<LaterTicket>();
  auto go_on = [this, use, wish = std::move(wish), events = std::move(events), make, ticket = later.get(),
                alive = later->alive()]() mutable {
    if (alive.expired()) return;
    auto place = begin(use, std::move(wish), std::move(events), make);
    if (!alive.expired()) ticket->take(std::move(place));
  };
  if (is_coming) {
    after_autoload(model->name, std::move(go_on));
  } else {
    look_again(std::move(go_on));
  }
  return later;
}

std::unique_ptr<chat::QueuePlace> ServerModels::ask(chat::PlaceWish wish, chat::PlaceEvents<chat::ModelLease> events) {
  return place<chat::ModelLease>(ModelSlot::Use::kTurns, std::move(wish), std::move(events), &make_turn_lease);
}

std::unique_ptr<chat::QueuePlace> ServerModels::ask_for_embeddings(chat::PlaceWish wish,
                                                                   chat::PlaceEvents<chat::EmbeddingLease> events) {
  return place<chat::EmbeddingLease>(ModelSlot::Use::kEmbeddings, std::move(wish), std::move(events),
                                     &make_embedding_lease);
}

std::unique_ptr<chat::QueuePlace> ServerModels::load(chat::PlaceWish wish, chat::PlaceEvents<chat::OnlyLoaded> events) {
  return place<chat::OnlyLoaded>(ModelSlot::Use::kTurns, std::move(wish), std::move(events), &end_load);
}

void ServerModels::unload(std::string name, chat::Asker asker, std::function<void(std::optional<TurnError>)> done) {
  const auto answer = [this, done](std::optional<TurnError> error) {
    asio::post(loop_, [done, error = std::move(error), weak = alive_.watch()] {
      if (!weak.expired()) done(error);
    });
  };
  if (!asker.may_admin) return answer(forbidden("unloading a model"));
  const bool is_handle = handle_status(name).has_value();
  const NamedModel* const model = is_handle ? nullptr : resolve(name);
  if (model == nullptr && !is_model_path(name)) {
    if (!is_handle) return answer(TurnError::unknown_model(name));
    return answer(TurnError(ErrorKind::kNotSupported,
                            "\"" + name + "\" was made by rkllm_init, and is unloaded by rkllm_destroy"));
  }
  struct Unloading {
    std::size_t missing = 0;
    std::exception_ptr error;
  };
  const auto unloading = std::make_shared<Unloading>();
  std::vector<ModelSlot*> slots;
  for (const auto use : {ModelSlot::Use::kTurns, ModelSlot::Use::kEmbeddings}) {
    ModelSlot* const known = existing_slot(model == nullptr ? name : model->name, use);
    if (known != nullptr) slots.push_back(known);
  }
  if (slots.empty()) return answer(std::nullopt);
  unloading->missing = slots.size();
  for (ModelSlot* const slot : slots) {
    slot->unload([unloading, answer](const std::exception_ptr& error) {
      if (error) unloading->error = error;
      if (--unloading->missing > 0) return;
      if (!unloading->error) return answer(std::nullopt);
      answer(TurnError(ErrorKind::kRuntimeFailed, as_rpc_error(unloading->error).what()));
    });
  }
}

}  // namespace rkllm_mcp
