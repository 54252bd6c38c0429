// A lender with one model whose answers a test writes, and an event loop of its own: nothing happens before step() or
// settle(). A byte is a token, so that every figure can be worked out by hand; the KV cache is that of the real
// runtime: prompts are compared from their beginning, generated tokens are not.
#pragma once

#include "chat/host/turn_listener.hpp"
#include "chat/turn/model_lender.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat::testing {

using Actions = std::deque<std::function<void()>>;

class ScriptedModel final : public ModelSeam {
 public:
  struct Run {
    std::string prompt;
    RunOptions options;
    std::int64_t prefilled = 0;
    std::int64_t generated = 0;
  };

  explicit ScriptedModel(Actions& actions) : actions_(actions) {
    known.name = "qwen3-0.6b";
    known.file_name = "qwen3-0.6b.rkllm";
    known.runtime_version = "1.3.0";
    known.max_context_len = 4096;
    known.has_run_options = known.has_kv_size = true;
    known.cache_identity = "1.3.0 qwen3-0.6b";
  }

  const ModelFacts& facts() const override { return known; }
  std::uint64_t foreign_changes() const override { return changes; }

  void clear_template(std::function<void(std::string)> done) override {
    ++templates_cleared;
    kv_.clear();
    post([this, done = std::move(done)] { done(template_complaint); });
  }

  void run(std::string prompt, const RunOptions& options, std::function<void(std::string_view)> on_token,
           std::function<void(const RunReport&)> done) override {
    const auto [same, unused] = std::ranges::mismatch(prompt, kv_);
    const auto known_bytes = same - prompt.begin();
    const auto size = static_cast<std::int64_t>(prompt.size()) + 1;
    runs.push_back({prompt, options, size - (known_bytes > 0 ? known_bytes + 1 : 0), 0});
    if (!options.save_cache_to.empty()) when_saving(options.save_cache_to);
    aborted_ = held_ = false;
    running = true;
    if (size > known.max_context_len || fails) {
      kv_.clear();
      ++changes;  // of which it is not known who has made them
      stray_tokens += runs.back().prefilled;
      post([this, done = std::move(done)] {
        running = false;
        RunReport report;
        report.complaint = "rkllm_run returned -1";
        report.broke_off = breaks_off;
        done(report);
      });
      return;
    }
    kv_ = std::move(prompt);
    tokens_.clear();
    if (options.max_new_tokens == 1 || answers.empty()) {
      tokens_ = {"."};
    } else {
      tokens_ = answers.front();
      answers.pop_front();
      tokens_.emplace_back();  // the one that ends the text
    }
    on_token_ = std::move(on_token);
    done_ = std::move(done);
    post_next_token();
  }

  void abort() override {
    aborted_ = true;
    go_on();
  }
  void hold() override { held_ = true; }
  void go_on() override {
    if (std::exchange(held_, false)) post_next_token();
  }
  bool is_held() const { return held_; }

  void load_cache(const std::string& path, std::function<void(bool)> done) override {
    loaded.push_back(path);
    const std::string text = text_of_cache(path);
    if (!text.empty()) kv_ = text;
    post([done = std::move(done), well = !text.empty()] { done(well); });
  }

  ModelFacts known;
  std::uint64_t changes = 0;
  std::string template_complaint;
  std::deque<std::vector<std::string>> answers;  // of the next runs that may make more than one token
  bool fails = false;
  bool breaks_off = false;        // with fails: not because of the prompt
  std::int64_t stray_tokens = 0;  // of runs that failed: the runtime counts them in the next figures
  std::function<void(const std::string& path)> when_saving = [](const std::string&) {};
  std::function<std::string(const std::string& path)> text_of_cache = [](const std::string&) { return std::string(); };
  std::vector<Run> runs;
  std::vector<std::string> loaded;
  int templates_cleared = 0;
  bool running = false;
  const std::string& kv() const { return kv_; }

 private:
  void post(std::function<void()> action) { actions_.push_back(std::move(action)); }

  // One at a time, however often it is held and goes on.
  void post_next_token() {
    if (std::exchange(next_token_is_posted_, true)) return;
    post([this] {
      next_token_is_posted_ = false;
      next_token();
    });
  }

