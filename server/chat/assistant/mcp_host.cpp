#include "chat/assistant/mcp_host.hpp"

#include <rkllm_mcp/errors.hpp>

namespace rkllm_mcp::chat {

std::unique_ptr<HostCall> ServerClient::list(const std::string& kind, const Principal& who, mcp::DoneFunction done) {
  return call_method(kind + "/list", Json::object(), who,
                     [kind, server = name(), done = std::move(done)](Json result, const std::exception_ptr& error) {
                       if (error) return done(nullptr, error);
                       if (!result.is_object() || !result.contains(kind) || !result[kind].is_array()) {
                         const RpcError wrong(ErrorCode::kInternalError, server + " gives no list of " + kind);
                         return done(nullptr, std::make_exception_ptr(wrong));
                       }
                       done(std::move(result[kind]), nullptr);
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
