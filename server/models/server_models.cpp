#include "models/server_models.hpp"

#include "backend/queue_length.hpp"
#include "jsonrpc/envelope.hpp"
#include "model_name.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <system_error>

namespace rkllm_mcp {
namespace {

using chat::ErrorKind;
using chat::TurnError;

NamedModel model_by_path(std::string path) {
  NamedModel model;
  model.name = path;
  model.param = Json{{"model_path", path}};
  model.path = std::move(path);
  return model;
}

TurnError forbidden(const std::string& what) {
  return {ErrorKind::kForbidden, what + " takes an access token with the permission admin"};
}

}  // namespace

// Held by whoever has asked for a model; its destruction gives the place up. Often the place is made only later (after
// a look into the directories, or after the model's loading at the start), or never, as the wish is refused.
class ServerModels::HeldPlace final : public chat::QueuePlace {
 public:
  ~HeldPlace() override {
    if (place_) place_->give_up();
  }

  // Makes the place, and begins to wait. Not to be called once alive() has expired.
  void begin(LeaseSource source, chat::PlaceWish wish, ModelPlace::Events events) {
    place_ = std::make_shared<ModelPlace>(std::move(source), std::move(wish), std::move(events));
    place_->begin();
  }
  std::weak_ptr<const void> alive() const { return alive_.watch(); }

