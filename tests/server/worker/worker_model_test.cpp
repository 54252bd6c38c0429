// A model in a worker that does not say what it should, or goes: what becomes of its calls, and what of it is believed.
#include "worker/worker_model.hpp"

#include "backend/engine.hpp"
#include "jsonrpc/envelope.hpp"
#include "server/worker/worker_commands.hpp"
#include "support/catch.hpp"
#include "support/loop_thread.hpp"
#include "worker/worker_engine.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <sys/types.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace rkllm_mcp;
using namespace rkllm_mcp::test;

namespace {

Method model_method(std::string_view name, HandleRole role, bool streams = false) {
  Method method;
  method.name = name;
  method.handle = role;
  method.streams = streams;
  return method;
}
const Method kInit = model_method("init", HandleRole::kCreates);
const Method kDestroy = model_method("destroy", HandleRole::kDestroys);
const Method kRun = model_method("run", HandleRole::kUses, true);
const Method kPlain = model_method("plain", HandleRole::kUses);

// What a worker says of a call that succeeds, with the model there or not.
Json success(bool is_loaded, Json handle_values = Json::object()) {
  return {{"result", {{"status", 0}}}, {"loaded", is_loaded}, {"handle_values", std::move(handle_values)}};
}
Json failure_of_call(bool is_loaded) {
  return {{"error", {{"code", 4001}, {"message", "it will not"}, {"data", {{"status", -1}}}}}, {"loaded", is_loaded}};
}
Json ends_with(Json end) { return {{"end", std::move(end)}}; }
Json loads() { return Json::array({ends_with(success(true))}); }

class EntryListener final : public CallObserver {
 public:
  void on_token(std::size_t batch, std::optional<std::string_view>, std::int32_t) noexcept override {
    told += std::to_string(batch) + " ";
  }
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override {}

  std::string told;
};

// A model, the engine that it is of, and what is told of it.
struct ModelOf {
  explicit ModelOf(const Json& script, bool one_for_all = false)
      : engine({.loop = loop.loop(),
                .command = scripted_worker(script),
                .one_for_all = one_for_all,
                .hang = kWorkerPatience,
                .line = [this](pid_t worker, std::string_view line) {
                  printed.add(std::string(line) + " of " + std::to_string(worker));
                }}) {
    model.emplace(engine, "llm-3",
                  [this](const RpcError& why) { lost.add(std::string(why.what()) + " " + why.data().dump()); });
  }

  CallOutcome call(const Method& method, Json params = Json::object()) {
    return model->call(request(method, std::move(params)));
  }
  static CallRequest request(const Method& method, Json params = Json::object()) {
    CallRequest request;
    request.method = &method;
    request.params = std::move(params);
    return request;
  }
  void load() { REQUIRE_FALSE(call(kInit).error); }

  LoopThread loop;
  Gathered printed;
  Gathered lost;
  WorkerEngine engine;
  std::optional<WorkerModel> model;
};

RpcError error_told(const CallOutcome& outcome) {
  REQUIRE(outcome.error);
  return as_rpc_error(outcome.error);
}

bool is_alive(pid_t process) { return ::kill(process, 0) == 0 || errno != ESRCH; }

}  // namespace

TEST_CASE("a model has the id that the server gave it, whatever the worker says") {
  const Json result = GENERATE(Json::object(), Json{{"status", 0}, {"handle", "llm-99"}}, Json{{"handle", nullptr}});
  ModelOf one(Json{{"init", Json::array({ends_with({{"result", result}, {"loaded", true}})})}});
  const CallOutcome outcome = one.call(kInit);
  REQUIRE_FALSE(outcome.error);
  CHECK(outcome.result["handle"] == "llm-3");
  CHECK(outcome.result.value("status", 0) == 0);
  CHECK(one.model->loaded());
}

TEST_CASE("a worker that says it has loaded a model, and has none, is not believed") {
  const Json end = GENERATE(success(false), Json{{"result", Json::object()}}, Json{{"loaded", true}},
                            Json{{"loaded", true}, {"result", 5}}, Json{{"loaded", true}, {"result", Json::array()}});
  ModelOf one(Json{{"init", Json::array({ends_with(end)})}});
  const RpcError error = error_told(one.call(kInit));
  const std::string reason = "the worker says that it has loaded a model, and has none";
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK(error.what() == "runtime unavailable: " + reason);
  CHECK(error.data() == Json{{"reason", reason}, {"signal", nullptr}});
  CHECK_FALSE(one.model->loaded());
  CHECK_FALSE(one.model->process());
  CHECK_FALSE(one.model->loading_in());
  CHECK(one.lost.all().empty());
  CHECK(error_told(one.call(kPlain)).code() == ErrorCode::kUnknownHandle);
}

