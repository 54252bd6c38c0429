// What another MCP server may answer to a call of its tool, so that it can be passed on.
#pragma once

#include <rkllm_mcp/errors.hpp>
#include <rkllm_mcp/json.hpp>

#include <string>

namespace rkllm_mcp {

// Whether a member of that name is there and a string.
bool has_text(const Json& object, const char* name);

// Whether it is a complete result whose members are of the types that the protocol gives them.
bool is_tool_result(const Json& result);

// JSON-RPC's own codes and this server's stay; the protocol's are about the way between that server and this one, and
// any other means nothing to our clients: they become an internal error.
ErrorCode passed_on_code(int code);

}  // namespace rkllm_mcp
