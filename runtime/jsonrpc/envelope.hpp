// Packs outgoing JSON-RPC messages as text. Every message is one line: no newline occurs in the text.
#pragma once

#include "jsonrpc/message.hpp"
#include "jsonrpc/unread.hpp"

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

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

}  // namespace rkllm_mcp