TEST_CASE("a model that could not be loaded leaves its worker, which ends if it is nobody else's") {
  const bool one_for_all = GENERATE(false, true);
  ModelOf one(Json{{"init", Json::array({{{"print", "loads"}, {"end", failure_of_call(false)}}})}}, one_for_all);
  CHECK(error_told(one.call(kInit)).what() == std::string("it will not"));
  const std::string printed = one.printed.first();
  const pid_t worker = std::stoi(printed.substr(printed.rfind(' ') + 1));
  CHECK_FALSE(one.model->process());
  CHECK(is_alive(worker) == one_for_all);
  CHECK(one.lost.all().empty());
}

TEST_CASE("what is known of a model is what a call has said of it last") {
  ModelOf one(Json{{"init", Json::array({ends_with(success(true, {{"n_batch", 1}, {"max_context_len", 4096}}))})},
                   {"plain", Json::array({ends_with(success(true, {{"n_batch", 2}})),
                                          ends_with({{"error", Json::object()}, {"handle_values", {{"n_batch", 3}}}}),
                                          ends_with({{"result", Json::object()}, {"loaded", true}}),
                                          ends_with(success(true, Json::object()))})}});
  CHECK(one.model->values().empty());
  one.load();
  CHECK(one.model->values() == Model::Values{{"n_batch", 1}, {"max_context_len", 4096}});
  CHECK_FALSE(one.call(kPlain).error);
  CHECK(one.model->values() == Model::Values{{"n_batch", 2}});
  CHECK(error_told(one.call(kPlain)).what() == std::string("the worker gave no reason"));
  CHECK(one.model->values() == Model::Values{{"n_batch", 3}});
  CHECK_FALSE(one.call(kPlain).error);
  CHECK(one.model->values() == Model::Values{{"n_batch", 3}});
  CHECK_FALSE(one.call(kPlain).error);
  CHECK(one.model->values().empty());
  CHECK(one.model->loaded());
}

TEST_CASE("a model that will not be destroyed is still there") {
  ModelOf one(Json{
      {"init", loads()},
      {"destroy", Json::array({ends_with(failure_of_call(true)), ends_with(success(true)), ends_with(success(false))})},
      {"plain", loads()}});
  one.load();
  const pid_t worker = one.model->process().value();
  const RpcError error = error_told(one.call(kDestroy));
  CHECK(error.what() == std::string("it will not"));
  CHECK(error.data() == Json{{"status", -1}});
  CHECK(one.model->loaded());
  CHECK_FALSE(one.call(kDestroy).error);  // it says so, and has it still
  CHECK(one.model->loaded());
  CHECK_FALSE(one.call(kPlain).error);
  CHECK_FALSE(one.call(kDestroy).error);
  CHECK_FALSE(one.model->loaded());
  CHECK_FALSE(one.model->process());
  CHECK_FALSE(is_alive(worker));  // what it held is free
  CHECK(one.lost.all().empty());
}

TEST_CASE("a model that its worker has no more, although destroying it failed, is lost") {
  ModelOf one(Json{{"init", loads()}, {"destroy", Json::array({ends_with(failure_of_call(false))})}});
  one.load();
  const RpcError error = error_told(one.call(kDestroy));
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK(error.what() == std::string("runtime unavailable: the worker has lost its model"));
  CHECK_FALSE(one.model->loaded());
  CHECK(one.lost.all() == std::vector<std::string>{std::string(error.what()) + " " + error.data().dump()});
}

TEST_CASE("a model whose worker ends while nothing is asked of it is lost once, with all that was printed") {
  ModelOf one(Json{{"init", Json::array({{{"print", "E rkllm: it is warm"}, {"end", success(true)}}})},
                   {"plain", Json::array({{{"print", "E rkllm: it burns"}, {"end", success(true)}}})}});
  one.load();
  CHECK_FALSE(one.call(kPlain).error);
  ::kill(one.model->process().value(), SIGTERM);
  const std::string why = one.lost.first();
  CHECK(why == R"(runtime unavailable: the process that ran the model was killed by SIGTERM )"
               R"({"reason":"the process that ran the model was killed by SIGTERM","signal":"SIGTERM",)"
               R"("log":["E rkllm: it is warm","E rkllm: it burns"]})");
  CHECK(error_told(one.call(kPlain)).code() == ErrorCode::kRuntimeUnavailable);
  CHECK_FALSE(one.model->loaded());
  CHECK(one.lost.all().size() == 1);
}

