// Names that client and server agree on: members of `_meta`, and HTTP headers.
#pragma once

#include <string_view>

namespace rkllm_mcp::mcp {

// Members of `_meta` that the protocol defines.

inline constexpr const char* kMetaPrefix = "io.modelcontextprotocol/";  // of all these members but progressToken
inline constexpr const char* kMetaRevision = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* kMetaClient = "io.modelcontextprotocol/clientInfo";
inline constexpr const char* kMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr const char* kMetaServer = "io.modelcontextprotocol/serverInfo";
inline constexpr const char* kMetaSubscription = "io.modelcontextprotocol/subscriptionId";
inline constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";

// The HTTP header that names the session, in the revisions that have sessions.
inline constexpr const char* kSessionHeader = "Mcp-Session-Id";

// The HTTP headers by which a request of the stateless era repeats parts of its message, for those on the way who do
// not read bodies.

inline constexpr const char* kRevisionHeader = "MCP-Protocol-Version";
inline constexpr const char* kMethodHeader = "Mcp-Method";
inline constexpr const char* kNameHeader = "Mcp-Name";
inline constexpr const char* kParamHeaderStart = "Mcp-Param-";
// In a tool's schema: the property is repeated by the header of that name, after kParamHeaderStart.
inline constexpr const char* kParamAnnotation = "x-mcp-header";

// Around a value in base64, for what a header cannot carry as it is.
inline constexpr std::string_view kEncodedStart = "=?base64?";
inline constexpr std::string_view kEncodedEnd = "?=";

// The member of the params that kNameHeader repeats; null if the method has none.
constexpr const char* named_param(std::string_view method) {
  if (method == "tools/call" || method == "prompts/get") return "name";
  if (method == "resources/read") return "uri";
  if (method == "tasks/get" || method == "tasks/update" || method == "tasks/cancel") return "taskId";
  return nullptr;
}

}  // namespace rkllm_mcp::mcp
