// Stands in for a runtime that could not be loaded: every call fails with error 4005 that says why. The server stays
// up, so that clients can list the API and learn what is wrong.
#pragma once

#include "backend.hpp"

#include <rkllm_mcp/errors.hpp>

#include <memory>
#include <utility>

#include "backend/runner.hpp"

namespace rkllm_mcp {

class UnavailableBackend : public Backend {
 public:
  // What is thrown later. NOLINTNEXTLINE(bugprone-throw-keyword-missing)
  explicit UnavailableBackend(RpcError reason) : reason_(std::move(reason)) {}

  CallId start(CallRequest request) override;
  void cancel(CallId) override {}
  void give_up(CallId, const RpcError&) override {}

 private:
  const RpcError reason_;
  Runner runner_;
};

}  // namespace rkllm_mcp
