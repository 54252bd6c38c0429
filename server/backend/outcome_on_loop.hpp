// Brings the outcome of a call that streams nothing back to the loop, to somebody who may be gone by then.
//
// Threads: as CallObserver.
#pragma once

#include "backend.hpp"
#include "run_loop.hpp"

#include <asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace rkllm_mcp {

class OutcomeOnLoop final : public CallObserver {
 public:
  using DoneFunction = std::function<void(const CallOutcome& outcome)>;

  // `done` is called on the loop, unless `alive` (of a Lifetime) has ended by then.
  OutcomeOnLoop(asio::io_context& loop, std::weak_ptr<const void> alive, DoneFunction done)
      : loop_(loop), alive_(std::move(alive)), told_(std::make_shared<Told>()) {
    told_->done = std::move(done);
  }
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override {
    told_->outcome = std::move(outcome);
    post_patiently(loop_, [alive = alive_, told = std::move(told_)] {
      if (!alive.expired()) told->done(told->outcome);
    });
  }

 private:
  // Made with the observer, so that on_done() has nothing to copy that could throw.
  struct Told {
    CallOutcome outcome;
    DoneFunction done;
  };

  asio::io_context& loop_;
  const std::weak_ptr<const void> alive_;
  std::shared_ptr<Told> told_;  // until it is told: nothing of the call is kept after that
};

}  // namespace rkllm_mcp
