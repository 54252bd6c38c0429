#include "worker/worker_model.hpp"

#include "backend/logged_errors.hpp"

#include <rkllm_mcp/errors.hpp>

#include <array>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::seconds kToEnd{1};
constexpr std::int32_t kNoToken = -1;  // text without one: what was left of an unfinished character

// What a chunk says of itself; the rest of a last chunk is the result of the run.
constexpr std::array kOfChunks{"stream_id", "seq", "batch", "delta", "token_id", "end", "state", "aborted"};

}  // namespace

WorkerModel::~WorkerModel() { leave_worker(); }

void WorkerModel::leave_worker() {
  if (!worker_) return;
  worker_->forget(this);
  beside_.reset();
  queued_.reset();
  worker_.reset();
}

Json WorkerModel::params_of(const CallRequest& request) const {
  Json params = request.params;
  if (request.method->handle == HandleRole::kCreates) return params;
  params[std::string(request.method->handle_param)] = id_there_;
  return params;
}

CallOutcome WorkerModel::call(const CallRequest& request) {
  CallOutcome made = guarded([&](CallOutcome& outcome) {
    const HandleRole role = request.method->handle;
    if (role == HandleRole::kCreates) return create(request, outcome);
    if (role == HandleRole::kDestroys) return destroy(request, outcome);
    if (request.method->streams) return run(request, outcome);
    outcome.result = queued_->call(request.method->name, params_of(request));
  });
  if (!made.error && queued_) add_logged_errors(queued_->logged_errors(), made);
  return made;
}

CallOutcome WorkerModel::call_beside(const CallRequest& request) {
  return guarded([&](CallOutcome& outcome) {
    outcome.result = beside_->call(request.method->name, params_of(request));
  });
}

template <class Act>
CallOutcome WorkerModel::guarded(const Act& act) {
  CallOutcome outcome;
  try {
    act(outcome);
  } catch (const RpcError& error) {
    if (error.code() == ErrorCode::kRuntimeUnavailable) lose(error);
    outcome.error = std::current_exception();
  } catch (...) {
    outcome.error = std::current_exception();
  }
  return outcome;
}

void WorkerModel::create(const CallRequest& request, CallOutcome& outcome) {
  worker_ = engine_.worker_for_model();
  {
    const std::lock_guard lock(loading_);
    if (!engine_.options().one_for_all) loading_in_ = worker_;
    if (abandoned_) worker_->kill();
  }
  queued_.emplace(worker_, engine_.options().hang);
  beside_.emplace(worker_, engine_.options().hang);
  try {
    outcome.result = queued_->call(request.method->name, params_of(request));
    id_there_ = std::exchange(outcome.result["handle"], id_).get<std::string>();
    const Json read = beside_->call("resources/read", Json{{"uri", "rkllm://handles/" + id_there_}});
    const Json status = Json::parse(read.at("contents").at(0).at("text").get_ref<const std::string&>());
    for (const auto& [name, value] : status.at("session").items()) values_[name] = value.get<std::int64_t>();
  } catch (...) {
    leave_worker();
    throw;
  }
  {
    const std::lock_guard lock(loading_);
    loading_in_.reset();
  }
  loaded_ = true;
  worker_->when_ended(this, [this](const WorkerProcess::End& end) {
    lose(worker_died(end, worker_->log().errors_since(0)));
  });
}

void WorkerModel::destroy(const CallRequest& request, CallOutcome& outcome) {
  outcome.result = queued_->call(request.method->name, params_of(request));
  loaded_ = false;
  const auto worker = worker_;
  leave_worker();
  if (!engine_.options().one_for_all) worker->end(kToEnd);  // what the model held is certainly free then
}

void WorkerModel::begin_run(std::shared_ptr<CallObserver> observer) {
  observer_ = std::move(observer);
  queued_->renew();
}

void WorkerModel::stop_run() {
  observer_->stop();
  queued_->cancel();
}

// A worker of its own holds nothing but this model. One that has others goes on, and so does the loading.
void WorkerModel::stop_loading() {
  const std::lock_guard lock(loading_);
  const auto worker = loading_in_.lock();
  abandoned_ = !engine_.options().one_for_all;
  if (worker) worker->kill();
}

void WorkerModel::run(const CallRequest& request, CallOutcome& outcome) {
  Json params = params_of(request);
  params["include"] = Json::array({"token_id"});  // tokens that are told apart are never joined
  params["encoding"] = request.encoding == ArrayEncoding::kBase64 ? "base64" : "json";
  Json last = queued_->stream(request.method->name, std::move(params), [this](const Json& chunk) { take_token(chunk); });
  outcome.state = last.value("state", std::string());
  outcome.aborted = last.value("aborted", false);
  for (const char* const name : kOfChunks) last.erase(name);
  if (const auto status = last.find("status"); status != last.end()) {
    outcome.result = Json{{"status", *status}};
    last.erase(status);
  }
  outcome.values = std::move(last);
}

void WorkerModel::take_token(const Json& chunk) {
  const auto token = chunk.find("token_id");
  const std::string& text = chunk.at("delta").get_ref<const std::string&>();
  if (token == chunk.end() && text.empty()) return;  // the last message may bring none
  observer_->on_token(chunk.value("batch", std::size_t{0}), text,
                      token == chunk.end() ? kNoToken : token->get<std::int32_t>());
  if (observer_->wants_to_stop()) queued_->cancel();
}

std::optional<pid_t> WorkerModel::process() const {
  if (!worker_) return std::nullopt;
  return worker_->id();
}

void WorkerModel::lose(const RpcError& why) {
  const std::lock_guard lock(losing_);  // whoever comes second waits until the first has told
  if (!loaded_) return;
  lost_(why);  // first: a call that finds nothing loaded is to find out why
  loaded_ = false;
}

}  // namespace rkllm_mcp