  void next_token() {
    if (held_) return;
    Run& now = runs.back();
    // The token that is being computed when an abort comes still comes.
    if (tokens_.empty() || now.generated >= now.options.max_new_tokens || (aborted_ && now.generated > 0)) return end();
    const std::string token = tokens_.front();
    tokens_.erase(tokens_.begin());
    ++now.generated;
    const auto on_token = on_token_;
    on_token(token);
    post_next_token();
  }

  void end() {
    running = false;
    const Run& now = runs.back();
    RunReport report;
    report.end = aborted_ ? RunEnd::kAborted : RunEnd::kFinished;
    report.tokens = now.generated;
    report.kv_size = static_cast<std::int64_t>(now.prompt.size()) + 1 + now.generated - 1;
    report.prefill_tokens = (now.prefilled == 1 ? 0 : now.prefilled) + std::exchange(stray_tokens, 0);
    report.prefill_ms = 10;
    report.generate_ms = 20;
    const auto done = std::exchange(done_, nullptr);
    done(report);
  }

  Actions& actions_;
  std::string kv_;
  std::vector<std::string> tokens_;
  std::function<void(std::string_view)> on_token_;
  std::function<void(const RunReport&)> done_;
  bool aborted_ = false;
  bool held_ = false;
  bool next_token_is_posted_ = false;
};

class ScriptedLender final : public ModelLender {
 public:
  ScriptedLender() {
    info.name = "qwen3-0.6b";
    info.path = "/models/qwen3-0.6b.rkllm";
  }

  void refresh(std::function<void()> then) override { actions.push_back(std::move(then)); }
  std::vector<ModelDescription> models(const Asker& /*asker*/) const override { return {info}; }
  std::optional<ModelDescription> find(std::string_view name, const Asker& /*asker*/) const override {
    return name == info.name ? std::optional(info) : std::nullopt;
  }

  std::unique_ptr<QueuePlace> ask(PlaceWish wish, PlaceEvents<ModelLease> events) override {
    wishes.push_back(std::move(wish));
    const std::uint64_t number = ++next_;
    waiting_.push_back({number, std::move(events)});
    if (const std::size_t before = waiting_.size() - 1 + (leased ? 1U : 0U); before > 0) {
      actions.emplace_back([this, number, before] {
        for (const Place& each : waiting_) {
          if (each.number == number && each.events.queued) return each.events.queued(before);
        }
      });
    }
    actions.emplace_back([this] { grant(); });
    return std::make_unique<HeldPlace>(*this, number);
  }
  std::unique_ptr<QueuePlace> ask_for_embeddings(PlaceWish /*wish*/, PlaceEvents<EmbeddingLease> events) override {
    const std::uint64_t number = ++next_;
    embeddings_.push_back({number, std::move(events)});
    actions.emplace_back([this, number] {
      const auto place = std::ranges::find(embeddings_, number, &PlaceFor<EmbeddingLease>::number);
      if (place == embeddings_.end()) return;  // it was given up
      const auto told = std::move(place->events);
      embeddings_.erase(place);
      if (embedder == nullptr) return told.failed(TurnError::not_supported("model", "no embeddings here"));
      told.granted(std::make_unique<EmbeddingUse>(*this));
    });
    return std::make_unique<HeldPlace>(*this, number);
  }
  std::unique_ptr<QueuePlace> load(PlaceWish /*wish*/, PlaceEvents<OnlyLoaded> events) override {
    const std::uint64_t number = ++next_;
    loads_.push_back({number, std::move(events)});
    actions.emplace_back([this] {
      if (loads_.empty()) return;
      auto granted = std::move(loads_.front().events.granted);
      loads_.pop_front();
      granted(nullptr);
    });
    return std::make_unique<HeldPlace>(*this, number);
  }
  void unload(std::string /*name*/, Asker /*asker*/, std::function<void(std::optional<TurnError>)> done) override {
    actions.emplace_back([done = std::move(done)] { done(std::nullopt); });
  }

  // One action; false if there is none.
  bool step() {
    if (actions.empty()) return false;
    const auto action = std::move(actions.front());
    actions.pop_front();
    action();
    return true;
  }
  void settle() {
    while (step()) {
    }
  }

