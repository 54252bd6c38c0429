// Members of `_meta` that the protocol defines.
#pragma once

namespace rkllm_mcp {

inline constexpr const char* kMetaPrefix = "io.modelcontextprotocol/";  // of all of them but progressToken
inline constexpr const char* kMetaRevision = "io.modelcontextprotocol/protocolVersion";
inline constexpr const char* kMetaCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr const char* kMetaClient = "io.modelcontextprotocol/clientInfo";
inline constexpr const char* kMetaLogLevel = "io.modelcontextprotocol/logLevel";
inline constexpr const char* kMetaServer = "io.modelcontextprotocol/serverInfo";
inline constexpr const char* kMetaSubscription = "io.modelcontextprotocol/subscriptionId";
inline constexpr const char* kTasksExtension = "io.modelcontextprotocol/tasks";

}  // namespace rkllm_mcp
