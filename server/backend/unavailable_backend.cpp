#include "backend/unavailable_backend.hpp"

namespace rkllm_mcp {

Backend::CallId UnavailableBackend::start(CallRequest request) {
  runner_.post([observer = std::move(request.observer), reason = reason_] {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(reason);
    observer->on_done(std::move(outcome));
  });
  return 0;
}

}  // namespace rkllm_mcp
