// The backend of the services' own port, where there are no C functions: every call fails with error -32601. The API is
// empty there, so nobody makes one; what Backend promises holds all the same.
//
// Threads: any; calls end on the event loop, which must outlive the backend.
#pragma once

#include "backend.hpp"

#include <rkllm_mcp/errors.hpp>

#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <exception>
#include <utility>

namespace rkllm_mcp {

class NoFunctions final : public Backend {
 public:
  explicit NoFunctions(asio::io_context& loop) : loop_(loop) {}

  CallId start(CallRequest request) override {
    asio::post(loop_, [observer = std::move(request.observer)] {
      CallOutcome outcome;
      outcome.error = std::make_exception_ptr(RpcError(ErrorCode::kMethodNotFound, "services have no C functions"));
      observer->on_done(std::move(outcome));
    });
    return 0;
  }
  void cancel(CallId /*id*/) override {}
  void give_up(CallId /*id*/, const RpcError& /*why*/) override {}

 private:
  asio::io_context& loop_;
};

}  // namespace rkllm_mcp
