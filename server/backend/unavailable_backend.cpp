#include "backend/unavailable_backend.hpp"

#include <asio/post.hpp>

#include <exception>

namespace rkllm_mcp {

Backend::CallId UnavailableBackend::start(CallRequest request) {
  runner_.post([observer = std::move(request.observer), reason = reason_] {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(reason);
    observer->on_done(std::move(outcome));
  });
  return request.id;
}

Backend::CallId NoFunctions::start(CallRequest request) {
  asio::post(loop_, [observer = std::move(request.observer)] {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(RpcError(ErrorCode::kMethodNotFound, "services have no C functions"));
    observer->on_done(std::move(outcome));
  });
  return request.id;
}

}  // namespace rkllm_mcp
