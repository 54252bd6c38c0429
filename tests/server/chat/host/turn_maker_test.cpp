// One turn, step by step: the model says nothing before the test has it say so, and the listener may go in the middle
// of whatever it hears. What comes of whole turns is in turn_test.cpp.
#include "chat/host/turn_maker.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

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

Turn turn_to_make(const std::string& text = "Hi") {
  Turn turn;
  turn.messages.push_back(text_message(Role::kUser, text));
  turn.thinking = Thinking::kOff;
  turn.max_tokens = 100;
  return turn;
}

Turn turn_for_json() {
  Turn turn = turn_to_make();
  turn.format.kind = OutputKind::kJsonObject;
  return turn;
}

RunReport report_of(RunEnd end, std::int64_t tokens, std::optional<std::int64_t> kv_size = 50) {
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

}  // namespace

TEST_CASE("what is heard of a turn's place is handed on, but of those before it only whom a client waits for") {
  MakerBench bench;
  bench.begin(KeepAlive{.seconds = 9});
  CHECK(bench.lender.wish.model == "qwen3-0.6b");
  CHECK(bench.lender.wish.keep_alive == KeepAlive{.seconds = 9});
  CHECK(bench.lender.wish.peer == "peer");
  bench.held_for_nobody = 1;
  bench.lender.events.queued(3);
  bench.lender.events.queued(1);
  bench.held_for_nobody = 2;
  bench.lender.events.queued(1);  // and not less than none
  bench.lender.events.loading({.bytes = 5});
  CHECK(bench.heard == Notes{"queued 2", "queued 0", "queued 0", "loading 5"});
  CHECK(bench.lender.places == 1);
  bench.lender.grant();
  CHECK(bench.lender.places == 0);
  CHECK(bench.lender.leases == 1);
  CHECK(bench.record_of == "qwen3-0.6b 7");
}

TEST_CASE("a place that comes to nothing is told once as the failure it was, and the turn is gone") {
  MakerBench bench;
  bench.begin();
  bench.lender.events.failed(TurnError::try_later(ErrorKind::kQueueFull, "too many wait", 3));
  CHECK(bench.heard == Notes{"failed", "gone"});
  CHECK(bench.error->kind() == ErrorKind::kQueueFull);
  CHECK(bench.error->retry_after_s() == 3);
  CHECK(bench.lender.places == 0);
}

TEST_CASE(
    "a turn whose listener goes while it waits gives its place up at once, and tells nothing but that it is gone") {
  MakerBench bench;
  bench.begin();
  bench.maker->listener_gone();
  CHECK(bench.heard == Notes{"gone"});
  CHECK(bench.lender.places == 0);
  CHECK_FALSE(bench.maker);
}

TEST_CASE("a turn whose listener goes keeps its model until the step that it is at has ended, and begins no other") {
  MakerFolder folder;
  MakerBench bench(turn_to_make(), {}, folder.path.string());
  std::string asked;
  const auto keep_cache = [&bench] {
    const std::string path = bench.caches.path_for(bench.model.known.cache_identity, "<|im_start|>");
    std::ofstream(path) << "x";
    bench.caches.written(path, bench.model.known.cache_identity, "<|im_start|>");
  };
  SECTION("the template") {
    keep_cache();
    bench.begin();
    bench.lender.grant();
    asked = "template";
    bench.maker->listener_gone();
    CHECK(bench.lender.leases == 1);
    bench.model.cleared("");
  }
  SECTION("the template, which fails") {
    bench.begin();
    bench.lender.grant();
    asked = "template";
    bench.maker->listener_gone();
    bench.model.cleared("rkllm_set_chat_template returned -1");
  }
  SECTION("a cache") {
    keep_cache();
    bench.begin();
    bench.lender.grant();
    bench.model.cleared("");
    asked = "cache";
    bench.maker->listener_gone();
    CHECK(bench.lender.leases == 1);
    bench.model.loaded(true);
  }
  SECTION("a count") {
    bench.model.known.max_context_len = 96;
    bench.begin_run();
    REQUIRE(bench.run().options.max_new_tokens == 1);
    asked = "run";
    bench.maker->listener_gone();
    CHECK(bench.model.notes.back() == "abort");
    bench.model.notes.pop_back();
    CHECK(bench.lender.leases == 1);
    bench.end(report_of(RunEnd::kAborted, 1));
  }
  SECTION("its run, also where that fails") {
    bench.begin_run();
    asked = "run";
    bench.maker->listener_gone();
    CHECK(bench.model.notes.back() == "abort");
    bench.model.notes.pop_back();
    bench.token("late");
    CHECK(bench.lender.leases == 1);
    bench.heard.clear();  // it had begun
    bench.end(report_of(RunEnd::kFailed, 0));
  }
  CHECK(bench.heard == Notes{"gone"});
  CHECK(bench.model.notes.back() == asked);
  CHECK(bench.lender.leases == 0);
}

