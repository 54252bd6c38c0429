// One turn, step by step: the model says nothing before the test has it say so, and the listener may go in the middle
// of whatever it hears.
#pragma once

#include "chat/host/turn_maker.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <unistd.h>

namespace rkllm_mcp::chat::testing {

using Notes = std::vector<std::string>;

// Its calls wait in the order in which they were made, until the test ends them.
class StepModel final : public ModelSeam {
 public:
  struct Run {
    std::string prompt;
    RunOptions options;
    std::function<void(std::string_view)> on_token;
    std::function<void(const RunReport&)> done;
  };

  StepModel() {
    known.name = "qwen3-0.6b";
    known.handle = "handle-1";
    known.runtime_version = "1.3.0";
    known.max_context_len = 4096;
    known.has_run_options = known.has_kv_size = true;
    known.cache_identity = "1.3.0 qwen3-0.6b";
  }

  const ModelFacts& facts() const override { return known; }
  std::uint64_t foreign_changes() const override { return 0; }
  void clear_template(std::function<void(std::string complaint)> done) override {
    notes.emplace_back("template");
    cleared = std::move(done);
  }
  void run(std::string prompt, const RunOptions& options, std::function<void(std::string_view text)> on_token,
           std::function<void(const RunReport&)> done) override {
    notes.emplace_back("run");
    runs.push_back({std::move(prompt), options, std::move(on_token), std::move(done)});
  }
  void abort() override { notes.emplace_back("abort"); }
  void hold() override { notes.emplace_back("hold"); }
  void go_on() override { notes.emplace_back("go on"); }
  void load_cache(const std::string& /*path*/, std::function<void(bool loaded)> done) override {
    notes.emplace_back("cache");
    loaded = std::move(done);
  }

  ModelFacts known;
  Notes notes;           // what was asked of it
  std::deque<Run> runs;  // a deque: a callback may begin the next one
  std::function<void(std::string)> cleared;
  std::function<void(bool)> loaded;
};

class StepLender final : public ModelLender {
 public:
  void refresh(std::function<void()> /*then*/) override {}
  std::vector<ModelDescription> models(const Asker& /*asker*/) const override { return {}; }
  std::optional<ModelDescription> find(std::string_view /*name*/, const Asker& /*asker*/) const override { return {}; }
  std::unique_ptr<QueuePlace> ask(PlaceWish told, PlaceEvents<ModelLease> to_tell) override {
    wish = std::move(told);
    events = std::move(to_tell);
    return std::make_unique<Place>(*this);
  }
  std::unique_ptr<QueuePlace> ask_for_embeddings(PlaceWish, PlaceEvents<EmbeddingLease>) override { return {}; }
  std::unique_ptr<QueuePlace> load(PlaceWish, PlaceEvents<OnlyLoaded>) override { return {}; }
  void unload(std::string, Asker, std::function<void(std::optional<TurnError>)>) override {}

  void grant() {
    const auto granted = events.granted;
    granted(std::make_unique<Lease>(*this));
  }

  StepModel model;
  PlaceWish wish;
  PlaceEvents<ModelLease> events;
  int places = 0, leases = 0;
  bool others_wait = false;

 private:
  class Place final : public QueuePlace {
   public:
    explicit Place(StepLender& lender) : lender_(lender) { ++lender_.places; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() override { --lender_.places; }

   private:
    StepLender& lender_;
  };
  class Lease final : public ModelLease {
   public:
    explicit Lease(StepLender& lender) : lender_(lender) { ++lender_.leases; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease() override { --lender_.leases; }
    ModelSeam& model() override { return lender_.model; }
    std::uint64_t load_number() const override { return 7; }
    bool others_wait() const override { return lender_.others_wait; }
    std::optional<double> load_ms() const override { return 12; }

   private:
    StepLender& lender_;
  };
};

inline Turn turn_to_make(const std::string& text = "Hi") {
  Turn turn;
  turn.messages.push_back(text_message(Role::kUser, text));
  turn.thinking = Thinking::kOff;
  turn.max_tokens = 100;
  return turn;
}

inline Turn turn_for_json() {
  Turn turn = turn_to_make();
  turn.format.kind = OutputKind::kJsonObject;
  return turn;
}

inline RunReport report_of(RunEnd end, std::int64_t tokens, std::optional<std::int64_t> kv_size = 50) {
  RunReport report;
  report.end = end;
  report.tokens = tokens;
  report.kv_size = kv_size;
  return report;
}

// A turn, whoever listens to it, and all that is told of it.
class MakerBench final : public TurnListener {
 public:
  explicit MakerBench(Turn turn = turn_to_make(), HostOptions given = {}, const std::string& caches_folder = {})
      : options(std::move(given)), caches(caches_folder, caches_folder.empty() ? 0 : 1000) {
    make(std::move(turn));
  }

