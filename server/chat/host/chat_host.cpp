#include "chat/host/chat_host.hpp"

#include "chat/host/turn_plan.hpp"
#include "model_name.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::chat {

class ChatHost::RunningTurn final : public Running {
 public:
  RunningTurn(ChatHost& host, std::uint64_t number) : host_(host), alive_(host.alive_.watch()), number_(number) {}
  RunningTurn(const RunningTurn&) = delete;
  RunningTurn& operator=(const RunningTurn&) = delete;
  ~RunningTurn() override {
    if (TurnMaker* const maker = found()) maker->listener_gone();
  }
  void hold() override {
    if (TurnMaker* const maker = found()) maker->hold();
  }
  void go_on() override {
    if (TurnMaker* const maker = found()) maker->go_on();
  }

 private:
  TurnMaker* found() const {
    if (alive_.expired()) return nullptr;
    const auto maker = host_.turns_.find(number_);
    return maker == host_.turns_.end() ? nullptr : maker->second.get();
  }

  ChatHost& host_;
  const std::weak_ptr<const void> alive_;
  const std::uint64_t number_;
};

class ChatHost::RunningEmbedding final : public Running {
 public:
  RunningEmbedding(EmbeddingWish wish, EmbeddingMaker::DoneFunction done, EmbeddingMaker::FailedFunction failed,
                   EmbeddingMaker::CheckFirstFunction check_first)
      : maker_(std::move(wish), std::move(done), std::move(failed), std::move(check_first)) {}
  void begin(ModelLender& lender, PlaceWish wish) { maker_.begin(lender, std::move(wish)); }

 private:
  EmbeddingMaker maker_;
};

class ChatHost::RunningCount final : public Running, private TurnListener {
 public:
  explicit RunningCount(CountedFunction done) : done_(std::move(done)) {}
  void begin(ChatHost& host, Turn turn, const Asker& asker, std::string peer) {
    turn_ = host.start_on_model(std::move(turn), asker, std::move(peer), *this);
  }

 private:
  void event(const AnswerEvent& /*event*/, std::size_t /*answer*/) override {}
  void ended(const AnswerEnd& /*end*/, std::size_t /*answer*/) override {}
  void finished(const Usage& sum) override { end(sum.prompt); }
  void failed(const TurnError& /*error*/) override { end(std::nullopt); }
  void end(std::optional<std::int64_t> tokens) {
    const auto done = done_;  // a copy: the call may destroy this object
    done(tokens);
  }

  const CountedFunction done_;
  std::unique_ptr<Running> turn_;
};

ChatHost::ChatHost(ModelLender& lender, HostOptions options)
    : lender_(lender), options_(std::move(options)), caches_(options_.caches_folder, options_.most_cache_bytes) {}

ChatHost::~ChatHost() = default;

std::optional<ModelDescription> ChatHost::find(std::string_view name, const Asker& asker) const {
  if (profiles_ != nullptr) {
    if (auto profile = profiles_->find(name, asker)) return profile;
  }
  return lender_.find(name, asker);
}

ModelDescription ChatHost::plain_model_for(std::string_view name, const Asker& asker) const {
  ModelDescription model = model_for(name, asker);
  if (!model.is_profile) return model;
  throw TurnError::not_supported("model", "\"" + model.name + "\" is a profile, which only answers; name a model");
}

ModelDescription ChatHost::model_for(std::string_view name, const Asker& asker) const {
  if (auto found = find(name, asker)) return *std::move(found);
  if (is_model_path(name) && !asker.may_admin) {
    throw TurnError(ErrorKind::kForbidden, "a model by its path takes an access token with the permission admin");
  }
  if (!name.empty()) throw TurnError::unknown_model(name);
  auto all = lender_.models(asker);
  if (all.size() == 1) return std::move(all.front());
  throw TurnError::bad_field(
      "model", all.empty() ? "there is no model here yet" : "missing, and there is more than one model here");
}

Speed ChatHost::speed_of_model(const std::string& model) const {
  const auto found = records_.find(model);
  return found == records_.end() ? Speed{} : found->second.speed;
}

