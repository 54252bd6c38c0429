#include "open_calls.hpp"

#include "backend/passing_observer.hpp"
#include "transport/peer.hpp"

#include <algorithm>
#include <utility>

namespace rkllm_mcp::simulation {

// Notes the end of a call.
class OpenCalls::Observer final : public PassingObserver {
 public:
  Observer(CallRequest& request, std::function<void()> ended) : PassingObserver(request), ended_(std::move(ended)) {}

  void on_done(CallOutcome outcome) noexcept override {
    ended_();
    PassingObserver::on_done(std::move(outcome));
  }

 private:
  const std::function<void()> ended_;
};

Backend::CallId OpenCalls::start(CallRequest request) {
  const std::size_t key = ++last_key_;
  const std::string prompt = request.params.value("prompt", "");
  calls_[key] = {request.source.peer, prompt.substr(0, prompt.find(':'))};
  request.observer = std::make_shared<Observer>(request, [this, key] { calls_.erase(key); });
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
