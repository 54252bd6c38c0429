// A model that is leased, over an engine that does what the test has written.
#pragma once

#include "models/leased_seams.hpp"

#include "backend/queued_backend.hpp"
#include "jsonrpc/envelope.hpp"
#include "server/backend/queue_limits.hpp"
#include "support/catch.hpp"
#include "support/usual_limits.hpp"
#include "support/waiting_loop.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/method.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

inline constexpr std::array<std::string_view, 1> kSeamInit{"param"};
inline constexpr std::array<std::string_view, 1> kSeamHandle{"handle"};

constexpr Method seam_method(std::string_view name, std::string_view input_schema = {}) {
  Method method;
  method.name = name;
  method.handle = HandleRole::kUses;
  method.handle_param = "handle";
  method.params = kSeamHandle;
  method.streams = name == "rkllm_run";
  method.input_schema = input_schema;
  return method;
}
constexpr Method seam_init() {
  Method method;
  method.name = "rkllm_init";
  method.handle = HandleRole::kCreates;
  method.params = kSeamInit;
  return method;
}
constexpr Method seam_destroy() {
  Method method = seam_method("rkllm_destroy");
  method.handle = HandleRole::kDestroys;
  return method;
}

inline constexpr std::string_view kNewRun =
    R"({"keep_history":{},"enable_thinking":{},"sampling_params":{},"max_new_tokens":{}})";
inline constexpr std::array<Method, 7> kNewApi{seam_init(),
                                               seam_destroy(),
                                               seam_method("rkllm_run", kNewRun),
                                               seam_method("rkllm_set_chat_template"),
                                               seam_method("rkllm_clear_kv_cache"),
                                               seam_method("rkllm_load_prompt_cache"),
                                               seam_method("rkllm_get_kv_cache_size")};
// Of a runtime that has no limit of a run, and tells no sizes.
inline constexpr std::array<Method, 4> kOldApi{seam_init(), seam_destroy(),
                                               seam_method("rkllm_run", R"({"max_new_tokens":{}})"),
                                               seam_method("rkllm_load_prompt_cache")};

inline CallOutcome seam_error(const RpcError& error) { return {.error = std::make_exception_ptr(error)}; }

// An engine whose models do what the test has written, for each call of a name the first that has not been made.
class SeamEngine final : public Engine {
 public:
  struct Call {
    std::string name;
    Json params;
  };
  // On the queue's thread.
  using Act = std::function<CallOutcome(const CallRequest&)>;
  struct Script {
    std::mutex mutex;  // guards what follows
    std::map<std::string, std::vector<Act>, std::less<>> acts;
    std::vector<Call> calls;
    LostFunction lost;
    std::function<void()> when_stopped = [] {};
  };

  explicit SeamEngine(Script& script) : script_(script) {}
  std::unique_ptr<Model> new_model(const std::string& id, LostFunction lost) override {
    const std::lock_guard lock(script_.mutex);
    script_.lost = std::move(lost);
    return std::make_unique<SeamModel>(script_, id);
  }
  CallOutcome call(const CallRequest&) override { return {}; }
  bool kill() override { return false; }

 private:
  class SeamModel final : public Model {
   public:
    SeamModel(Script& script, std::string id) : script_(script), id_(std::move(id)) {}
    void begin_run(CallObserver& /*observer*/) override {}
    CallOutcome call(const CallRequest& request) override {
      CallOutcome outcome;
      if (request.method->handle == HandleRole::kDestroys) {
        is_loaded_ = false;
        return outcome;
      }
      if (request.method->handle == HandleRole::kCreates) {
        is_loaded_ = true;
        outcome.result = Json{{"handle", id_}};
        return outcome;
      }
      Act act;
      {
        const std::lock_guard lock(script_.mutex);
        script_.calls.push_back({std::string(request.method->name), request.params});
        auto& acts = script_.acts[std::string(request.method->name)];
        if (!acts.empty()) {
          act = std::move(acts.front());
          acts.erase(acts.begin());
        }
      }
      outcome.result = Json::object();
      if (act) return act(request);
      return outcome;
    }
    CallOutcome call_beside(const CallRequest&) override { return {}; }
    void stop_run() override {
      const std::lock_guard lock(script_.mutex);
      script_.when_stopped();
    }
    bool loaded() const override { return is_loaded_; }
    Values values() const override { return {}; }

   private:
    Script& script_;
    const std::string id_;
    std::atomic<bool> is_loaded_{false};
  };

  Script& script_;
};

class SeamWatch final : public CallObserver {
 public:
  void on_begun(std::optional<std::uint64_t>) noexcept override { is_there = true; }
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome) noexcept override { is_there = true; }

  std::atomic<bool> is_there{false};  // the lease, or the outcome
};

// A handle of a runtime with those methods, and a lease of it.
class SeamBench {
 public:
  explicit SeamBench(std::span<const Method> methods = kNewApi) {
    queue = std::make_shared<QueuedBackend>(std::make_unique<SeamEngine>(script), methods,
                                            usual_limits<QueuedBackend::Limits>());
    queue->identify_files_by([this](const std::string&) { return file_identity; });
    runtime.owner = queue;
    runtime.queue = queue.get();
    runtime.methods = methods;
    runtime.version = "1.3.0";
    runtime.watched = [](CallRequest request) { return request; };
    loaded.model.name = "a";
    loaded.model.path = "/models/sub/qwen3.rkllm";
    loaded.param = Json{{"max_context_len", 4096}};
  }
  SeamBench(const SeamBench&) = delete;
  SeamBench& operator=(const SeamBench&) = delete;
  ~SeamBench() {
    queue->end_lease(lease);
    queue->shut_down(Clock::now() + std::chrono::seconds(30));
  }

  void load() {
    call_outside("rkllm_init", Json{{"param", {{"model_path", loaded.model.path}}}});
    loaded.handle = queue->handles().at(0).id;
  }
  void take_lease() {
    const auto watch = std::make_shared<SeamWatch>();
    lease = queue->lease(loaded.handle, {.params = Json::object(), .observer = watch});
    REQUIRE(waiting.until([&] { return watch->is_there.load(); }));
  }
  // Of somebody who has no lease.
  void call_outside(std::string_view name, Json params) {
    const auto watch = std::make_shared<SeamWatch>();
    queue->start({.method = runtime.method(name), .params = std::move(params), .observer = watch});
    REQUIRE(waiting.until([&] { return watch->is_there.load(); }));
  }
  void will(const std::string& name, SeamEngine::Act act) {
    const std::lock_guard lock(script.mutex);
    script.acts[name].push_back(std::move(act));
  }
  void will(const std::string& name, CallOutcome outcome) {
    const auto kept = std::make_shared<CallOutcome>(std::move(outcome));
    will(name, [kept](const CallRequest&) { return std::move(*kept); });
  }
  std::vector<SeamEngine::Call> calls() {
    const std::lock_guard lock(script.mutex);
    return script.calls;
  }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const auto& call : calls()) all.push_back(call.name);
    return all;
  }

  SeamEngine::Script script;
  std::string file_identity;
  WaitingLoop waiting;
  std::shared_ptr<QueuedBackend> queue;
  ModelRuntime runtime;
  LoadedFacts loaded;
  Backend::CallId lease = 0;
};

using SeamNames = std::vector<std::string>;

}  // namespace rkllm_mcp::test
