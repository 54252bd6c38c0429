// Stands between a call and the call's observer, and hands on everything that it is told. A derived class overrides
// what it wants to notice or to change.
//
// Threads: as CallObserver.
#pragma once

#include "backend.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace rkllm_mcp::simulation {

class PassingObserver : public CallObserver {
 public:
  // Takes the place of the call's observer, which it keeps.
  explicit PassingObserver(CallRequest& request) : observer_(std::move(request.observer)) {}

  void on_queued(std::size_t calls_before) noexcept override { observer_->on_queued(calls_before); }
  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override { observer_->on_begun(token_limit); }
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id) noexcept override {
    observer_->on_token(batch, text, token_id);
  }
  bool offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t token_id,
                   const std::function<void()>& on_room) noexcept override {
    return observer_->offer_token(batch, text, token_id, on_room);
  }
  void on_rows(const FloatRows& rows) noexcept override { observer_->on_rows(rows); }
  void on_done(CallOutcome outcome) noexcept override { observer_->on_done(std::move(outcome)); }
  void stop() noexcept override { observer_->stop(); }
  bool wants_to_stop() const noexcept override { return observer_->wants_to_stop(); }

 protected:
  CallObserver& observer() { return *observer_; }

 private:
  const std::shared_ptr<CallObserver> observer_;
};

}  // namespace rkllm_mcp::simulation
