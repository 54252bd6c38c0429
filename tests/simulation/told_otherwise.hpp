// Faults of what the queues tell of a call: whoever follows it hears something else. Without such a fault it hears what
// is told.
#pragma once

#include "passing_observer.hpp"
#include "put_back.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace rkllm_mcp::simulation {

class ToldOtherwise final : public PassingObserver {
 public:
  using PassingObserver::PassingObserver;

  void on_queued(std::size_t calls_before) noexcept override {
    PassingObserver::on_queued(is_put_back("who waits is told that it waits for none") ? 0 : calls_before);
  }
  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override {
    if (is_put_back("a run does not say that it begins")) return;
    PassingObserver::on_begun(token_limit);
    if (is_put_back("a run says twice that it begins")) PassingObserver::on_begun(token_limit);
    if (is_put_back("who is being served is told to wait")) PassingObserver::on_queued(1);
  }
  void on_done(CallOutcome outcome) noexcept override {
    PassingObserver::on_done(std::move(outcome));
    if (is_put_back("the end of a call is told twice")) PassingObserver::on_done({});
    if (is_put_back("a token follows the end of a run")) on_token(0, "", 0);
  }
};

}  // namespace rkllm_mcp::simulation
