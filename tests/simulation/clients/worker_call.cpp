#include "worker_call.hpp"

#include "simulation/server/sim_backend.hpp"
#include "simulation/server/told_otherwise.hpp"

#include <exception>
#include <utility>

namespace rkllm_mcp::simulation {

CallRequest WorkerCall::request(const std::shared_ptr<WorkerCall>& self) {
  CallRequest request;
  request.method = &method_;
  request.params = Json{{"prompt", SimBackend::prompt(name_, tokens_)}};
  if (!method_.handle_param.empty()) request.params[std::string(method_.handle_param)] = handle_;
  request.observer = self;
  request.observer = std::make_shared<ToldOtherwise>(request);
  held_ = request.observer;
  return request;
}

void WorkerCall::set_reading(bool reading) {
  reads_ = reading;
  if (!reads_) return;
  const auto on_room = std::exchange(on_room_, nullptr);
  // Half the time nobody calls it: the token is offered again after a short time all the same (backend.hpp).
  if (on_room && world_.choices().choose(2) == 0) on_room();
}

void WorkerCall::on_queued(std::size_t calls_before) noexcept {
  if (has_begun_ || has_ended_) complain("it waits again");
  if (calls_before == 0) complain("it waits for none");
}

void WorkerCall::on_begun(std::optional<std::uint64_t> /*token_limit*/) noexcept {
  world_.tell(told() + " begins");
  if (std::exchange(has_begun_, true) || has_ended_) complain("it begins again");
  if (is_before_its_turn()) complain("it begins before one that has come earlier");
}

void WorkerCall::on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id) noexcept {
  SimThreads::current->wait([this] { return reads_ || is_stopped_; });
  take_token(batch, text, id);
}

bool WorkerCall::offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id,
                             const std::function<void()>& on_room) noexcept {
  if (!reads_ && !is_stopped_) {
    World::saw("a token from a worker had to wait for room");
    on_room_ = on_room;
    return false;
  }
  take_token(batch, text, id);
  return true;
}

void WorkerCall::take_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id) {
  if (has_ended_) return complain("a token after its end");
  if (!has_begun_ || !method_.streams) return complain("a token before its beginning");
  const std::string wanted = SimBackend::token(name_, given_);
  if (batch != 0 || text != wanted || id != static_cast<std::int32_t>(given_)) {
    complain("token " + std::to_string(given_) + " is \"" + std::string(text.value_or("")) + "\"");
  }
  ++given_;
}

void WorkerCall::on_rows(const FloatRows& rows) noexcept {
  for (std::size_t i = 0; i < rows.rows * rows.columns; ++i) {
    const auto place = rows_ * rows.columns + i;
    if (rows.values[i] != static_cast<float>(place + 1)) return complain("rows that are others");
  }
  rows_ += rows.rows;
}

void WorkerCall::on_done(CallOutcome outcome) noexcept {
  world_.tell(told() + " ends");
  if (std::exchange(has_ended_, true)) return complain("it ends again");
  if (!outcome.handle.empty()) handle_ = outcome.handle;
  if (outcome.error) {
    try {
      std::rethrow_exception(outcome.error);
    } catch (const RpcError& error) {
      take_error(error);
    } catch (const std::exception& error) {
      complain(std::string("it ends with a fault: ") + error.what());
    }
    return ended();
  }
  if (outcome.result.value("name", "") != name_) complain("its answer is another's: " + outcome.result.dump());
  if (outcome.aborted && !may_be_stopped_) complain("it was stopped, and nobody wanted that");
  if (!outcome.aborted && given_ != (method_.streams ? tokens_ : 0)) {
    complain("it ends after " + std::to_string(given_) + " tokens of " + std::to_string(tokens_));
  }
  if (rows_ != 0 && rows_ != 2) complain("rows are missing");
  has_succeeded_ = true;
  World::saw(outcome.aborted ? "a run in a worker was stopped" : "a call was made in a worker");
  ended();
}

void WorkerCall::take_error(const RpcError& error) {
  const Json& data = error.data();
  switch (error.code()) {
    case ErrorCode::kCancelled:
      if (!may_be_stopped_) complain("it was cancelled, and nobody wanted that");
      return;
    case ErrorCode::kUnknownHandle:
      if (!may_find_no_model_ && !has_lost_worker(handle_)) complain("its model is gone: " + std::string(error.what()));
      World::saw("a call found its model gone");
      return;
    case ErrorCode::kCallFailed:
      if (data.value("name", "") != name_) complain("its error is another's: " + data.dump());
      return;
    case ErrorCode::kQueueFull: return;  // it would be the model too many
    case ErrorCode::kRuntimeUnavailable: {
      if (!has_lost_worker(handle_)) complain("no worker has failed, but: " + std::string(error.what()));
      const bool is_told_why = data.is_object() && data.contains("reason") && data.contains("log");
      if (!is_told_why) complain("it is not told how its worker ended: " + data.dump());
      World::saw("a call was told of its worker's end");
      return;
    }
    default: complain("an error: " + std::string(error.what()));
  }
}

}  // namespace rkllm_mcp::simulation