  // The next turn on the same model.
  void make(Turn turn) {
    const TurnMaker::Surroundings surroundings{
        options,
        caches,
        [this](const std::string& name, std::uint64_t load) -> CacheRecord& {
          record_of = name + " " + std::to_string(load);
          return record;
        },
        [this](const std::string& name, const AnswerEnd&) { note("answered " + name); },
        [this](const std::string& handle, double seconds) { note((seconds < 0 ? "before " : "token of ") + handle); },
        [this](const std::string&) { return held_for_nobody; }};
    maker = std::make_unique<TurnMaker>(surroundings, TurnPlan(std::move(turn), family_for("qwen3", ""), {}), *this,
                                        [this] {
                                          note("gone");
                                          maker.reset();
                                        });
  }
  void begin(std::optional<KeepAlive> keep_alive = {}) {
    maker->begin(lender, {.model = "qwen3-0.6b", .asker = {}, .keep_alive = keep_alive, .peer = "peer"});
  }
  // Has the lease, and the template cleared: a run is what comes next.
  void begin_run(std::optional<KeepAlive> keep_alive = {}) {
    begin(keep_alive);
    lender.grant();
    model.cleared("");
  }
  StepModel::Run& run() { return model.runs.back(); }
  void token(std::string_view text) {
    const auto on_token = run().on_token;
    on_token(text);
  }
  void end(const RunReport& report) {
    const auto done = run().done;
    done(report);
  }
  // A whole answer of one token, and the one that ends it.
  void answer(std::string_view text) {
    token(text);
    token("");
    end(report_of(RunEnd::kFinished, 2));
  }
  void leave_at(const std::string& told) { leaves_at_ = told; }

  void queued(std::size_t places_before) override { note("queued " + std::to_string(places_before)); }
  void loading(const LoadProgress& progress) override { note("loading " + std::to_string(progress.bytes.value_or(0))); }
  void begun(const TurnBeginning& told) override {
    beginning = told;
    note("begun");
  }
  void progress(const AnswerProgress& told, std::size_t answer) override {
    note("progress " + std::to_string(told.generated) + " of " + std::to_string(answer));
  }
  void event(const AnswerEvent& event, std::size_t /*answer*/) override {
    const auto* const text = std::get_if<TextDelta>(&event);
    note("event " + (text != nullptr ? text->text : "without text"));
  }
  void ended(const AnswerEnd& told, std::size_t answer) override {
    finish = told.finish;
    note("ended " + std::to_string(answer));
  }
  void finished(const Usage& told) override {
    sum = told;
    note("finished");
  }
  void failed(const TurnError& told) override {
    error = told;
    note("failed");
  }

  StepLender lender;
  StepModel& model = lender.model;
  HostOptions options;
  PromptCaches caches;
  CacheRecord record;
  std::string record_of;
  std::size_t held_for_nobody = 0;
  Notes heard;
  std::optional<TurnBeginning> beginning;
  std::optional<Finish> finish;
  std::optional<Usage> sum;
  std::optional<TurnError> error;
  std::unique_ptr<TurnMaker> maker;

 private:
  void note(const std::string& told) {
    heard.push_back(told);
    if (told == leaves_at_ && maker) maker->listener_gone();
  }

  std::string leaves_at_;
};

// A folder for prompt caches, which goes with it.
struct MakerFolder {
  MakerFolder() = default;
  MakerFolder(const MakerFolder&) = delete;
  MakerFolder& operator=(const MakerFolder&) = delete;
  ~MakerFolder() { std::filesystem::remove_all(path); }
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("turn-maker-caches-" + std::to_string(::getpid()));
};

}  // namespace rkllm_mcp::chat::testing
