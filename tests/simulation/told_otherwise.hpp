// Faults of what the queues tell of a call: whoever follows it hears something else. Without such a fault it hears what
// is told.
#pragma once

#include "backend.hpp"
#include "put_back.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {

class ToldOtherwise final : public CallObserver {
 public:
  explicit ToldOtherwise(std::shared_ptr<CallObserver> observer) : observer_(std::move(observer)) {}

  void on_queued(std::size_t calls_before) noexcept override {
    observer_->on_queued(is_put_back("who waits is told that it waits for none") ? 0 : calls_before);
  }
  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override {
    if (is_put_back("a run does not say that it begins")) return;
    observer_->on_begun(token_limit);
    if (is_put_back("a run says twice that it begins")) observer_->on_begun(token_limit);
    if (is_put_back("who is being served is told to wait")) observer_->on_queued(1);
  }
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id) noexcept override {
    observer_->on_token(batch, text, id);
  }
  bool offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id,
                   const std::function<void()>& on_room) noexcept override {
    return observer_->offer_token(batch, text, id, on_room);
  }
  void on_rows(const FloatRows& rows) noexcept override { observer_->on_rows(rows); }
  void on_done(CallOutcome outcome) noexcept override {
    observer_->on_done(std::move(outcome));
    if (is_put_back("the end of a call is told twice")) observer_->on_done({});
    if (is_put_back("a token follows the end of a run")) observer_->on_token(0, "", 0);
  }
  void stop() noexcept override { observer_->stop(); }
  bool wants_to_stop() const noexcept override { return observer_->wants_to_stop(); }

 private:
  const std::shared_ptr<CallObserver> observer_;
};

}  // namespace rkllm_mcp::simulation
