// The one place that turns exceptions into wire errors.
#pragma once

#include <rkllm_mcp/errors.hpp>

#include <exception>

namespace rkllm_mcp {

// The error that a client sees for `exception`: RpcError as it is, anything else as -32603 "internal error: ...".
RpcError as_rpc_error(const std::exception_ptr& exception);

}  // namespace rkllm_mcp