TEST_CASE("a model that goes takes its worker along if it is nobody else's, and is not told to be lost") {
  const bool one_for_all = GENERATE(false, true);
  ModelOf one(Json{{"init", loads()}}, one_for_all);
  one.load();
  const pid_t worker = one.model->process().value();
  one.model.reset();
  CHECK(is_alive(worker) == one_for_all);
  one.engine.kill();
  CHECK(one.lost.all().empty());
}

TEST_CASE("a loading is known by its process and can be stopped, where that does not end what others have") {
  const bool one_for_all = GENERATE(false, true);
  ModelOf one(Json{{"init", Json::array({{{"print", "loads"}}})}}, one_for_all);
  CHECK_FALSE(one.model->loading_in());
  auto loading = std::async(std::launch::async, [&] { return one.call(kInit); });
  const std::string printed = one.printed.first();
  const pid_t worker = std::stoi(printed.substr(printed.rfind(' ') + 1));
  CHECK(one.model->loading_in() == (one_for_all ? std::nullopt : std::optional(worker)));
  one.model->stop_loading();
  if (one_for_all) one.engine.kill();
  const RpcError error = error_told(loading.get());
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK(error.data()["signal"] == "SIGKILL");
  CHECK_FALSE(one.model->loading_in());
  CHECK_FALSE(one.model->process());
  CHECK_FALSE(one.model->loaded());
  CHECK(one.lost.all().empty());
}

TEST_CASE("a token may be of as many entries as the model's batch has, and of no more than C can count") {
  const auto [handle_values, last, beyond] =
      GENERATE(table<Json, int, int>({{Json::object(), 0, 1},
                                      {Json{{"n_batch", -5}}, 0, 1},
                                      {Json{{"n_batch", 0}}, 0, 1},
                                      {Json{{"n_batch", 4}}, 3, 4},
                                      {Json{{"n_batch", 255}}, 254, 255},
                                      {Json{{"n_batch", 1'000'000}}, 254, 255}}));
  const auto says_token = [](int entry, const Json& end) {
    return Json{{"tokens", Json::array({Json::array({entry, "x", 7})})}, {"end", end}};
  };
  ModelOf one({{"init", Json::array({ends_with(success(true, handle_values))})},
               {"run", Json::array({says_token(last, success(true, handle_values)),
                                    says_token(beyond, success(true, handle_values))})}});
  one.load();
  EntryListener within;
  one.model->begin_run(within);
  CHECK_FALSE(one.call(kRun).error);
  CHECK(within.told == std::to_string(last) + " ");
  EntryListener outside;
  one.model->begin_run(outside);
  const RpcError error = error_told(one.call(kRun));
  CHECK(error.code() == ErrorCode::kRuntimeUnavailable);
  CHECK_THAT(error.what(), has_text("a token of an entry that the batch has not"));
  CHECK(outside.told.empty());
  CHECK_FALSE(one.model->loaded());
  CHECK(one.lost.all().size() == 1);  // before its call has returned
}

TEST_CASE("what is longer than calls beside a run can be is refused before the worker hears of it") {
  constexpr std::size_t kMost = 32 * 1024;
  const std::size_t around = std::string_view(R"({"text":""})").size();
  ModelOf one(Json{{"init", loads()}, {"plain", Json::array({{{"print", "heard"}, {"end", success(true)}}})}});
  one.load();
  const auto params = [&](std::size_t bytes) { return Json{{"text", std::string(bytes - around, 'x')}}; };
  const RpcError error = error_told(one.model->call_beside(ModelOf::request(kPlain, params(kMost + 1))));
  CHECK(error.code() == ErrorCode::kInvalidParams);
  CHECK(error.what() == std::string("params: longer than those of plain can be"));
  CHECK(error.data() == Json{{"path", "params"}});
  CHECK(one.printed.all().empty());
  CHECK_FALSE(one.model->call_beside(ModelOf::request(kPlain, params(kMost))).error);
  CHECK(one.printed.first().starts_with("heard"));
  CHECK(one.model->loaded());
}
