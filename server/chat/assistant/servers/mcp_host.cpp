#include "chat/assistant/servers/mcp_host.hpp"

#include <rkllm_mcp/errors.hpp>

namespace rkllm_mcp::chat {

std::unique_ptr<HostCall> ServerClient::list_tools(const Principal& who, mcp::DoneFunction done) {
  return call_method("tools/list", Json::object(), who,
                     [server = name(), done = std::move(done)](Json result, const std::exception_ptr& error) {
                       if (error) return done(nullptr, error);
                       if (!result.is_object() || !result.contains("tools") || !result["tools"].is_array()) {
                         const RpcError wrong(ErrorCode::kInternalError, server + " gives no list of tools");
                         return done(nullptr, std::make_exception_ptr(wrong));
                       }
                       done(std::move(result["tools"]), nullptr);
                     });
}

void McpHost::register_server(std::unique_ptr<HostedServer> server) {
  const std::string name = server->name();
  clients_[name] = std::make_unique<ServerClient>(std::move(server));
}

ServerClient* McpHost::client(std::string_view server) const {
  const auto found = clients_.find(server);
  return found == clients_.end() ? nullptr : found->second.get();
}

std::vector<std::string> McpHost::servers() const {
  std::vector<std::string> names;
  for (const auto& [name, client] : clients_) names.push_back(name);
  return names;
}

}  // namespace rkllm_mcp::chat
