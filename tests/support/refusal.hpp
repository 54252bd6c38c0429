// Whether something is refused, and how.
#pragma once

#include <rkllm_mcp/errors.hpp>

#include <functional>
#include <optional>
#include <stdexcept>

namespace rkllm_mcp::test {

// The RpcError that `action` throws. Throws std::logic_error if it throws none.
inline RpcError error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const RpcError& error) {
    return error;
  }
  throw std::logic_error("nothing was refused");
}

// The code of the RpcError that `action` throws; nothing if it throws none.
inline std::optional<ErrorCode> refusal_of(const std::function<void()>& action) {
  try {
    action();
    return std::nullopt;
  } catch (const RpcError& error) {
    return error.code();
  }
}

}  // namespace rkllm_mcp::test
