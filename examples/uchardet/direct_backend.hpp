// The smallest Backend: makes each call on the event loop, one after the other. That is enough for a library whose
// functions return at once; server/backend/ shows what it takes if they do not.
#pragma once

#include "backend.hpp"

#include <rkllm_mcp/abi_set.hpp>
#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace examples {

namespace rpc = rkllm_mcp;

// Belongs to the event loop.
class DirectBackend : public rpc::Backend {
 public:
  // `prefix` begins the ids of handles: "detector" for "detector-1".
  DirectBackend(asio::io_context& loop, std::unique_ptr<rpc::Binding> binding, std::string prefix)
      : loop_(loop), binding_(std::move(binding)), prefix_(std::move(prefix)) {}

  CallId start(rpc::CallRequest request) override {
    const CallId id = request.id;
    asio::post(loop_, [this, request = std::move(request)] {
      rpc::CallOutcome outcome;
      try {
        outcome.result = call(request);
      } catch (...) {
        outcome.error = std::current_exception();  // the dispatcher knows what to make of it
      }
      request.observer->on_done(std::move(outcome));
    });
    return id;
  }
  void cancel(CallId) override {}  // nothing here takes long enough
  void give_up(CallId, const rkllm_mcp::RpcError&) override {}

 private:
  rpc::Json call(const rpc::CallRequest& request) {
    const rpc::Method& method = *request.method;
    rpc::HandleRecord made{prefix_ + "-" + std::to_string(made_ + 1), nullptr, {}};
    rpc::HandleRecord* handle = nullptr;
    if (method.handle == rpc::HandleRole::kCreates) handle = &made;
    if (method.handle == rpc::HandleRole::kUses || method.handle == rpc::HandleRole::kDestroys) {
      handle = &named_in(request);
    }
    rpc::CallContext context{request.params, handle, nullptr, request.encoding, {}, {}};
    rpc::Json result = binding_->call(method, context);
    if (handle == &made) {
      handles_.emplace(made.id, made);
      ++made_;
    }
    if (method.handle == rpc::HandleRole::kDestroys) handles_.erase(handle->id);
    return result;
  }

  // The handle that a call is about; the only one if it names none.
  rpc::HandleRecord& named_in(const rpc::CallRequest& request) {
    const auto named = request.params.find(std::string(request.method->handle_param));
    if (named == request.params.end() && handles_.size() == 1) return handles_.begin()->second;
    const std::string id = named != request.params.end() && named->is_string() ? named->get<std::string>() : "";
    const auto found = handles_.find(id);
    if (found != handles_.end()) return found->second;
    std::vector<std::string> ids;
    for (const auto& [known, record] : handles_) ids.push_back(known);
    throw rpc::unknown_handle(id, ids);
  }

  asio::io_context& loop_;
  const std::unique_ptr<rpc::Binding> binding_;
  const std::string prefix_;
  std::map<std::string, rpc::HandleRecord> handles_;
  unsigned made_ = 0;
};

}  // namespace examples
