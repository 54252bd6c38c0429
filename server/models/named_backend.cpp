#include "models/named_backend.hpp"

#include "jsonrpc/envelope.hpp"
#include "models/model_presets.hpp"
#include "run_loop.hpp"

#include <rkllm_mcp/errors.hpp>

#include <exception>
#include <optional>
#include <utility>

namespace rkllm_mcp {
namespace {

// Posted to the loop: no outcome comes from inside the function that starts the call or gives it up.
void tell_refused(asio::io_context& loop, const std::shared_ptr<CallObserver>& observer,
                  const std::exception_ptr& why) {
  post_patiently(loop, [observer, why] { observer->on_done({.error = why}); });
}

// Whether a model that such a call names is loaded for it.
bool loads(const Method& method) { return !method.immediate && method.handle != HandleRole::kDestroys; }

}  // namespace

// A call that waits for its model.
class NamedBackend::Waiting final : public ModelWaiter, public std::enable_shared_from_this<Waiting> {
 public:
  Waiting(NamedBackend& owner, CallRequest request) : owner_(owner), request_(std::move(request)) {}

  const std::string& holder() const override { return request_.source.holder; }
  void loading(const chat::LoadProgress&) override {}
  void failed(const LoadFailure& failure) override { end(failure.error); }
  // The slot's use ends at once: while the call is in the queue of the handle, the model counts as used anyway.
  void ready(const std::string& handle, std::uint64_t load, std::optional<double>) override {
    const auto observer = request_.observer;  // null: it is over
    const auto self = shared_from_this();
    owner_.waiting_.erase(request_.id);
    try {
      if (slot != nullptr) slot->end_use(load, {});
      if (!observer) return;
      request_.params[std::string(request_.method->handle_param)] = handle;
      owner_.backend_().start(std::move(request_));
    } catch (...) {  // as in wait_for()
      if (observer) tell_refused(owner_.loop_, observer, std::current_exception());
    }
  }

  // Ends the call with an error: it has not been handed on to the backend, and never will be.
  void end(const RpcError& why) {
    if (is_over()) return;
    const auto self = shared_from_this();
    owner_.waiting_.erase(request_.id);
    tell_refused(owner_.loop_, std::exchange(request_.observer, nullptr), std::make_exception_ptr(why));
    if (slot != nullptr) slot->remove(this);  // last: it may throw
  }

  // Where it waits: a slot of ServerModels, which outlives the owner. Null until it waits there.
  ModelSlot* slot = nullptr;

 private:
  // Whether the call has been handed on, or has ended: then request_ has no observer any more.
  bool is_over() const { return !request_.observer; }

  NamedBackend& owner_;
  CallRequest request_;
};

Backend::CallId NamedBackend::start(CallRequest request) {
  const Method& method = *request.method;
  if (method.handle == HandleRole::kCreates) {
    try {
      request.params = with_preset(models_.known().as_presets(), std::move(request.params));
    } catch (const RpcError&) {
      tell_refused(loop_, request.observer, std::current_exception());
      return request.id;
    }
  }
  const auto named = method.handle_param.empty() || !request.params.is_object()
                         ? request.params.end()
                         : request.params.find(std::string(method.handle_param));
  if (named != request.params.end() && named->is_string()) {
    const auto name = named->get<std::string>();
    if (std::string handle = handle_for(method, name); !handle.empty()) {
      *named = std::move(handle);
    } else if (loads(method) && (models_.known().knows(name) || models_.known().looks_into_directories())) {
      return wait_for(name, std::move(request));
    }
  }
  return backend_().start(std::move(request));
}

std::string NamedBackend::handle_for(const Method& method, const std::string& name) const {
  if (std::string handle = models_.known().handle_named(name); !handle.empty()) return handle;
  return loads(method) ? models_.handle_for_newcomer(name) : models_.handle_of(name);
}

Backend::CallId NamedBackend::wait_for(const std::string& name, CallRequest request) {
  const CallId id = request.id;
  const auto call = std::make_shared<Waiting>(*this, std::move(request));
  waiting_.emplace(id, call);
  const auto go_on = [this, id, weak = std::weak_ptr(call), name] {
    const auto alive = weak.lock();
    if (!alive || !waiting_.contains(id)) return;
    try {
      const std::string own = models_.autoloaded_handle(name);
      ModelSlot* const slot = own.empty() ? models_.slot_for(name) : nullptr;
      // If there is no such handle, the backend says so.
      if (slot == nullptr) return alive->ready(own.empty() ? name : own, 0, {});
      if (const auto full = models_.full_for(*slot, alive->holder())) return alive->end(*full);
      alive->slot = slot;
      slot->add(alive);
    } catch (...) {  // nobody waits for this function: the error ends the call
      alive->end(as_rpc_error(std::current_exception()));
    }
  };
  const auto begin = [&] {
    if (!models_.known().knows(name)) return models_.look_again(go_on);
    if (models_.is_autoloading(name)) return models_.after_autoload(name, go_on);
    go_on();
  };
  or_else(begin, [this, id] { waiting_.erase(id); });
  return id;
}

void NamedBackend::cancel(CallId id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return backend_().cancel(id);
  found->second->end(cancelled());
}

void NamedBackend::give_up(CallId id, const RpcError& why) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return backend_().give_up(id, why);
  found->second->end(why);
}

}  // namespace rkllm_mcp
