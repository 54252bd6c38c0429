#include "served_models.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/post.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

namespace rkllm_mcp::simulation {

using namespace worker_methods;

namespace {

constexpr int kStepsToLoad = 5'000;  // a model that is not loaded after these steps counts as lost

}  // namespace

// Hears how the loading of a model ends.
class ServedModels::Loading final : public CallObserver {
 public:
  explicit Loading(std::function<void(const CallOutcome& outcome)> ended) : ended_(std::move(ended)) {}
  void on_token(std::size_t /*batch*/, std::optional<std::string_view> /*text*/,
                std::int32_t /*id*/) noexcept override {}
  void on_rows(const FloatRows& /*rows*/) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override { ended_(outcome); }

 private:
  const std::function<void(const CallOutcome& outcome)> ended_;
};

ServedModels::ServedModels(World& world) : world_(world), workers_(world) {
  workers_.workers().fail_rarely();  // or no long run would come to its end
  workers_.when_lost([this](const std::string& id) {
    const auto model = std::find_if(models_.begin(), models_.end(),
                                    [&id](const Model& each) { return !each.ids.empty() && each.ids.back() == id; });
    if (model == models_.end()) {
      lost_.insert(id);
      return;
    }
    model->is_loaded = false;
    const auto place = static_cast<std::size_t>(model - models_.begin());
    world_.may_happen("the model " + std::string(SimBackend::kHandles[place]) + " is loaded anew",
                      [this, place] { load(place); });
  });
}

void ServedModels::load() {
  workers_.workers().behave();
  for (std::size_t place = 0; place < models_.size(); ++place) load(place);
  const auto are_loaded = [this] {
    return std::all_of(models_.begin(), models_.end(), [](const Model& each) { return each.is_loaded; });
  };
  for (int i = 0; i < kStepsToLoad && !are_loaded(); ++i) world_.step();
  workers_.workers().behave(false);
}

void ServedModels::load(std::size_t place) {
  if (!workers_.has_queues()) return;
  CallRequest request;
  request.method = &kInit;
  request.params = Json{{"prompt", SimBackend::prompt("loading", 0)}};
  request.observer = std::make_shared<Loading>([this, place](const CallOutcome& outcome) {
    Model& model = models_[place];
    model.is_loaded = !outcome.error && lost_.count(outcome.handle) == 0;
    if (!outcome.error) model.ids.push_back(outcome.handle);
    if (model.is_loaded) return;
    world_.may_happen("loading is tried again", [this, place] { load(place); });
  });
  workers_.queues().start(std::move(request));
}

std::size_t ServedModels::place_of(std::string_view handle) {
  const auto* const found = std::find(std::begin(SimBackend::kHandles), std::end(SimBackend::kHandles), handle);
  return static_cast<std::size_t>(found - std::begin(SimBackend::kHandles));
}

// In the words of workers.
Backend::CallId ServedModels::start(CallRequest request) {
  World::saw("a client's call was made in a worker");
  const Model& model = models_.at(place_of(request.params.value("handle", "")));
  if (!workers_.has_queues() || model.ids.empty()) {  // the schedule has failed, or no model could ever be loaded
    asio::post(world_.loop(), [observer = std::move(request.observer)] {
      observer->on_done(
          {.error = std::make_exception_ptr(RpcError(ErrorCode::kRuntimeUnavailable, "the simulation ends"))});
    });
    return request.id;
  }
  request.params["handle"] = model.ids.back();
  request.method = request.method->streams ? &kRun : &kPlain;
  return workers_.queues().start(std::move(request));
}

void ServedModels::cancel(CallId id) {
  if (workers_.has_queues()) workers_.queues().cancel(id);
}

void ServedModels::give_up(CallId id, const RpcError& why) {
  World::saw("a call waited too long");
  if (workers_.has_queues()) workers_.queues().give_up(id, why);
}

std::function<bool()> ServedModels::losses_from_now(std::string_view handle) const {
  const Model& model = models_.at(place_of(handle));
  const bool was_loaded = model.is_loaded;
  const auto first = static_cast<std::ptrdiff_t>(model.ids.size() - (was_loaded ? 1 : 0));
  return [this, &model, was_loaded, first] {
    return !was_loaded || !model.is_loaded ||
           std::any_of(model.ids.begin() + first, model.ids.end(),
                       [this](const auto& id) { return workers_.has_failed_latest_worker(id); });
  };
}

}  // namespace rkllm_mcp::simulation
