#include "chat/host/leased_model.hpp"

#include "support/catch.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::chat;

namespace {

// A model of a runtime that knows no limit of a run: it goes on until it is told to end.
class EndlessModel final : public ModelSeam {
 public:
  const ModelFacts& facts() const override { return known; }
  std::uint64_t foreign_changes() const override { return changes; }
  void clear_template(std::function<void(std::string complaint)> done) override { cleared = std::move(done); }
  void run(std::string /*prompt*/, const RunOptions& /*options*/, std::function<void(std::string_view text)> on_token,
           std::function<void(const RunReport&)> done) override {
    token = std::move(on_token);
    ended = std::move(done);
  }
  void abort() override { ++aborts; }
  void hold() override { ++holds; }
  void go_on() override { ++goes_on; }
  void load_cache(const std::string& path, std::function<void(bool loaded)> done) override {
    cache_path = path;
    loaded = std::move(done);
  }

  ModelFacts known;
  std::uint64_t changes = 0;
  int aborts = 0, holds = 0, goes_on = 0;
  std::string cache_path;
  // What the model says, when the test wants it to.
  std::function<void(std::string)> cleared;
  std::function<void(std::string_view)> token;
  std::function<void(const RunReport&)> ended;
  std::function<void(bool)> loaded;
};

class LeaseOfEndless final : public ModelLease {
 public:
  explicit LeaseOfEndless(EndlessModel& model) : model_(model) {}
  ModelSeam& model() override { return model_; }
  std::uint64_t load_number() const override { return 3; }
  bool others_wait() const override { return false; }
  std::optional<double> load_ms() const override { return 12; }

 private:
  EndlessModel& model_;
};

struct LeaseBench {
  // A run over that prompt, which the runtime reports so.
  std::optional<RunReport> run(const std::string& prompt, const RunReport& told = finished_run()) {
    begin(prompt, 100);
    model.ended(told);
    return report;
  }
  void begin(const std::string& prompt, std::int64_t most) {
    tokens.clear();
    report.reset();
    RunOptions options;
    options.max_new_tokens = most;
    leased.run(
        prompt, options, [this](std::string_view text) { tokens.emplace_back(text); },
        [this](const RunReport& told) { report = told; });
  }
  static RunReport finished_run() {
    RunReport told;
    told.end = RunEnd::kFinished;
    told.tokens = 4;
    told.prefill_tokens = 9;
    told.prefill_ms = 1;
    told.generate_ms = 2;
    return told;
  }
  static bool has_figures(const std::optional<RunReport>& told) {
    REQUIRE(told);
    const bool has = told->prefill_tokens.has_value();
    CHECK(told->prefill_ms.has_value() == has);
    CHECK(told->generate_ms.has_value() == has);
    return has;
  }
  // The runtime's own template is switched off; empty: it went well.
  std::string clear(const std::string& says = {}) {
    std::string complaint = "nothing was said";
    leased.clear_template([&complaint](const std::string& told) { complaint = told; });
    model.cleared(says);
    return complaint;
  }

  EndlessModel model;
  CacheRecord record;
  LeasedModel leased{std::make_unique<LeaseOfEndless>(model), record};
  std::vector<std::string> tokens;
  std::optional<RunReport> report;
};

using Tokens = std::vector<std::string>;

}  // namespace

TEST_CASE("a runtime that knows no limit of a run is told to end at the last token, and later ones are not passed on") {
  LeaseBench bench;
  bench.begin("prompt", 2);
  bench.model.token("a");
  CHECK(bench.model.aborts == 0);
  bench.model.token("b");
  CHECK(bench.model.aborts == 1);
  bench.model.token("c");  // came before the abort took effect
  CHECK(bench.model.aborts == 1);
  CHECK(bench.tokens == Tokens{"a", "b"});
  bench.begin("prompt", 1);  // each run counts anew
  bench.model.token("d");
  CHECK(bench.model.aborts == 2);
  CHECK(bench.tokens == Tokens{"d"});
}

