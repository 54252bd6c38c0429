// The error with which a server answers a request, as it came.
#pragma once

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace rkllm_mcp::client {

// Error codes of JSON-RPC; the first is also what this side says in the server's stead.
inline constexpr int kInternalError = static_cast<int>(ErrorCode::kInternalError);
inline constexpr int kMethodNotFound = static_cast<int>(ErrorCode::kMethodNotFound);

struct RemoteError {
  int code;
  std::string message;
  Json data = nullptr;   // null: none
  bool is_lost = false;  // the server has not said this: the connection was lost before it answered
};

// The result of a request, or the error.
using Outcome = std::variant<Json, RemoteError>;

// What a blocking call throws for such an error.
class RemoteRefusal : public std::runtime_error {
 public:
  explicit RemoteRefusal(RemoteError error)
      : std::runtime_error(error.message + " (" + std::to_string(error.code) + ")"), error_(std::move(error)) {}
  const RemoteError& error() const noexcept { return error_; }

 private:
  RemoteError error_;
};

}  // namespace rkllm_mcp::client
