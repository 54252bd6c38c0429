// Backends where nothing can be called: every call fails.
#pragma once

#include "backend.hpp"
#include "backend/runner.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <exception>
#include <memory>
#include <utility>

namespace rkllm_mcp {

// Stands in for a runtime that could not be loaded: every call fails with error 4005 that says why. The server stays
// up, so that clients can list the API and learn what is wrong.
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

// The backend of the services' own port, where there are no C functions: every call fails with error -32601. No
// call comes, since the API is empty there; but one that came would end as Backend promises.
//
// Threads: any; calls end on the event loop, which must outlive the backend.
class NoFunctions final : public Backend {
 public:
  explicit NoFunctions(asio::io_context& loop) : loop_(loop) {}

  CallId start(CallRequest request) override;
  void cancel(CallId /*id*/) override {}
  void give_up(CallId /*id*/, const RpcError& /*why*/) override {}

 private:
  asio::io_context& loop_;
};

inline Backend::CallId UnavailableBackend::start(CallRequest request) {
  runner_.post([observer = std::move(request.observer), reason = reason_] {
    observer->on_done({.error = std::make_exception_ptr(reason)});
  });
  return request.id;
}

inline Backend::CallId NoFunctions::start(CallRequest request) {
  asio::post(loop_, [observer = std::move(request.observer)] {
    observer->on_done(
        {.error = std::make_exception_ptr(RpcError(ErrorCode::kMethodNotFound, "services have no C functions"))});
  });
  return request.id;
}

}  // namespace rkllm_mcp