TEST_CASE("a runtime that knows the limit of a run is left to keep it") {
  LeaseBench bench;
  bench.model.known.has_run_options = true;
  bench.begin("prompt", 1);
  bench.model.token("a");
  bench.model.token("b");
  CHECK(bench.model.aborts == 0);
  CHECK(bench.tokens == Tokens{"a", "b"});
}

TEST_CASE(
    "a template that was switched off need not be again, until that has failed or somebody has changed something") {
  LeaseBench bench;
  CHECK(bench.record.must_clear_template(0));
  CHECK(bench.clear("rkllm_set_chat_template returned -1") == "rkllm_set_chat_template returned -1");
  CHECK(bench.record.must_clear_template(0));
  CHECK(bench.clear().empty());
  CHECK_FALSE(bench.record.must_clear_template(0));
  CHECK(bench.record.must_clear_template(1));
}

TEST_CASE("a change that comes while the template is switched off is seen afterwards") {
  LeaseBench bench;
  bench.leased.clear_template([](const std::string&) {});
  bench.model.changes = 1;
  bench.model.cleared("");
  CHECK(bench.record.must_clear_template(bench.model.changes));
}

TEST_CASE("the prompt of a run, or the text of a cache, is what the next run may begin with") {
  LeaseBench bench;
  bench.clear();
  CHECK(bench.leased.reusable_bytes("hello world") == 0);
  bench.run("hello there");
  CHECK(bench.leased.reusable_bytes("hello world") == 6);
  std::vector<bool> told;
  bench.leased.load_cache("/caches/1", "another text", [&told](bool loaded) { told.push_back(loaded); });
  CHECK(bench.model.cache_path == "/caches/1");
  CHECK(bench.leased.reusable_bytes("another one") == 0);  // not yet
  bench.model.loaded(true);
  CHECK(bench.leased.reusable_bytes("another one") == 8);
  bench.leased.load_cache("/caches/2", "third", [&told](bool loaded) { told.push_back(loaded); });
  bench.model.loaded(false);
  CHECK(bench.leased.reusable_bytes("third") == 0);
  CHECK(bench.leased.reusable_bytes("another one") == 8);
  CHECK(told == std::vector<bool>{true, false});
}

TEST_CASE("figures are told of a run, but not those that contain the work of another one") {
  LeaseBench bench;
  bench.clear();
  CHECK(LeaseBench::has_figures(bench.run("a")));
  CHECK(bench.report->tokens == 4);
  RunReport failed;
  failed.complaint = "rkllm_run returned -1";
  CHECK(bench.run("b", failed)->complaint == "rkllm_run returned -1");
  const auto behind = bench.run("c");
  CHECK_FALSE(LeaseBench::has_figures(behind));
  CHECK(behind->tokens == 4);  // which are its own
  CHECK(LeaseBench::has_figures(bench.run("d")));
}

TEST_CASE("a conversation is one until its run is said to have only counted, and somebody else's is one, too") {
  LeaseBench bench;
  bench.clear();
  CHECK_FALSE(bench.leased.may_hold_conversation());
  bench.run("a");
  CHECK(bench.leased.may_hold_conversation());
  bench.leased.has_only_counted();
  CHECK_FALSE(bench.leased.may_hold_conversation());
  bench.model.changes = 1;
  CHECK(bench.leased.may_hold_conversation());
}

TEST_CASE("a leased model is the lease's model, held and ended as the turn wants it") {
  LeaseBench bench;
  bench.leased.hold();
  bench.leased.go_on();
  bench.leased.go_on();
  bench.leased.abort();
  CHECK(bench.model.holds == 1);
  CHECK(bench.model.goes_on == 2);
  CHECK(bench.model.aborts == 1);
  CHECK(bench.leased.lease().load_number() == 3);
  CHECK(bench.leased.lease().load_ms() == 12);
  CHECK(&bench.leased.facts() == &bench.model.known);
}
