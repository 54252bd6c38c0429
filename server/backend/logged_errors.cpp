#include "backend/logged_errors.hpp"

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace rkllm_mcp {
namespace {

// "cannot open it" of "E rkllm: cannot open it".
std::string without_prefix(const std::string& line) {
  const auto colon = line.find(": ");
  return line.starts_with("E ") && colon != std::string::npos ? line.substr(colon + 2) : line;
}

bool tells_only_the_status(const RpcError& error) {
  const Json& data = error.data();
  if (!data.is_object()) return false;
  const auto function = data.find("function");
  const auto status = data.find("status");
  if (function == data.end() || !function->is_string()) return false;
  if (status == data.end() || !status->is_number_integer()) return false;
  const CallFailed bare(function->get<std::string>(), status->get<int>());
  return std::string_view(error.what()).starts_with(bare.what());
}

}  // namespace

RpcError with_log(const RpcError& error, std::vector<std::string> errors) {
  const std::string message =
      tells_only_the_status(error) ? without_prefix(errors.front()) + " (" + error.what() + ")" : error.what();
  Json data = error.data();
  data["log"] = std::move(errors);
  return {error.code(), message, std::move(data)};
}

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
    outcome.error = std::make_exception_ptr(with_log(error, std::move(errors)));
  } catch (...) {
    // A bug, or the caller's fault: the library has nothing to do with it.
  }
}

}  // namespace rkllm_mcp
