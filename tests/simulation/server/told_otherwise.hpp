// Faults of what the queues tell of a call: whoever follows it hears something else. Without such a fault it hears what
// is told.
#pragma once

#include "faults.hpp"
#include "passing_observer.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace rkllm_mcp::simulation {

class ToldOtherwise final : public PassingObserver {
 public:
  using PassingObserver::PassingObserver;

  void on_queued(std::size_t calls_before) noexcept override {
    PassingObserver::on_queued(has_fault("who waits is told that it waits for none") ? 0 : calls_before);
  }
  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override {
    if (has_fault("a run does not say that it begins")) return;
    PassingObserver::on_begun(token_limit);
    if (has_fault("a run says twice that it begins")) PassingObserver::on_begun(token_limit);
    if (has_fault("who is being served is told to wait")) PassingObserver::on_queued(1);
  }
  void on_done(CallOutcome outcome) noexcept override {
    PassingObserver::on_done(std::move(outcome));
    if (has_fault("the end of a call is told twice")) PassingObserver::on_done({});
    if (has_fault("a token follows the end of a run")) on_token(0, "", 0);
  }
};

}  // namespace rkllm_mcp::simulation
