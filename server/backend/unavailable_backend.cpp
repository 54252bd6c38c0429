#include "backend/unavailable_backend.hpp"

namespace rkllm_mcp {

Backend::CallId UnavailableBackend::start(CallRequest, std::shared_ptr<CallObserver> observer) {
  runner_.post([observer = std::move(observer), reason = reason_] {
    CallOutcome outcome;
    outcome.error = std::make_exception_ptr(reason);
    observer->on_done(std::move(outcome));
  });
  return 0;
}

}  // namespace rkllm_mcp