 private:
  std::shared_ptr<ModelPlace> place_{};  // null until begin()
  const Lifetime alive_;
};

ServerModels::ServerModels(asio::io_context& loop, spdlog::logger& log, Choices choices, Options options)
    : loop_(loop),
      log_(log),
      choices_(std::move(choices)),
      options_(std::move(options)),
      digests_(std::make_unique<FileDigests>(loop)),
      known_(loop, log, runtime_, choices_,
             {.resolved = options_.resolved, .looked = [this] { update_slots(); }, .changed = options_.changed}) {}

void ServerModels::use_runtime(ModelRuntime runtime) {
  runtime_ = std::move(runtime);  // each slot has a reference to this member
  known_.forget_all_autoloaded();
  for (auto& [name, waiting] : std::exchange(autoloading_, {})) {
    for (const auto& then : waiting) then();
  }
  // Models that were loaded ended with the runtime before this one. The slots may not have been told yet.
  const auto slots = slots_;
  for (const auto& [key, slot] : slots) slot->lost(slot->handle());
  known_.look_again([] {});
}

void ServerModels::choose(Choices choices) {
  choices_ = std::move(choices);
  known_.choose(choices_);
}

void ServerModels::update_slots() {
  for (const auto& [key, slot] : slots_) {
    if (const NamedModel* const model = known_.list().find(key.first)) slot->update(*model, choices_.keep_alive);
  }
}

void ServerModels::lost(const std::string& handle) {
  const auto slots = slots_;
  for (const auto& [key, slot] : slots) slot->lost(handle);
  known_.forget_autoloaded(handle);
}

void ServerModels::autoload_begun(const std::string& name) { autoloading_[name]; }

void ServerModels::autoload_ended(const std::string& name, const std::string& handle) {
  known_.set_autoloaded(name, handle);
  const NamedModel* const model = handle.empty() ? nullptr : known_.list().find(name);
  if (model != nullptr) warn_of_unknown_template(log_, *model);
  const auto waiting = std::exchange(autoloading_[name], {});
  autoloading_.erase(name);
  for (const auto& then : waiting) then();
  options_.changed();
}

bool ServerModels::is_autoloading(std::string_view name) const {
  const NamedModel* const model = known_.resolve(name);
  return model != nullptr && autoloading_.contains(model->name);
}

void ServerModels::after_autoload(std::string_view name, std::function<void()> then) {
  autoloading_.at(known_.resolve(name)->name).push_back(std::move(then));
}

void ServerModels::stop() {
  stopped_ = true;
  known_.stop();
  digests_->stop();
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
  const auto loaded = known_.handles();
  const std::string holder =
      loaded.empty() ? "one is being loaded or unloaded" : "model " + known_.name_of(loaded.front()) + " has it";
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
  const QueueLength length{slot.waiting(), holder.empty() ? 0 : slot.waiting_of(holder)};
  return why_full("model " + slot.model().name, length, {choices_.most_waiting, choices_.most_per_holder},
                  options_.counts);
}

ModelSlot* ServerModels::slot_for(std::string_view name) {
  const NamedModel* const model = known_.resolve(name);
  return model == nullptr ? nullptr : &slot(*model, ModelSlot::Use::kTurns);
}

std::string ServerModels::autoloaded_handle(std::string_view name) const {
  const NamedModel* const model = known_.resolve(name);
  const auto own = model == nullptr ? std::nullopt : known_.autoloaded(*model);
  return own ? own->id : std::string();
}

std::string ServerModels::handle_of(std::string_view name) const {
  if (std::string own = autoloaded_handle(name); !own.empty()) return own;
  const NamedModel* const model = known_.resolve(name);
  const ModelSlot* const slot = model == nullptr ? nullptr : existing_slot(model->name, ModelSlot::Use::kTurns);
  return slot == nullptr || slot->state() != ModelSlot::State::kLoaded ? std::string() : slot->handle();
}

std::string ServerModels::handle_for_newcomer(std::string_view name) const {
  if (is_autoloading(name)) return {};
  if (std::string own = autoloaded_handle(name); !own.empty()) return own;
  const NamedModel* const model = known_.resolve(name);
  const ModelSlot* const slot = model == nullptr ? nullptr : existing_slot(model->name, ModelSlot::Use::kTurns);
  return slot != nullptr && slot->is_free_for_newcomer() ? slot->handle() : std::string();
}

chat::ModelDescription ServerModels::describe(const NamedModel& model) const {
  chat::ModelDescription info = known_.describe(model);
  if (const auto own = known_.autoloaded(model)) {
    const auto loaded = known_.describe(*own);
    info.state = chat::ModelState::kLoaded;
    info.handle = loaded.handle;
    info.context = loaded.context;
    info.waiting = loaded.waiting;
    return info;
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

std::vector<chat::ModelDescription> ServerModels::models(const chat::Asker& asker) const {
  std::vector<chat::ModelDescription> all;
  if (!asker.may_call) return all;
  for (const auto& [name, model] : known_.list().all()) {
    all.push_back(describe(model));
    if (model.bytes && model.modified_s) all.back().sha256 = digests_->of(model.path, *model.bytes, *model.modified_s);
  }
  for (const auto& [key, slot] : slots_) {  // by path
    const bool is_there = slot->state() != ModelSlot::State::kUnloaded;
    if (is_model_path(key.first) && key.second == ModelSlot::Use::kTurns && is_there)
      all.push_back(describe(slot->model()));
  }
  for (const auto& handle : known_.handles()) {
    if (!known_.has_own_name(handle)) all.push_back(known_.describe(handle));
  }
  return all;
}

std::optional<chat::ModelDescription> ServerModels::find(std::string_view name, const chat::Asker& asker) const {
  if (!asker.may_call) return std::nullopt;
  if (const auto handle = known_.find_handle(name)) return known_.describe(*handle);
  if (const NamedModel* const model = known_.meant(name)) return describe(*model);
  if (!is_model_path(name) || !asker.may_admin) return std::nullopt;
  const std::string path(name);
  std::error_code error;  // ignored. A model that has a slot may have lost its file
  const bool is_there = existing_slot(path, ModelSlot::Use::kTurns) != nullptr ||
                        std::filesystem::is_regular_file(known_.file_of(path), error);
  return is_there ? std::optional(describe(model_by_path(path))) : std::nullopt;
}

void ServerModels::begin(HeldPlace& held, ModelSlot::Use use, chat::PlaceWish wish, ModelPlace::Events events) {
  const auto refuse = [this, &events, &held](const TurnError& error) {
    asio::post(loop_, [failed = std::move(events.failed), error, wanted = held.alive()] {
      if (!wanted.expired()) failed(error);
    });
  };
  const bool unloads = wish.keep_alive && wish.keep_alive->unloads();
  if (!wish.asker.may_call) return refuse(forbidden("using a model"));
  if (unloads && !wish.asker.may_admin) return refuse(forbidden("a keep_alive of less than a second"));
  LeaseSource source{loop_};
  source.runtime = runtime_;
  source.stream = options_.stream;
  const NamedModel* const model = known_.meant(wish.model);
  auto handle = known_.find_handle(wish.model);
  if (!handle && model != nullptr && use == ModelSlot::Use::kTurns) handle = known_.autoloaded(*model);
  if (handle && use == ModelSlot::Use::kEmbeddings) {
    return refuse(TurnError(ErrorKind::kNotSupported,
                            "embeddings take a handle of their own: ask for them by the name of a model, not of a "
                            "handle that rkllm_init has made"));
  }
  if (handle) {
    const Json param = handle->created_with.value("param", Json::object());
    if (model != nullptr) {
      source.loaded.model = *model;
    } else {
      const auto info = known_.describe(*handle);
      source.loaded.model.name = info.name;
      source.loaded.model.template_name = info.template_name;
      source.loaded.model.bytes = info.bytes;
      source.loaded.model.modified_s = info.modified_s;
    }
    source.loaded.model.path = param.value("model_path", std::string());
    source.loaded.param = param;
    source.loaded.handle = handle->id;
    source.load = runtime_.queue->use_of(handle->id).value_or(QueuedBackend::HandleUse{}).load;
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
  held.begin(std::move(source), std::move(wish), std::move(events));
}

// A name that nobody knows may be that of a file which has come since the directories were last looked into.
std::unique_ptr<chat::QueuePlace> ServerModels::place(ModelSlot::Use use, chat::PlaceWish wish,
                                                      ModelPlace::Events events) {
  auto held = std::make_unique<HeldPlace>();
  const NamedModel* const model = known_.meant(wish.model);
  const bool is_known = model != nullptr || known_.find_handle(wish.model) || is_model_path(wish.model);
  const bool is_coming = model != nullptr && is_autoloading(model->name);
  if ((is_known && !is_coming) || (!is_known && !known_.looks_into_directories()) || stopped_) {
    begin(*held, use, std::move(wish), std::move(events));
    return held;
  }
  auto go_on = [this, use, wish = std::move(wish), events = std::move(events), &later = *held,
                alive = held->alive()]() mutable {
    if (!alive.expired()) begin(later, use, std::move(wish), std::move(events));
  };
  if (is_coming) {
    after_autoload(model->name, std::move(go_on));
  } else {
    known_.look_again(std::move(go_on));
  }
  return held;
}

std::unique_ptr<chat::QueuePlace> ServerModels::ask(chat::PlaceWish wish, chat::PlaceEvents<chat::ModelLease> events) {
  return place(ModelSlot::Use::kTurns, std::move(wish),
               {.queued = std::move(events.queued),
                .loading = std::move(events.loading),
                .granted = [granted = std::move(events.granted)](
                               LeaseSource source) { granted(make_turn_lease(std::move(source))); },
                .failed = std::move(events.failed)});
}

std::unique_ptr<chat::QueuePlace> ServerModels::ask_for_embeddings(chat::PlaceWish wish,
                                                                   chat::PlaceEvents<chat::EmbeddingLease> events) {
  return place(ModelSlot::Use::kEmbeddings, std::move(wish),
               {.queued = std::move(events.queued),
                .loading = std::move(events.loading),
                .granted = [granted = std::move(events.granted)](
                               LeaseSource source) { granted(make_embedding_lease(std::move(source))); },
                .failed = std::move(events.failed)});
}

std::unique_ptr<chat::QueuePlace> ServerModels::load(chat::PlaceWish wish, chat::PlaceEvents<chat::OnlyLoaded> events) {
  return place(ModelSlot::Use::kTurns, std::move(wish),
               {.queued = std::move(events.queued),
                .loading = std::move(events.loading),
                .granted =
                    [granted = std::move(events.granted)](const LeaseSource& source) {
                      if (source.slot) source.slot->end_use(source.load, source.keep_alive);
                      granted(nullptr);
                    },
                .failed = std::move(events.failed),
                .wants_lease = false});
}

void ServerModels::unload(std::string name, chat::Asker asker, std::function<void(std::optional<TurnError>)> done) {
  const auto answer = [this, done](std::optional<TurnError> error) {
    asio::post(loop_, [done, error = std::move(error), weak = alive_.watch()] {
      if (!weak.expired()) done(error);
    });
  };
  if (!asker.may_admin) return answer(forbidden("unloading a model"));
  const bool is_handle = known_.find_handle(name).has_value();
  const NamedModel* const model = is_handle ? nullptr : known_.resolve(name);
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