TEST_CASE("a listener may go in whatever it hears of an answer, and hears nothing more") {
  MakerBench bench;
  Notes told{"begun"};
  SECTION("that it begins") {
    bench.leave_at("begun");
    bench.begin_run();
    CHECK(bench.model.runs.empty());
  }
  SECTION("that a token has come") {
    told.insert(told.end(), {"token of handle-1", "progress 1 of 0"});
    bench.leave_at("progress 1 of 0");
    bench.begin_run();
    bench.token("a");
    CHECK(bench.model.notes.back() == "abort");
    bench.token("b");
    CHECK(bench.lender.leases == 1);
    bench.end(report_of(RunEnd::kAborted, 2));
  }
  SECTION("what came") {
    told.insert(told.end(), {"token of handle-1", "progress 1 of 0", "event a"});
    bench.leave_at("event a");
    bench.begin_run();
    bench.token("a");
    bench.token("b");
    bench.end(report_of(RunEnd::kFinished, 2));
  }
  SECTION("that an answer has ended") {
    told.insert(told.end(), {"token of handle-1", "progress 1 of 0", "event a", "progress 2 of 0",
                             "answered qwen3-0.6b", "ended 0"});
    bench.leave_at("ended 0");
    bench.begin_run();
    bench.answer("a");
  }
  told.emplace_back("gone");
  CHECK(bench.heard == told);
  CHECK(bench.model.runs.size() <= 1);  // no warm-up
  CHECK(bench.lender.leases == 0);
  CHECK_FALSE(bench.maker);
}

TEST_CASE("a listener that goes in the last that it hears neither ends the warm-up nor is told of its own going") {
  MakerBench bench;
  SECTION("the end") {
    bench.leave_at("finished");
    bench.begin_run();
    bench.answer("a");
    REQUIRE(bench.model.runs.size() == 2);
    CHECK(bench.model.notes.back() == "run");
    CHECK(bench.heard.back() == "finished");
    bench.end(report_of(RunEnd::kFinished, 1));
  }
  SECTION("the failure") {
    bench.leave_at("failed");
    bench.begin_run();
    bench.end(report_of(RunEnd::kFailed, 0));
  }
  CHECK(bench.heard.back() == "gone");
  CHECK(std::ranges::count(bench.heard, "gone") == 1);
  CHECK_FALSE(bench.maker);
}

TEST_CASE("a turn holds a model for nobody behind its answer and when its listener has gone, and not before") {
  MakerBench bench;
  bench.begin();
  CHECK_FALSE(bench.maker->holds_for_nobody("qwen3-0.6b"));
  bench.lender.grant();
  bench.model.cleared("");
  CHECK_FALSE(bench.maker->holds_for_nobody("qwen3-0.6b"));
  SECTION("answered") {
    bench.answer("a");
    REQUIRE(bench.sum);
  }
  SECTION("gone") { bench.maker->listener_gone(); }
  REQUIRE(bench.maker);
  CHECK(bench.maker->holds_for_nobody("qwen3-0.6b"));
  CHECK_FALSE(bench.maker->holds_for_nobody("another"));
}

TEST_CASE("a turn that was held before its run, or between two, begins each held, and the warm-up is held by nobody") {
  Turn turn = turn_to_make();
  turn.answers = 2;
  MakerBench bench(turn);
  bench.begin();
  bench.maker->hold();
  bench.lender.grant();
  bench.model.cleared("");
  CHECK(bench.model.notes == Notes{"template", "run", "hold"});
  bench.maker->go_on();
  CHECK(bench.model.notes.back() == "go on");
  bench.token("a");
  bench.maker->hold();
  bench.token("");
  bench.end(report_of(RunEnd::kFinished, 2));
  CHECK(bench.model.notes == Notes{"template", "run", "hold", "go on", "hold", "run", "hold"});
  bench.answer("b");
  REQUIRE(bench.sum);
  CHECK(bench.model.notes.back() == "run");
  bench.maker->go_on();
  bench.maker->hold();
  CHECK(bench.model.notes.back() == "run");
}

TEST_CASE("a template that cannot be switched off, or a handle of batches, ends a turn before its run") {
  MakerBench bench;
  std::string why;
  SECTION("template") {
    bench.begin();
    bench.lender.grant();
    bench.model.cleared("rkllm_set_chat_template returned -1");
    why = "rkllm_set_chat_template returned -1";
  }
  SECTION("batches") {
    bench.model.known.n_batch = 4;
    bench.begin();
    bench.lender.grant();
    why = "4";
    CHECK(bench.model.notes.empty());
  }
  REQUIRE(bench.error);
  CHECK_THAT(bench.error->what(), test::has_text(why));
  CHECK(bench.heard == Notes{"failed", "gone"});
  CHECK(bench.model.runs.empty());
  CHECK(bench.lender.leases == 0);
}

