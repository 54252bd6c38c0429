// A backend that keeps the observer of the call that it is given.
#pragma once

#include "backend.hpp"

#include <memory>
#include <utility>

namespace rkllm_mcp::test {

class KeepingBackend final : public Backend {
 public:
  CallId start(CallRequest request) override {
    observer = std::move(request.observer);
    return request.id;
  }
  void cancel(CallId) override {}
  void give_up(CallId, const RpcError&) override {}

  std::shared_ptr<CallObserver> observer;
};

}  // namespace rkllm_mcp::test
