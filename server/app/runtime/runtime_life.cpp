#include "app/runtime/runtime_life.hpp"

#include "clock.hpp"
#include "run_loop.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace rkllm_mcp {
namespace {

constexpr std::chrono::milliseconds kUntilIdle{20};
constexpr std::chrono::milliseconds kForKilledWorkers{300};  // until calls that wait for a killed worker end

}  // namespace

std::string_view name_of(RuntimeLife::State state) {
  switch (state) {
    case RuntimeLife::State::kFinding: return "finding";
    case RuntimeLife::State::kStarting: return "starting";
    case RuntimeLife::State::kReady: return "ready";
    case RuntimeLife::State::kReplacing: return "replacing";
    case RuntimeLife::State::kGone: return "gone";
  }
  return "unknown";
}

RuntimeLife::RuntimeLife(asio::io_context& loop, const Settings& settings, spdlog::logger& log, MakeFunction make)
    : loop_(loop), settings_(settings), log_(log), make_(std::move(make)), now_(make_(settings)), until_idle_(loop) {}

RuntimeLife::State RuntimeLife::state() const {
  const bool is_there = now_->trouble().empty();
  switch (step_) {
    case Step::kNone: break;
    case Step::kLooking: return is_there ? State::kReady : State::kFinding;
    case Step::kStartingFirst: return State::kStarting;
    case Step::kStartingNext: return is_there ? State::kReplacing : State::kStarting;
  }
  return is_there ? State::kReady : State::kGone;
}

Json RuntimeLife::status() const {
  Json status = now_->status();
  status["state"] = name_of(state());
  return status;
}

void RuntimeLife::start(std::function<void()> ready, std::function<void()> replaced) {
  ready_ = std::move(ready);
  replaced_ = std::move(replaced);
  if (!now_->trouble().empty()) return;
  step_ = Step::kStartingFirst;
  try_out(*now_);
  ready_();
}

void RuntimeLife::look_again() {
  if (settled_) return;
  if (step_ != Step::kNone) {
    look_again_ = true;
    return;
  }
  if (now_->is_bound()) return;
  // The job gets copies, since the settings may be read again while it runs.
  runner_.post([this, served = now_->file(), settings = settings_] { look(served, settings); });
  step_ = Step::kLooking;
}

void RuntimeLife::look(const std::optional<LibraryFile>& served, const Settings& settings) {
  try {
    auto next = Runtime::is_outdated(served, settings) ? make_(settings) : nullptr;
    asio::post(loop_, [this, next = std::move(next)]() mutable { looked(std::move(next)); });
  } catch (...) {
    post_patiently(loop_, [this, fault = std::current_exception()] {
      end_step();
      std::rethrow_exception(fault);  // the loop's boundary tells of it
    });
  }
}

void RuntimeLife::looked(std::unique_ptr<Runtime> next) {
  if (settled_) return;
  if (!next) return end_step();
  if (now_->use() >= QueuedBackend::Use::kLoading) {
    log_.info("the runtime library has changed; the one in use stays, since a model is loaded or being loaded");
    retire(std::move(next));
    return end_step();
  }
  next_ = std::move(next);
  step_ = Step::kStartingNext;
  try_out(*next_);
}

void RuntimeLife::try_out(Runtime& runtime) {
  runner_.post([this, &runtime] {
    std::optional<RpcError> trouble;
    try {
      runtime.try_out();
    } catch (const RpcError& error) {
      trouble = error;
    } catch (const std::exception& error) {
      trouble = runtime_unavailable(error.what());
    }
    post_patiently(loop_, [this, trouble] { tried_out(trouble); });
  });
}

void RuntimeLife::tried_out(const std::optional<RpcError>& trouble) {
  if (settled_) return;
  if (!trouble && step_ == Step::kStartingFirst) return end_step();
  auto next = std::move(next_);
  if (trouble) {
    if (next) retire(std::move(next));
    next = std::make_unique<Runtime>(*trouble);
  }
  replace_when_idle(std::move(next));
}

// A runtime is replaced only while it has no call in progress: cancel() could not reach such a call any more.
void RuntimeLife::replace_when_idle(std::unique_ptr<Runtime> next) {
  if (settled_) return retire(std::move(next));
  const bool is_first = step_ == Step::kStartingFirst;
  switch (now_->use()) {
    case QueuedBackend::Use::kIdle: return replace(std::move(next));
    case QueuedBackend::Use::kCalls: break;
    case QueuedBackend::Use::kLoading:
      if (is_first) break;  // if this load fails, the next runtime is tried; if it succeeds, this one works
      [[fallthrough]];
    case QueuedBackend::Use::kModels:
      if (is_first) now_->count_as_tried_out();
      log_.info("the runtime in use stays, since a model is loaded or being loaded");
      retire(std::move(next));
      return end_step();
  }
  next_ = std::move(next);
  until_idle_.expires_after(kUntilIdle);
  until_idle_.async_wait([this](const asio::error_code& error) {
    if (!error && !settled_) replace_when_idle(std::move(next_));
  });
}

void RuntimeLife::replace(std::unique_ptr<Runtime> next) {
  auto before = std::exchange(now_, std::move(next));
  const auto end = [&] {
    retire(std::move(before));
    end_step();
  };
  or_else(
      [this] {
        replaced_();
        if (now_->trouble().empty()) ready_();
      },
      end);
  end();
}

// Ends `runtime` on the runner, since its worker may take some time to end.
void RuntimeLife::retire(std::unique_ptr<Runtime> runtime) {
  runner_.post([shared = std::shared_ptr<Runtime>(std::move(runtime))] { shared->shut_down(Clock::now()); });
}

void RuntimeLife::end_step() {
  step_ = Step::kNone;
  if (std::exchange(look_again_, false)) look_again();
}

void RuntimeLife::settle() {
  settled_ = true;
  until_idle_.cancel();
}

bool RuntimeLife::shut_down(Clock::time_point deadline) {
  if (next_) next_->shut_down(Clock::now());
  const bool has_ended = now_->shut_down(deadline);
  const auto for_the_killed = Clock::now() + kForKilledWorkers;
  return runner_.wait_until_idle(std::max(deadline, for_the_killed)) && has_ended;
}

}  // namespace rkllm_mcp