TEST_CASE("a count of a prompt that fails is an error with its own words, unless the prompt may have been too long") {
  MakerBench bench;
  bench.model.known.max_context_len = 96;
  auto kind = ErrorKind::kRuntimeFailed;
  std::string words = "rkllm_run returned -1";
  RunReport report = report_of(RunEnd::kFailed, 0);
  report.complaint = words;
  SECTION("the worker died") {
    bench.make(turn_to_make(std::string(200, 'x')));
    report.lost = true;
  }
  SECTION("a token had come") {
    bench.make(turn_to_make(std::string(200, 'x')));
    report.tokens = 1;
  }
  SECTION("it is shorter than the context") {}
  SECTION("it may be longer") {
    bench.make(turn_to_make(std::string(200, 'x')));
    kind = ErrorKind::kContext;
    words = "96";
  }
  SECTION("the runtime does not say why") {
    report.complaint.clear();
    words = "does not say why";
  }
  SECTION("the runtime does not tell how long it is") {
    report = report_of(RunEnd::kFinished, 1, std::nullopt);
    words = "does not tell how long the prompt is";
  }
  bench.begin_run();
  REQUIRE(bench.run().options.max_new_tokens == 1);
  bench.end(report);
  REQUIRE(bench.error);
  CHECK(bench.error->kind() == kind);
  CHECK_THAT(bench.error->what(), test::has_text(words));
  CHECK(bench.heard == Notes{"failed", "gone"});
}

TEST_CASE("a count whose limit is an abort, as older runtimes have it, is no call of somebody else's") {
  MakerBench bench;
  bench.model.known.max_context_len = 96;
  bench.model.known.has_run_options = false;
  bench.begin_run();
  bench.token("x");
  CHECK(bench.model.notes.back() == "abort");
  bench.end(report_of(RunEnd::kAborted, 1, 60));
  CHECK_FALSE(bench.error);
  REQUIRE(bench.model.runs.size() == 2);
  CHECK(bench.run().options.max_new_tokens == 96 - 60);
  CHECK(bench.beginning->usage.prompt == 60);
}

TEST_CASE("a run that ends with the last token that it may make is cut, whether by itself or by an abort") {
  for (const RunEnd end : {RunEnd::kFinished, RunEnd::kAborted}) {
    Turn turn = turn_to_make();
    turn.max_tokens = 2;
    MakerBench bench(turn);
    bench.begin_run();
    bench.token("a");
    bench.token("b");
    bench.end(report_of(end, 2));
    CHECK_FALSE(bench.error);
    CHECK(bench.finish == Finish::kLength);
  }
}

TEST_CASE("tokens behind a stop string are not told, and that its run was aborted is no fault") {
  Turn turn = turn_to_make();
  turn.stop = {"END"};
  MakerBench bench(turn);
  bench.begin_run();
  bench.token("aEND");
  CHECK(bench.model.notes.back() == "abort");
  const Notes before = bench.heard;
  bench.token("b");
  CHECK(bench.heard == before);
  bench.end(report_of(RunEnd::kAborted, 2));
  CHECK(bench.finish == Finish::kStopString);
  CHECK(bench.sum->generated == 2);  // the late one was made as well
}

TEST_CASE("the first token of a turn is told once, and each answer that has ended before its listener hears of it") {
  Turn turn = turn_to_make();
  turn.answers = 2;
  MakerBench bench(turn, {.warm_up_bytes = 0});
  bench.begin_run();
  bench.answer("a");
  bench.answer("b");
  CHECK(bench.heard == Notes{"begun", "token of handle-1", "progress 1 of 0", "event a", "progress 2 of 0",
                             "answered qwen3-0.6b", "ended 0", "progress 1 of 1", "event b", "progress 2 of 1",
                             "answered qwen3-0.6b", "ended 1", "finished", "gone"});
  CHECK(bench.model.runs.size() == 2);
}

TEST_CASE("options that cannot be honoured are named when an answer begins, but not what is so in any case") {
  Turn turn = turn_to_make();
  turn.context = 2048;
  turn.conversation_field = "conversation";
  MakerBench bench(turn);
  bench.begin_run();
  CHECK(bench.beginning->ignored == Notes{"options.num_ctx", "conversation"});

  turn.context = 4096;  // which the model has
  turn.conversation_field.clear();
  bench.make(turn);
  bench.begin();
  bench.lender.grant();
  CHECK(bench.beginning->ignored.empty());
}

