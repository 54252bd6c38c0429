#include "open_calls.hpp"

#include "passing_observer.hpp"
#include "transport/peer.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace rkllm_mcp::simulation {
namespace {

constexpr int kStepsToGiveUp = 60;

}  // namespace

// Notes the beginning of a call, and its end.
class OpenCalls::Observer final : public PassingObserver {
 public:
  Observer(CallRequest& request, Stopping stopping, std::function<void()> begun, std::function<void()> ended)
      : PassingObserver(request), stopping_(stopping), begun_(std::move(begun)), ended_(std::move(ended)) {}

  void on_begun(std::optional<std::uint64_t> token_limit) noexcept override {
    begun_();
    PassingObserver::on_begun(token_limit);
  }
  bool offer_token(std::size_t batch, std::optional<std::string_view> text, std::int32_t id,
                   const std::function<void()>& on_room) noexcept override {
    const bool is_taken = PassingObserver::offer_token(batch, text, id, on_room);
    if (!is_taken && stopping_ == Stopping::kIsExcused) World::saw("a worker's token had to wait for a client");
    return is_taken;
  }
  void on_done(CallOutcome outcome) noexcept override {
    ended_();
    PassingObserver::on_done(std::move(outcome));
  }

 private:
  const Stopping stopping_;
  const std::function<void()> begun_, ended_;
};

Backend::CallId OpenCalls::start(CallRequest request) {
  const std::size_t key = ++last_key_;
  const std::string prompt = request.params.value("prompt", "");
  const bool tells_beginning = request.method->streams;
  calls_[key] = {request.source.peer, prompt.substr(0, prompt.find(':')), Clock::now(), !tells_beginning};
  request.observer = std::make_shared<Observer>(
      request, stopping_,
      [this, key] {
        if (const auto call = calls_.find(key); call != calls_.end()) call->second.has_begun = true;
      },
      [this, key] { calls_.erase(key); });
  const CallId id = models_.start(std::move(request));
  keys_[id] = key;
  return id;
}

void OpenCalls::cancel(CallId id) {
  const auto key = keys_.find(id);
  const auto call = key == keys_.end() ? calls_.end() : calls_.find(key->second);
  if (call != calls_.end()) call->second.is_told_to_stop = true;
  models_.cancel(id);
}

std::size_t OpenCalls::count(const std::function<bool(const Call&)>& counts) const {
  return static_cast<std::size_t>(std::count_if(calls_.begin(), calls_.end(), [this, &counts](const auto& each) {
    const bool is_excused = each.second.is_told_to_stop && stopping_ == Stopping::kIsExcused;
    return !is_excused && counts(each.second);
  }));
}

std::size_t OpenCalls::calls_of(std::string_view peer) const {
  return count([peer](const Call& call) { return call.peer == peer; });
}

std::size_t OpenCalls::calls_of_host(std::string_view host) const {
  return count([host](const Call& call) { return host_of(call.peer) == host; });
}

void OpenCalls::check(Clock::duration longest) {
  for (auto& [key, call] : calls_) {
    const bool waits = !call.has_begun && !call.is_told_to_stop && Clock::now() - call.asked > longest;
    if (waits && ++call.steps_too_long > kStepsToGiveUp)
      throw Violation{call.name + " waits longer for its model than anybody may"};
  }
}

bool OpenCalls::is_making(std::string_view name) const {
  return count([name](const Call& call) { return call.name == name; }) > 0;
}

}  // namespace rkllm_mcp::simulation
