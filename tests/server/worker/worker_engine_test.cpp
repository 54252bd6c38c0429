// Who gets which worker, what becomes of one that is gone, and what is told where none can be had.
#include "worker/worker_engine.hpp"

#include "backend/engine.hpp"
#include "jsonrpc/envelope.hpp"
#include "server/worker/worker_commands.hpp"
#include "support/catch.hpp"
#include "support/loop_thread.hpp"
#include "support/refusal.hpp"
#include "worker/worker_process.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

using For = WorkerEngine::For;

Method engine_method(std::string_view name, HandleRole role) {
  Method method;
  method.name = name;
  method.handle = role;
  return method;
}
const Method kVersionOfEngine = engine_method("version", HandleRole::kNone);
const Method kInitOfEngine = engine_method("init", HandleRole::kCreates);

CallRequest engine_request(const Method& method) {
  CallRequest request;
  request.method = &method;
  request.params = Json::object();
  return request;
}

// Answers whatever an engine asks.
ChildProcess::Command willing_worker() {
  const Json succeeds{{"result", {{"status", 0}}}};
  Json has_loaded = succeeds;
  has_loaded["loaded"] = true;
  return scripted_worker({{"", Json::array({{{"end", Json::object()}}})},
                          {"version", Json::array({{{"print", "asked"}, {"end", succeeds}}})},
                          {"init", Json::array({{{"print", "loads"}, {"end", has_loaded}}})}});
}

enum class Workers { kOneForEach, kOneForAll };

struct EngineOf {
  explicit EngineOf(ChildProcess::Command command, Workers workers = Workers::kOneForEach) {
    engine.emplace(WorkerEngine::Options{.loop = loop.loop(),
                                         .command = std::move(command),
                                         .one_for_all = workers == Workers::kOneForAll,
                                         .hang = kWorkerPatience,
                                         .line = [this](pid_t worker, std::string_view line) {
                                           printed.add(std::to_string(worker) + " " + std::string(line));
                                         }});
  }
  bool has_printed(pid_t worker, const std::string& line) const {
    return printed.has(std::to_string(worker) + " " + line);
  }
  std::unique_ptr<Model> loaded_model() {
    auto model = engine->new_model("llm-1", [](const RpcError&) {});
    REQUIRE_FALSE(model->call(engine_request(kInitOfEngine)).error);
    return model;
  }

  LoopThread loop;
  Gathered printed;
  std::optional<WorkerEngine> engine;
};

RpcError error_of(const CallOutcome& outcome) {
  REQUIRE(outcome.error);
  CHECK(outcome.result.is_null());
  return as_rpc_error(outcome.error);
}

