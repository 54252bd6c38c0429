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
      : loop_(loop), alive_(std::move(alive)), done_(std::move(done)) {}
  void on_token(std::size_t, std::optional<std::string_view>, std::int32_t) noexcept override {}
  void on_rows(const FloatRows&) noexcept override {}
  void on_done(CallOutcome outcome) noexcept override {
    *outcome_ = std::move(outcome);
    post_patiently(loop_, [alive = alive_, done = done_, outcome = outcome_] {
      if (!alive.expired()) done(*outcome);
    });
  }

 private:
  asio::io_context& loop_;
  const std::weak_ptr<const void> alive_;
  const DoneFunction done_;
  const std::shared_ptr<CallOutcome> outcome_ = std::make_shared<CallOutcome>();  // now: nothing can be thrown later
};

}  // namespace rkllm_mcp
