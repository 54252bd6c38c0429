// What backend.hpp wants of a CallObserver, held against the one that stands in front of another,
// WatchedBackend::Watch: it hands on all that it is told, at once and unchanged, and all that it is answered. (Those in
// which it ends: tests/server/app.)
#include "watch/watched_backend.hpp"

#include "server/keeping_backend.hpp"
#include "support/catch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {
namespace {

using News = std::vector<std::string>;

// The last observer: notes what it is told.
class Noting final : public CallObserver {
 public:
  void on_queued(std::size_t calls_before) noexcept override { note("queued " + std::to_string(calls_before)); }
  void on_begun(std::optional<std::uint64_t> limit) noexcept override {
    note("begun " + std::to_string(limit.value_or(0)));
  }
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id) noexcept override {
    note(token("token", batch, text, id));
  }
  bool offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id,
                   const std::function<void()>& on_room) noexcept override {
    note(token("offer", batch, text, id));
    tell_of_room = on_room;
    return has_room;
  }
  void on_rows(const FloatRows& told) noexcept override {
    rows = &told;
    note("rows");
  }
  void on_done(CallOutcome told) noexcept override {
    outcome = std::move(told);
    note("done");
  }
  void stop() noexcept override { note("stop"); }
  bool wants_to_stop() const noexcept override { return wants_stop; }

  // What it has been told since this was asked last.
  News news() { return std::exchange(news_, {}); }

  bool has_room = true;
  bool wants_stop = false;
  std::function<void()> tell_of_room;
  const FloatRows* rows = nullptr;
  CallOutcome outcome;

 private:
  static std::string token(const std::string& how, std::size_t batch, std::optional<std::string_view> text,
                           std::int32_t id) {
    return how + " " + std::to_string(batch) + " " + std::string(text.value_or("none")) + " " + std::to_string(id);
  }
  void note(std::string what) { news_.push_back(std::move(what)); }

  News news_;
};

// Each way in which it is put in front of another: puts it there, and gives it.

struct Decorated {
  CallRequest request() const {
    static constexpr Method kMethod{.name = "rkllm_run",
                                    .title = {},
                                    .description = {},
                                    .declaration = {},
                                    .params = {},
                                    .handle_param = "handle",
                                    .handle = HandleRole::kUses,
                                    .input_schema = {},
                                    .output_schema = {}};
    return {.method = &kMethod, .params = Json{{"handle", "small"}}, .observer = inner};
  }

  std::shared_ptr<Noting> inner = std::make_shared<Noting>();
  KeepingBackend backend;
  Metrics metrics;
};
struct WatchesForClient : Decorated {
  std::shared_ptr<CallObserver> decorate() {
    WatchedBackend(backend, metrics, [](const auto& fields) { fields(); }).start(request());
    return std::move(backend.observer);
  }
};
struct WatchesForServer : Decorated {
  std::shared_ptr<CallObserver> decorate() {
    return WatchedBackend(backend, metrics, [](const auto&) {}).watched(request()).observer;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("an observer in front of another hands on at once all that it is told and answered", "",
                   WatchesForClient, WatchesForServer) {
  TestType kind;
  Noting& inner = *kind.inner;
  const auto outer = kind.decorate();
  REQUIRE(outer != nullptr);
  REQUIRE(outer.get() != &inner);
  CHECK(inner.news().empty());

  outer->on_queued(2);
  outer->on_queued(0);
  CHECK(inner.news() == News{"queued 2", "queued 0"});
  outer->on_begun(7);
  CHECK(inner.news() == News{"begun 7"});
  outer->on_token(1, "a", 11);
  outer->on_token(0, std::nullopt, 12);
  CHECK(inner.news() == News{"token 1 a 11", "token 0 none 12"});

  int told_of_room = 0;
  const auto on_room = [&told_of_room] { ++told_of_room; };
  CHECK(outer->offer_token(2, "b", 13, on_room));
  inner.has_room = false;
  CHECK_FALSE(outer->offer_token(0, "c", 14, on_room));
  CHECK(told_of_room == 0);
  inner.tell_of_room();
  CHECK(told_of_room == 1);
  inner.has_room = true;
  CHECK(outer->offer_token(0, "c", 14, on_room));
  CHECK(inner.news() == News{"offer 2 b 13", "offer 0 c 14", "offer 0 c 14"});

  const std::array<float, 2> values{1, 2};
  const FloatRows rows{"logits", "logits", "num_tokens", "vocab_size", values.data(), 1, 2};
  outer->on_rows(rows);
  CHECK(inner.rows == &rows);
  CHECK_FALSE(outer->wants_to_stop());
  inner.wants_stop = true;
  CHECK(outer->wants_to_stop());
  outer->stop();
  CHECK(inner.news() == News{"rows", "stop"});
}

TEMPLATE_TEST_CASE("an observer in front of another hands on how the call ended, once, and keeps nothing after it", "",
                   WatchesForClient, WatchesForServer) {
  TestType kind;
  auto outer = kind.decorate();
  const MemoryBudget memory(1000);
  CallOutcome outcome;
  const bool has_failed = GENERATE(false, true);
  if (has_failed) {
    outcome.error = std::make_exception_ptr(RpcError(ErrorCode::kCallFailed, "no"));
  } else {
    outcome.result = Json{{"status", 0}};
    outcome.state = "RKLLM_RUN_FINISH";
    outcome.values = Json{{"perf", 1}};
    outcome.rows = {{"logits", "logits", "num_tokens", "vocab_size", {1, 2}, 1, 2}};
    outcome.memory = MemoryShare(memory);
    outcome.memory.set(100);
    outcome.aborted = true;
    outcome.handle = "llm-1";
  }
  const auto error = outcome.error;
  outer->on_done(std::move(outcome));
  CHECK(kind.inner->news() == News{"done"});
  const CallOutcome& told = kind.inner->outcome;
  CHECK(told.error == error);
  if (!has_failed) {
    CHECK(told.result == Json{{"status", 0}});
    CHECK(told.state == "RKLLM_RUN_FINISH");
    CHECK(told.values == Json{{"perf", 1}});
    CHECK(told.rows.at(0).values == std::vector<float>{1, 2});
    CHECK(memory.used() == 100);
    CHECK(told.aborted);
    CHECK(told.handle == "llm-1");
  }
  outer.reset();
  CHECK(kind.inner->news().empty());
  CHECK(kind.inner.use_count() == 1);
}

}  // namespace rkllm_mcp::test
