#include "sim_lender.hpp"

#include "faults.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::simulation {

class SimLender::HeldPlace final : public chat::QueuePlace {
 public:
  HeldPlace(SimLender& lender, Model& model, std::uint64_t number) : lender_(lender), model_(model), number_(number) {}
  HeldPlace(const HeldPlace&) = delete;
  HeldPlace& operator=(const HeldPlace&) = delete;
  ~HeldPlace() override {
    model_.waiting.remove_if([this](const Place& each) { return each.number == number_; });
    lender_.offer(model_);
  }

 private:
  SimLender& lender_;
  Model& model_;
  const std::uint64_t number_;
};

class SimLender::Lease final : public chat::ModelLease {
 public:
  Lease(SimLender& lender, Model& model, const chat::PlaceWish& wish)
      : lender_(lender), model_(model), keep_alive_(wish.keep_alive) {
    model.holder = wish.peer;
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease() override { lender_.give_back(model_, keep_alive_); }

  chat::ModelSeam& model() override { return *model_.seam; }
  std::uint64_t load_number() const override { return model_.load; }
  bool others_wait() const override { return !model_.waiting.empty(); }
  std::optional<double> load_ms() const override { return std::nullopt; }

 private:
  SimLender& lender_;
  Model& model_;
  const std::optional<chat::KeepAlive> keep_alive_;
};

SimLender::SimLender(World& world) : world_(world), embedder_(world) {
  for (const std::string_view name : kModels) {
    const bool is_first = name == kModels[0];
    Model& model = models_[std::string(name)];
    model.info.name = name;
    model.info.path = "/models/" + model.info.name + ".rkllm";
    model.info.template_name = "chatml";
    model.info.state = is_first ? chat::ModelState::kLoaded : chat::ModelState::kOnDisk;
    model.seam = std::make_unique<SimChatModel>(world, model.info.name, is_first);
  }
}

void SimLender::refresh(std::function<void()> then) { world_.may_happen("models are looked for", std::move(then)); }

std::vector<chat::ModelDescription> SimLender::models(const chat::Asker& /*asker*/) const {
  std::vector<chat::ModelDescription> all;
  for (const auto& [name, model] : models_) all.push_back(model.info);
  return all;
}

std::optional<chat::ModelDescription> SimLender::find(std::string_view name, const chat::Asker& /*asker*/) const {
  const auto found = models_.find(name);
  if (found != models_.end()) return found->second.info;
  if (name != kEmbedder) return std::nullopt;
  chat::ModelDescription embedder;
  embedder.name = name;
  embedder.path = "/models/embedder.rkllm";
  embedder.state = chat::ModelState::kLoaded;
  return embedder;
}

std::unique_ptr<chat::QueuePlace> SimLender::ask(chat::PlaceWish wish, chat::PlaceEvents<chat::ModelLease> events) {
  Model& model = models_.find(wish.model)->second;
  const std::uint64_t number = ++next_;
  const std::size_t before = model.waiting.size() + (model.holder ? 1U : 0U);
  const std::string peer = wish.peer;
  model.waiting.push_back({number, std::move(wish), std::move(events)});
  if (before >= kPlaces) {
    world_.may_happen(peer + " finds no place", [this, &model, number] {
      World::saw("a turn found its queue full");
      refuse(model, number, chat::TurnError::try_later(chat::ErrorKind::kQueueFull, "too many wait", 1));
    });
  } else if (before > 0) {
    World::saw("a turn had to wait");
    world_.may_happen(peer + " is told its place", [this, number, before] {
      if (const Place* const place = find_place(number)) place->events.queued(before);
    });
  }
  offer(model);
  return std::make_unique<HeldPlace>(*this, model, number);
}

std::unique_ptr<chat::QueuePlace> SimLender::ask_for_embeddings(chat::PlaceWish wish,
                                                                chat::PlaceEvents<chat::EmbeddingLease> events) {
  return embedder_.ask(std::move(wish), std::move(events));
}

std::unique_ptr<chat::QueuePlace> SimLender::load(chat::PlaceWish /*wish*/,
                                                  chat::PlaceEvents<chat::OnlyLoaded> events) {
  world_.may_happen("a model is there", [granted = std::move(events.granted)] { granted(nullptr); });
  return std::make_unique<chat::QueuePlace>();
}

void SimLender::unload(std::string /*name*/, chat::Asker /*asker*/,
                       std::function<void(std::optional<chat::TurnError>)> done) {
  world_.may_happen("a model is not there", [done = std::move(done)] { done(std::nullopt); });
}

SimLender::Place* SimLender::find_place(std::uint64_t number) {
  for (auto& [name, model] : models_) {
    for (Place& place : model.waiting) {
      if (place.number == number) return &place;
    }
  }
  return nullptr;
}

void SimLender::offer(Model& model) {
  if (model.is_offered || model.holder || model.waiting.empty()) return;
  model.is_offered = true;
  world_.may_happen("model " + model.info.name + " is free", [this, &model] {
    model.is_offered = false;
    go_on(model);
  });
}

void SimLender::go_on(Model& model) {
  if (model.holder || model.waiting.empty()) return;
  if (model.info.state == chat::ModelState::kLoaded) return grant(model);
  model.info.state = chat::ModelState::kLoading;
  for (const Place& place : model.waiting) {
    if (place.events.loading) place.events.loading({.bytes = 1, .total = 2});
  }
  model.is_offered = true;
  world_.may_happen("model " + model.info.name + " has been read", [this, &model] {
    model.is_offered = false;
    loaded(model);
  });
}

void SimLender::loaded(Model& model) {
  if (world_.choices().happens(8)) {
    World::saw("a model for turns could not be loaded");
    model.info.state = chat::ModelState::kOnDisk;
    std::vector<std::uint64_t> all;
    for (const Place& place : model.waiting) all.push_back(place.number);
    for (const std::uint64_t number : all) {
      refuse(model, number, chat::TurnError(chat::ErrorKind::kRuntimeFailed, "it cannot be loaded"));
    }
    return offer(model);
  }
  World::saw("a model for turns was loaded");
  model.info.state = chat::ModelState::kLoaded;
  ++model.load;
  model.seam->forget();
  offer(model);
}

void SimLender::grant(Model& model) {
  if (world_.choices().happens(6)) model.seam->used_by_another();
  const Place place = std::move(model.waiting.front());
  model.waiting.pop_front();
  place.events.granted(std::make_unique<Lease>(*this, model, place.wish));
}

void SimLender::refuse(Model& model, std::uint64_t number, const chat::TurnError& why) {
  const auto found = std::find_if(model.waiting.begin(), model.waiting.end(),
                                  [number](const Place& each) { return each.number == number; });
  if (found == model.waiting.end()) return;
  const Place place = std::move(*found);
  model.waiting.erase(found);
  ++refusals_[place.wish.peer];
  place.events.failed(why);
}

void SimLender::give_back(Model& model, const std::optional<chat::KeepAlive>& keep_alive) {
  if (!has_fault("a model stays with a turn that has ended")) model.holder.reset();
  model.seam->lease_ended();
  if (keep_alive && !keep_alive->forever && keep_alive->seconds <= 0) {
    World::saw("a model was unloaded behind a turn");
    model.info.state = chat::ModelState::kOnDisk;
  }
  offer(model);
}

std::size_t SimLender::places_of(std::string_view peer) const {
  std::size_t count = 0;
  for (const auto& [name, model] : models_) {
    for (const Place& place : model.waiting) count += place.wish.peer == peer ? 1U : 0U;
    count += model.holder == peer ? 1U : 0U;
  }
  return count;
}

std::size_t SimLender::places() const {
  std::size_t count = embedder_.places();
  for (const auto& [name, model] : models_) count += model.waiting.size() + (model.holder ? 1U : 0U);
  return count;
}

std::size_t SimLender::refusals_of(const std::string& peer) const {
  const auto found = refusals_.find(peer);
  return found == refusals_.end() ? 0 : found->second;
}

}  // namespace rkllm_mcp::simulation
