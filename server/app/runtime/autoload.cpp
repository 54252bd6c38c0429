#include "app/runtime/autoload.hpp"

#include "backend/outcome_on_loop.hpp"
#include "clock.hpp"
#include "jsonrpc/envelope.hpp"
#include "jsonrpc/unread.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace rkllm_mcp {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstRetry{1'000};
constexpr milliseconds kLongestRetry{60'000};
constexpr milliseconds kWell{60'000};  // a model that was loaded for this time has not failed twice in a row

}  // namespace

Autoload::Autoload(asio::io_context& loop, Backend& backend, const Json& models, spdlog::logger& log)
    : loop_(loop), backend_(backend), log_(log) {
  for (const auto& [name, model] : models.items()) {
    if (!model.value("autoload", false)) continue;
    models_.emplace_back(loop, name);
  }
}

void Autoload::start(const Method* init) {
  stop();
  init_ = init;
  ++runtimes_;
  lost_early_.clear();
  for (Model& model : models_) {
    model.handle.clear();
    model.loading = false;
    load(model);
  }
}

void Autoload::load(Model& model) {
  if (init_ == nullptr || model.loading) return;
  model.loading = true;
  listener_.begun(model.name);
  auto ended = [this, &model, runtime = runtimes_](const CallOutcome& outcome) {
    if (runtime == runtimes_) loaded(model, outcome);  // else the model went with its runtime
  };
  backend_.start({.method = init_,
                  .params = Json{{"model", model.name}},
                  .observer = std::make_shared<OutcomeOnLoop>(loop_, alive_.watch(), std::move(ended))});
}

void Autoload::loaded(Model& model, const CallOutcome& outcome) {
  model.loading = false;
  if (!outcome.error) {
    model.handle = outcome.result.value("handle", std::string());
    model.loaded_at = Clock::now();
    log_.info("model {} is loaded: {}", model.name, to_text(outcome.result));
    listener_.ended(model.name, model.handle);
    if (lost_early_.erase(model.handle) > 0) lost(model.handle);
    return;
  }
  const RpcError error = as_rpc_error(outcome.error);
  log_.error("model {} could not be loaded: {}", model.name, error.what());
  listener_.ended(model.name, {});
  // A worker that died may live next time, and what was loaded once can be loaded again; a model that the runtime
  // refused from the first is refused again.
  const bool has_worked = model.loaded_at != Clock::time_point();
  const bool may_pass = error.code() == ErrorCode::kRuntimeUnavailable || error.code() == ErrorCode::kQueueFull;
  if (has_worked || may_pass) load_later(model);
}

void Autoload::lost(const std::string& handle) {
  const auto found =
      std::find_if(models_.begin(), models_.end(), [&](const Model& each) { return each.handle == handle; });
  if (found == models_.end()) {
    // It may be one of those being loaded: its loss is reported before the end of its load.
    if (std::any_of(models_.begin(), models_.end(), [](const Model& each) { return each.loading; })) {
      lost_early_.insert(handle);
    }
    return;
  }
  Model& model = *found;
  model.handle.clear();
  if (Clock::now() - model.loaded_at > kWell) model.pause = milliseconds(0);
  load_later(model);
}

void Autoload::load_later(Model& model) {
  if (init_ == nullptr) return;
  log_.info("model {} is loaded again in {} ms", model.name, model.pause.count());
  model.timer.expires_after(model.pause);
  model.pause = std::clamp(2 * model.pause, kFirstRetry, kLongestRetry);
  model.timer.async_wait([this, &model](const asio::error_code& error) {
    if (!error) load(model);
  });
}

void Autoload::stop() {
  init_ = nullptr;
  for (Model& model : models_) model.timer.cancel();
}

}  // namespace rkllm_mcp
