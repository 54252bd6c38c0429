// Packs outgoing JSON-RPC messages, and the errors in them, as text. Every message is one line: no newline occurs in
// the text.
#pragma once

#include "jsonrpc/message.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <exception>
#include <string>
#include <string_view>

namespace rkllm_mcp {

std::string result_message(const RequestId& id, const Json& result);
// A reply in the direct dialect's form for calls that stream, which also names the method.
std::string result_message(const RequestId& id, std::string_view method, const Json& result);
std::string error_message(const RequestId& id, const RpcError& error);
std::string notification_message(std::string_view method, const Json& params = nullptr);
std::string request_message(const RequestId& id, std::string_view method, const Json& params);
// {"code","message","data"?}
Json error_object(const RpcError& error);

// The error that a client sees for `exception`: RpcError as it is, std::bad_alloc as no_memory(), anything else as
// -32603 "internal error: ...". The one place that turns exceptions into wire errors.
RpcError as_rpc_error(const std::exception_ptr& exception);

}  // namespace rkllm_mcp
