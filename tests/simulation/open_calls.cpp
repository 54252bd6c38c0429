#include "open_calls.hpp"

#include "transport/peer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace rkllm_mcp::simulation {

// Passes on all that is told of a call, and notes its end.
class OpenCalls::Observer final : public CallObserver {
 public:
  Observer(std::shared_ptr<CallObserver> observer, std::function<void()> ended)
      : observer_(std::move(observer)), ended_(std::move(ended)) {}

  void on_queued(std::size_t calls_before) noexcept override { observer_->on_queued(calls_before); }
  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override { observer_->on_begun(token_limit); }
  void on_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id) noexcept override {
    observer_->on_token(batch, text, id);
  }
  bool offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id,
                   const std::function<void()>& on_room) noexcept override {
    return observer_->offer_token(batch, text, id, on_room);
  }
  void on_rows(const FloatRows& rows) noexcept override { observer_->on_rows(rows); }
  void on_done(CallOutcome outcome) noexcept override {
    ended_();
    observer_->on_done(std::move(outcome));
  }
  void stop() noexcept override { observer_->stop(); }
  bool wants_to_stop() const noexcept override { return observer_->wants_to_stop(); }

 private:
  const std::shared_ptr<CallObserver> observer_;
  const std::function<void()> ended_;
};

Backend::CallId OpenCalls::start(CallRequest request) {
  const std::size_t key = ++last_key_;
  const std::string prompt = request.params.value("prompt", "");
  calls_[key] = {request.source.peer, prompt.substr(0, prompt.find(':'))};
  request.observer = std::make_shared<Observer>(std::move(request.observer), [this, key] { calls_.erase(key); });
  const CallId id = models_.start(std::move(request));
  keys_[id] = key;
  return id;
}

void OpenCalls::cancel(CallId id) {
  if (const auto call = calls_.find(keys_[id]); call != calls_.end()) call->second.is_told_to_stop = true;
  models_.cancel(id);
}

std::size_t OpenCalls::count(const std::function<bool(const Call&)>& counts) const {
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), [&counts](const auto& each) {
    return !each.second.is_told_to_stop && counts(each.second);
  }));
}

std::size_t OpenCalls::calls_of(std::string_view peer) const {
  return count([peer](const Call& call) { return call.peer == peer; });
}

std::size_t OpenCalls::calls_of_host(std::string_view host) const {
  return count([host](const Call& call) { return host_of(call.peer) == host; });
}

bool OpenCalls::is_making(std::string_view name) const {
  return count([name](const Call& call) { return call.name == name; }) > 0;
}

}  // namespace rkllm_mcp::simulation