bool is_running(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace

TEST_CASE("the worker that was tried out makes calls, and is the next model's") {
  EngineOf one(willing_worker());
  one.engine->try_out();
  const pid_t tried = one.engine->worker_for(For::kCalls)->id();
  CHECK_FALSE(one.engine->call(engine_request(kVersionOfEngine)).error);
  CHECK(one.has_printed(tried, "asked"));
  const auto model = one.loaded_model();
  CHECK(model->process() == tried);
  CHECK(one.has_printed(tried, "loads"));
}

TEST_CASE("a worker that a model has taken is nobody else's, and calls without a model get another one") {
  EngineOf one(willing_worker());
  CHECK_FALSE(one.engine->call(engine_request(kVersionOfEngine)).error);
  const auto model = one.loaded_model();
  const pid_t next = one.engine->worker_for(For::kCalls)->id();
  CHECK(next != model->process());
  CHECK_FALSE(one.engine->call(engine_request(kVersionOfEngine)).error);
  CHECK(one.has_printed(next, "asked"));
  CHECK(model->loaded());
  const auto second = one.loaded_model();
  CHECK(second->process() == next);
}

TEST_CASE("whoever takes a worker for a model has it alone, where each model has one") {
  EngineOf one(willing_worker());
  const auto waiting = one.engine->worker_for(For::kCalls);
  CHECK(one.engine->worker_for(For::kCalls) == waiting);
  CHECK(one.engine->worker_for(For::kModel) == waiting);
  CHECK(one.engine->worker_for(For::kCalls) != waiting);
}

TEST_CASE("all have the same worker, where there is one for all") {
  EngineOf one(willing_worker(), Workers::kOneForAll);
  const auto worker = one.engine->worker_for(For::kModel);
  CHECK(one.engine->worker_for(For::kModel) == worker);
  CHECK(one.engine->worker_for(For::kCalls) == worker);
  CHECK_FALSE(one.engine->call(engine_request(kVersionOfEngine)).error);
  CHECK(one.has_printed(worker->id(), "asked"));
}

TEST_CASE("a worker that has died is replaced when somebody needs one") {
  EngineOf one(willing_worker(), GENERATE(Workers::kOneForEach, Workers::kOneForAll));
  CHECK_FALSE(one.engine->call(engine_request(kVersionOfEngine)).error);
  const auto dead = one.engine->worker_for(For::kCalls);
  dead->kill();
  REQUIRE(dead->wait_for_end(kWorkerPatience));
  CHECK_FALSE(one.engine->call(engine_request(kVersionOfEngine)).error);
  const auto next = one.engine->worker_for(For::kCalls);
  CHECK(next->id() != dead->id());
  CHECK(one.has_printed(next->id(), "asked"));
}

TEST_CASE("a worker dies with its engine") {
  EngineOf one(silent_worker());
  const pid_t worker = one.engine->worker_for(For::kCalls)->id();
  CHECK(is_running(worker));
  one.engine.reset();
  CHECK_FALSE(is_running(worker));
}

TEST_CASE("who has a worker keeps it when its engine ends") {
  EngineOf one(silent_worker());
  const auto worker = one.engine->worker_for(For::kModel);
  CHECK(one.engine->worker_for(For::kModel) != worker);
  CHECK_FALSE(worker->ended());
}

TEST_CASE("an engine that is killed kills every worker that somebody has, and starts none any more") {
  EngineOf one(silent_worker());
  const auto taken = one.engine->worker_for(For::kModel);
  const auto waiting = one.engine->worker_for(For::kCalls);
  CHECK(one.engine->kill());
  for (const auto& worker : {taken, waiting}) {
    const auto end = worker->wait_for_end(kWorkerPatience);
    REQUIRE(end);
    CHECK(end->signal == SIGKILL);
  }
  CHECK(one.engine->kill());
  const std::string reason = "the server is shutting down";
  for (const auto use : {For::kCalls, For::kModel}) {
    const RpcError error = test::error_of([&] { one.engine->worker_for(use); });
    CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
    CHECK(error.what() == "runtime unavailable: " + reason);
    CHECK(error.data() == Json{{"reason", reason}, {"signal", nullptr}});
  }
  CHECK(test::error_of([&] { one.engine->try_out(); }).what() == "runtime unavailable: " + reason);
  CHECK(error_of(one.engine->call(engine_request(kVersionOfEngine))).what() == "runtime unavailable: " + reason);
}

TEST_CASE("who waits for a worker that says nothing is told of its end when the engine is killed") {
  EngineOf one(shell("echo ready; exec cat <&3 >/dev/null"));
  auto trying = std::async(std::launch::async, [&] { return test::error_of([&] { one.engine->try_out(); }); });
  CHECK_THAT(one.printed.first(), has_text(" ready"));
  one.engine->kill();
  const RpcError error = trying.get();
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK(error.data()["signal"] == "SIGKILL");
}

TEST_CASE("a program that cannot be started is named in the error of whoever needs it") {
  EngineOf one(ChildProcess::Command{"/no/such/program", {}});
  const auto begins_with = has_text("runtime unavailable: cannot start /no/such/program");
  const RpcError refused = test::error_of([&] { one.engine->try_out(); });
  CHECK(refused.code() == ErrorCode::kRuntimeUnavailable);
  CHECK_THAT(refused.what(), begins_with);
  CHECK_THAT(error_of(one.engine->call(engine_request(kVersionOfEngine))).what(), begins_with);
  bool was_lost = false;
  const auto model = one.engine->new_model("llm-1", [&was_lost](const RpcError&) { was_lost = true; });
  CHECK_THAT(error_of(model->call(engine_request(kInitOfEngine))).what(), begins_with);
  CHECK_FALSE(model->loaded());
  CHECK_FALSE(model->process());
  CHECK_FALSE(was_lost);
}

TEST_CASE("a worker that cannot work says why to whoever tries it out, and to the next one again") {
  EngineOf one(shell("echo 'E worker: there is no library' >&2; exit 3"));
  for (int tries = 0; tries < 2; ++tries) {
    const RpcError error = test::error_of([&] { one.engine->try_out(); });
    CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
    CHECK(error.what() == std::string("runtime unavailable: there is no library"));
    CHECK(error.data()["reason"] == "there is no library");
    CHECK(error.data()["signal"].is_null());
  }
}
