#include "models/named_backend.hpp"

#include "backend/passing_observer.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/post.hpp>

#include <functional>
#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

// The observer of a call that names its model: when the call has ended, says that it does not use the model any more.
class TellsUseEnd final : public PassingObserver {
 public:
  TellsUseEnd(CallRequest& request, std::function<void()> ended) : PassingObserver(request), ended_(std::move(ended)) {}

  void on_done(CallOutcome outcome) noexcept override {
    observer().on_done(std::move(outcome));
    ended_();
  }

 private:
  const std::function<void()> ended_;
};

// Posted to the loop: no outcome comes from inside the function that starts the call or gives it up.
void tell_refused(asio::io_context& loop, CallRequest request, const RpcError& why) {
  asio::post(loop, [observer = std::move(request.observer), why] {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(why);
    observer->on_done(std::move(outcome));
  });
}

}  // namespace

// A call that waits for its model. The map holds it until it has been handed on and has ended.
class NamedBackend::Waiting final : public ModelWaiter, public std::enable_shared_from_this<Waiting> {
 public:
  Waiting(NamedBackend& owner, CallId id, CallRequest request) : owner_(owner), id_(id), request_(std::move(request)) {}

  void wait_at(ModelSlot& slot) {
    slot_ = &slot;
    slot_->add(shared_from_this());
  }

  const std::string& holder() const override { return request_.source.holder; }
  void queued(std::size_t) override {}
  void loading(const chat::LoadProgress&) override {}
  void failed(const LoadFailure& failure) override { end(failure.error); }
  void ready(const std::string& handle, std::uint64_t load, std::optional<double>) override {
    if (is_over()) return slot_->end_use(load, {});
    pass_on(handle, load);
  }
  void pass_on(const std::string& handle, std::uint64_t load = 0) {
    request_.params[std::string(request_.method->handle_param)] = handle;
    auto ended = [&loop = owner_.loop_, weak = weak_from_this(), load] {
      asio::post(loop, [weak, load] {
        if (const auto alive = weak.lock()) alive->used(load);
      });
    };
    request_.observer = std::make_shared<TellsUseEnd>(request_, std::move(ended));
    call_ = owner_.backend_.start(std::move(request_));
  }

  void cancel() {
    if (call_) return owner_.backend_.cancel(*call_);
    end(cancelled());
  }
  void give_up(const RpcError& why) {
    if (call_) return owner_.backend_.give_up(*call_, why);
    end(why);
  }
  // It has not been handed on, and never will be.
  void end(const RpcError& why) {
    if (is_over()) return;
    if (slot_ != nullptr) slot_->remove(this);
    tell_refused(owner_.loop_, std::move(request_), why);
    const auto self = shared_from_this();
    owner_.waiting_.erase(id_);
  }

 private:
  // It has been handed on, or has ended: its request is somebody else's.
  bool is_over() const { return !request_.observer; }
  void used(std::uint64_t load) {
    if (slot_ != nullptr) slot_->end_use(load, {});
    const auto self = shared_from_this();
    owner_.waiting_.erase(id_);
  }

  NamedBackend& owner_;
  const CallId id_;
  CallRequest request_;
  ModelSlot* slot_ = nullptr;   // of the models, which outlive the owner of this
  std::optional<CallId> call_;  // once it has been handed on
};

Backend::CallId NamedBackend::start(CallRequest request) {
  const Method& method = *request.method;
  const auto named = method.handle_param.empty() || !request.params.is_object()
                         ? request.params.end()
                         : request.params.find(std::string(method.handle_param));
  if (named == request.params.end() || !named->is_string()) return backend_.start(std::move(request));
  const auto name = named->get<std::string>();
  if (std::string handle = models_.known().handle_named(name); !handle.empty()) {
    *named = std::move(handle);
    return backend_.start(std::move(request));
  }
  if (method.immediate || method.handle == HandleRole::kDestroys) {
    if (const std::string handle = models_.handle_of(name); !handle.empty()) *named = handle;
    return backend_.start(std::move(request));
  }
  if (!models_.known().knows(name) && !models_.known().looks_into_directories())
    return backend_.start(std::move(request));
  return wait_for(name, std::move(request));
}

Backend::CallId NamedBackend::wait_for(const std::string& name, CallRequest request) {
  const CallId id = next_++;
  const auto call = std::make_shared<Waiting>(*this, id, std::move(request));
  waiting_.emplace(id, call);
  const auto go_on = [this, id, weak = std::weak_ptr(call), name] {
    const auto alive = weak.lock();
    if (!alive || !waiting_.contains(id)) return;
    const std::string own = models_.autoloaded_handle(name);
    if (!own.empty()) return alive->pass_on(own);
    ModelSlot* const slot = models_.slot_for(name);
    if (slot == nullptr) return alive->pass_on(name);  // the backend says that there is no such handle
    if (const auto full = models_.full_for(*slot, alive->holder())) return alive->end(*full);
    alive->wait_at(*slot);
  };
  if (models_.known().knows(name)) {
    models_.after_autoload(name, go_on);
  } else {
    models_.look_again(go_on);
  }
  return id;
}

void NamedBackend::cancel(CallId id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return backend_.cancel(id);
  const auto call = found->second;
  call->cancel();
}

void NamedBackend::give_up(CallId id, const RpcError& why) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return backend_.give_up(id, why);
  const auto call = found->second;
  call->give_up(why);
}

}  // namespace rkllm_mcp