  Actions actions;
  ScriptedModel model{actions};
  EmbeddingSeam* embedder = nullptr;
  ModelDescription info;
  std::uint64_t load_number = 1;
  bool leased = false;
  bool embeddings_leased = false;
  bool pretend_others_wait = false;
  std::vector<PlaceWish> wishes;
  std::size_t places() const { return waiting_.size(); }
  std::size_t loads() const { return loads_.size(); }
  // To all who wait for a load: the model is being loaded.
  void tell_loading(const LoadProgress& progress) {
    for (const auto& each : loads_) each.events.loading(progress);
  }

 private:
  template <typename Lease>
  struct PlaceFor {
    std::uint64_t number;
    PlaceEvents<Lease> events;
  };
  using Place = PlaceFor<ModelLease>;
  class HeldPlace final : public QueuePlace {
   public:
    HeldPlace(ScriptedLender& lender, std::uint64_t number) : lender_(lender), number_(number) {}
    HeldPlace(const HeldPlace&) = delete;
    HeldPlace& operator=(const HeldPlace&) = delete;
    ~HeldPlace() override {
      const auto is_this = [this](const auto& each) { return each.number == number_; };
      lender_.waiting_.remove_if(is_this);
      lender_.loads_.remove_if(is_this);
      lender_.embeddings_.remove_if(is_this);
    }

   private:
    ScriptedLender& lender_;
    std::uint64_t number_;
  };
  class Lease final : public ModelLease {
   public:
    explicit Lease(ScriptedLender& lender) : lender_(lender) { lender.leased = true; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() override {
      lender_.leased = false;
      lender_.actions.emplace_back([&lender = lender_] { lender.grant(); });
    }
    ModelSeam& model() override { return lender_.model; }
    std::uint64_t load_number() const override { return lender_.load_number; }
    bool others_wait() const override { return lender_.pretend_others_wait || !lender_.waiting_.empty(); }
    std::optional<double> load_ms() const override { return std::nullopt; }

   private:
    ScriptedLender& lender_;
  };
  class EmbeddingUse final : public EmbeddingLease {
   public:
    explicit EmbeddingUse(ScriptedLender& lender) : lender_(lender) { lender.embeddings_leased = true; }
    EmbeddingUse(const EmbeddingUse&) = delete;
    EmbeddingUse& operator=(const EmbeddingUse&) = delete;
    ~EmbeddingUse() override { lender_.embeddings_leased = false; }
    EmbeddingSeam& model() override { return *lender_.embedder; }
    std::optional<double> load_ms() const override { return std::nullopt; }

   private:
    ScriptedLender& lender_;
  };

  void grant() {
    if (leased || waiting_.empty()) return;
    auto granted = std::move(waiting_.front().events.granted);
    waiting_.pop_front();
    granted(std::make_unique<Lease>(*this));
  }

  std::list<Place> waiting_;
  std::list<PlaceFor<OnlyLoaded>> loads_;
  std::list<PlaceFor<EmbeddingLease>> embeddings_;
  std::uint64_t next_ = 0;
};

// Keeps all that it is told.
class Heard final : public TurnListener {
 public:
  void queued(std::size_t places_before) override { positions.push_back(places_before); }
  void begun(const TurnBeginning& told) override { beginning = told; }
  void progress(const AnswerProgress& told, std::size_t /*answer*/) override {
    tokens = told.generated;
    generating_ms = told.ms;
  }
  void event(const AnswerEvent& event, std::size_t answer) override {
    if (answers.size() <= answer) answers.resize(answer + 1);
    append(answers[answer], event);
    ++events;
  }
  void ended(const AnswerEnd& end, std::size_t answer) override {
    if (answers.size() <= answer) answers.resize(answer + 1);
    answers[answer].end = end;
  }
  void finished(const Usage& told) override { sum = told; }
  void failed(const TurnError& told) override { error = told; }

  std::vector<std::size_t> positions;
  std::optional<TurnBeginning> beginning;
  std::vector<Answer> answers;
  std::size_t events = 0;
  std::int64_t tokens = 0;    // of the answer that is being made
  double generating_ms = -1;  // since the first of them
  std::optional<Usage> sum;
  std::optional<TurnError> error;
};

}  // namespace rkllm_mcp::chat::testing