TEST_CASE("each try of an answer has half the freedom of the one before, and the next answer's first has all of it") {
  Turn turn = turn_for_json();
  turn.answers = 2;
  turn.sampling.temperature = 0.8;
  MakerBench bench(turn, {.warm_up_bytes = 0, .structured_tries = 3});
  bench.begin_run();
  bench.answer("no");
  bench.answer("no");
  bench.answer("{}");
  bench.answer("{}");
  REQUIRE(bench.sum);
  std::vector<double> temperatures;
  for (const auto& run : bench.model.runs) temperatures.push_back(run.options.sampling.temperature);
  CHECK(temperatures == std::vector<double>{0.8, 0.4, 0.2, 0.8});
}

TEST_CASE("there is one try at least, and the complaint says how many there were") {
  const auto failed = [](unsigned tries) {
    MakerBench bench(turn_for_json(), {.structured_tries = tries});
    bench.begin_run();
    while (!bench.error) bench.answer("no");
    CHECK(bench.model.runs.size() == std::max(tries, 1U));
    CHECK(bench.error->kind() == ErrorKind::kInvalidAnswer);
    CHECK(std::ranges::count(bench.heard, "answered qwen3-0.6b") == 0);
    return std::string(bench.error->what());
  };
  CHECK_THAT(failed(0), test::has_text("after 1 tries"));
  CHECK_THAT(failed(2), test::has_text("after 2 tries"));
}

TEST_CASE(
    "nothing is warmed up behind a model that is unloaded, an answer that nothing goes on from, or without bytes") {
  Turn turn = turn_to_make();
  HostOptions options;
  std::optional<KeepAlive> keep_alive;
  bool is_full = false;
  SECTION("unloaded") { keep_alive = KeepAlive{.seconds = 0}; }
  SECTION("nothing goes on") { turn.goes_on = false; }
  SECTION("no bytes") { options.warm_up_bytes = 0; }
  SECTION("a raw prompt") {
    turn.messages.clear();
    turn.raw_prompt = "Hi";
  }
  SECTION("the context is full") { is_full = true; }
  MakerBench bench(turn, options);
  bench.begin_run(keep_alive);
  bench.token("a");
  bench.token("");
  if (is_full) bench.model.known.max_context_len = 50;
  bench.end(report_of(RunEnd::kFinished, 2, 1));
  CHECK(bench.sum);
  CHECK(bench.model.runs.size() == 1);
  CHECK(bench.heard.back() == "gone");
}

TEST_CASE(
    "a warm-up takes whole characters, goes on behind an abort, and gives way to whoever waits between two slices") {
  MakerBench bench(turn_to_make(), {.warm_up_bytes = 1});
  bench.begin_run();
  bench.answer("€€");  // of three bytes each
  REQUIRE(bench.model.runs.size() == 2);
  const std::string first = bench.run().prompt;
  CHECK(first.ends_with("€"));
  CHECK_FALSE(first.ends_with("€€"));
  // One that somebody's abort has cut is none that has failed: its prompt is there.
  bench.end(report_of(RunEnd::kAborted, 1));
  REQUIRE(bench.model.runs.size() == 3);
  CHECK(bench.run().prompt == first + "€");
  bench.lender.others_wait = true;
  bench.end(report_of(RunEnd::kFinished, 1));
  CHECK(bench.model.runs.size() == 3);
  CHECK(bench.heard.back() == "gone");
  CHECK(bench.lender.leases == 0);
}

TEST_CASE("the cache of a warm-up is kept if it was written, and no conversation was deleted meanwhile") {
  MakerFolder folder;
  MakerBench bench(turn_to_make(), {}, folder.path.string());
  bench.begin_run();
  const auto warm = [&bench] {
    bench.answer("a");
    const std::string path = bench.run().options.save_cache_to;
    REQUIRE_FALSE(path.empty());
    std::ofstream(path) << "cache";
    return path;
  };
  RunReport report = report_of(RunEnd::kFinished, 1);
  std::size_t kept = 0;
  std::string path;
  SECTION("kept") {
    path = warm();
    kept = 1;
  }
  SECTION("not written") {
    path = warm();
    report.cache_saved = false;
  }
  SECTION("failed") {
    path = warm();
    report.end = RunEnd::kFailed;
  }
  SECTION("deleted meanwhile") {
    path = warm();
    bench.caches.forget_all();
    std::ofstream(path) << "cache";
  }
  SECTION("deleted before") {
    bench.caches.forget_all();
    bench.answer("a");
    CHECK(bench.run().options.save_cache_to.empty());
  }
  SECTION("not known what it would be of") {
    bench.model.known.cache_identity.clear();
    bench.answer("a");
    CHECK(bench.run().options.save_cache_to.empty());
  }
  bench.end(report);
  CHECK(bench.caches.files() == kept);
  if (!path.empty()) CHECK(std::filesystem::exists(path) == (kept > 0));
  CHECK(bench.heard.back() == "gone");
  CHECK(bench.lender.leases == 0);
}