std::vector<ModelDescription> ChatHost::models(const Asker& asker) const {
  auto all = lender_.models(asker);
  if (profiles_ == nullptr) return all;
  for (ModelDescription& profile : profiles_->models(asker)) all.push_back(std::move(profile));
  return all;
}

CacheRecord& ChatHost::record_of(const std::string& model, std::uint64_t load_number) {
  Record& kept = records_[model];
  if (kept.load_number != load_number) kept = {load_number, {}, {}};
  return kept.record;
}

std::size_t ChatHost::held_for_nobody(const std::string& model) const {
  const auto holds = [&model](const auto& turn) { return turn.second->holds_for_nobody(model); };
  return static_cast<std::size_t>(std::ranges::count_if(turns_, holds));
}

std::unique_ptr<Running> ChatHost::start(Turn turn, const Asker& asker, std::string peer, TurnListener& listener) {
  if (profiles_ != nullptr && profiles_->find(turn.model, asker)) {
    return profiles_->start(std::move(turn), asker, std::move(peer), listener);
  }
  return start_on_model(std::move(turn), asker, std::move(peer), listener);
}

std::unique_ptr<Running> ChatHost::start_on_model(Turn turn, const Asker& asker, std::string peer,
                                                  TurnListener& listener) {
  const ModelDescription model = plain_model_for(turn.model, asker);
  if (turn.needs_conversation) {
    throw TurnError::not_supported("conversation", "only profiles keep conversations; send the whole one as input");
  }
  if (turn.is_task) turn.goes_on = false;
  PlaceWish wish{.model = model.name, .asker = asker, .keep_alive = turn.keep_alive, .peer = std::move(peer)};
  const Family* family = family_for(model.template_name, model.path);
  const std::uint64_t number = ++next_turn_;
  const TurnMaker::Surroundings surroundings{
      options_,
      caches_,
      [this](const std::string& name, std::uint64_t load) -> CacheRecord& { return record_of(name, load); },
      [this](const std::string& name, const AnswerEnd& end) { records_[name].speed.renew(speed_of(end)); },
      first_token_,
      [this](const std::string& name) { return held_for_nobody(name); }};
  auto maker = std::make_unique<TurnMaker>(surroundings, TurnPlan(std::move(turn), family, model.context), listener,
                                           [this, number] { turns_.erase(number); });
  TurnMaker& begun = *maker;
  turns_.emplace(number, std::move(maker));
  auto running = std::make_unique<RunningTurn>(*this, number);
  begun.begin(lender_, std::move(wish));
  return running;
}

std::unique_ptr<Running> ChatHost::embed(EmbeddingWish wish, const Asker& asker, std::string peer,
                                         EmbeddingMaker::DoneFunction done, EmbeddingMaker::FailedFunction failed,
                                         EmbeddingMaker::CheckFirstFunction check_first) {
  const ModelDescription model = plain_model_for(wish.model, asker);
  PlaceWish place_wish{.model = model.name, .asker = asker, .keep_alive = wish.keep_alive, .peer = std::move(peer)};
  auto embedding =
      std::make_unique<RunningEmbedding>(std::move(wish), std::move(done), std::move(failed), std::move(check_first));
  embedding->begin(lender_, std::move(place_wish));
  return embedding;
}

std::unique_ptr<Running> ChatHost::count(Turn turn, const Asker& asker, std::string peer, CountedFunction done) {
  const ModelDescription model = plain_model_for(turn.model, asker);
  // A model that rkllm_init has made may wait for its maker's first run, with the runtime's own template.
  const bool is_ours = model.state == ModelState::kLoaded && model.loaded_since_s;
  if (!is_ours || model.waiting > 0) return nullptr;
  turn.only_counts = true;
  turn.goes_on = false;
  auto counting = std::make_unique<RunningCount>(std::move(done));
  counting->begin(*this, std::move(turn), asker, std::move(peer));
  return counting;
}

ChatHost::PromptOfModel ChatHost::prompt_of(const Turn& turn, const Asker& asker) const {
  const ModelDescription model = plain_model_for(turn.model, asker);
  const TurnPlan plan(turn, family_for(model.template_name, model.path), model.context);
  return {plan.prompt().text, !plan.uses_own_template(), model.path};
}

}  // namespace rkllm_mcp::chat
