#include "chat/assistant/assistants.hpp"

#include "model_name.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace rkllm_mcp::chat {

class Assistants::RunningTurn final : public Running {
 public:
  explicit RunningTurn(AssistantTurn& turn) : turn_(turn.weak_from_this()) {}
  RunningTurn(const RunningTurn&) = delete;
  RunningTurn& operator=(const RunningTurn&) = delete;
  ~RunningTurn() override {
    try {
      if (const auto turn = turn_.lock()) turn->listener_gone();
    } catch (const std::bad_alloc&) {
      // There is no memory to keep what has come of the answer.
    }
  }
  void hold() override {
    if (const auto turn = turn_.lock()) turn->hold();
  }
  void go_on() override {
    if (const auto turn = turn_.lock()) turn->go_on();
  }

 private:
  const std::weak_ptr<AssistantTurn> turn_;
};

Assistants::Assistants(asio::io_context& loop, ChatHost& host, Providers providers, AssistantOptions options)
    : loop_(loop), host_(host), providers_(std::move(providers)), options_(std::move(options)) {
  host_.use_profiles(this);
}

Assistants::~Assistants() { host_.use_profiles(nullptr); }

void Assistants::stop() {
  for (const auto& [number, turn] : turns_) turn->stop();
}

std::vector<std::string> Assistants::use(std::vector<Profile> profiles) {
  std::vector<std::string> refused;
  profiles_.clear();
  for (Profile& each : profiles) {
    if (is_model(each.name)) {
      refused.push_back("profile \"" + each.name + "\": a model has this name");
    } else if (!providers_.contains(each.provider)) {
      refused.push_back("profile \"" + each.name + "\": there is no such provider here");
    } else {
      profiles_.emplace_back(std::move(each));
    }
  }
  return refused;
}

bool Assistants::is_model(const std::string& name) const {
  const auto model = host_.lender().find(name, Asker());  // which may be chat.any_model
  return model && (model->name == name || std::ranges::count(model->aliases, name) > 0);
}

const Immutable<Profile>* Assistants::profile(std::string_view name) const {
  const std::string_view plain = without_latest(name);
  const auto found = std::ranges::find_if(profiles_, [plain](const auto& each) { return each->name == plain; });
  // Models come and go, and a name means a model where there is one.
  return found == profiles_.end() || is_model((*found)->name) ? nullptr : &*found;
}

ModelDescription Assistants::description_of(const Profile& profile, const Asker& asker) const {
  ModelDescription description;
  if (profile.provider == ProviderKind::kRuntime) {
    auto models = host_.lender().models(asker);
    if (auto behind = host_.lender().find(profile.model, asker)) {
      description = *std::move(behind);
    } else if (profile.model.empty() && models.size() == 1) {
      description = std::move(models.front());
    }
  }
  description.name = profile.name;
  description.aliases.clear();
  description.is_profile = true;
  return description;
}

std::vector<ModelDescription> Assistants::models(const Asker& asker) const {
  std::vector<ModelDescription> all;
  for (const auto& each : profiles_) {
    if (!is_model(each->name)) all.push_back(description_of(*each, asker));
  }
  return all;
}

std::optional<ModelDescription> Assistants::find(std::string_view name, const Asker& asker) const {
  const auto* const found = profile(name);
  return found != nullptr ? std::optional(description_of(**found, asker)) : std::nullopt;
}

std::unique_ptr<Running> Assistants::start(Turn turn, const Asker& asker, std::string peer, TurnListener& listener) {
  const auto* const found = profile(turn.model);
  if (found == nullptr) throw TurnError::unknown_model(turn.model);
  const std::uint64_t number = ++next_;
  // The turn calls this from one of its own functions. Erased at once, it could be destroyed while that still runs.
  const auto gone = [this, number, alive = alive_.watch()] {
    asio::post(loop_, [this, number, alive] {
      if (!alive.expired()) turns_.erase(number);
    });
  };
  const AssistantTurn::Surroundings surroundings{loop_, servers_, *providers_.at((*found)->provider), options_, *found};
  const auto made =
      std::make_shared<AssistantTurn>(surroundings, std::move(turn), asker, std::move(peer), listener, gone);
  made->begin();
  turns_.emplace(number, made);
  return std::make_unique<RunningTurn>(*made);
}

}  // namespace rkllm_mcp::chat
