#include "backend/logged_errors.hpp"

#include <exception>
#include <utility>

namespace rkllm_mcp {

void add_logged_errors(std::vector<std::string> errors, CallOutcome& outcome) {
  if (errors.empty()) return;
  if (!outcome.error) {
    if (outcome.result.is_object()) outcome.result["warnings"] = std::move(errors);
    return;
  }
  try {
    std::rethrow_exception(outcome.error);
  } catch (const RpcError& error) {
    if (error.code() != ErrorCode::kCallFailed || error.data().contains("log")) return;
    Json data = error.data();
    data["log"] = std::move(errors);
    outcome.error = std::make_exception_ptr(RpcError(error.code(), error.what(), std::move(data)));
  } catch (...) {
    // A bug, or the caller's fault: the library has nothing to do with it.
  }
}

}  // namespace rkllm_mcp
