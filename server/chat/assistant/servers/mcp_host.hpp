// The assistant's side of the Model Context Protocol: a host with a client for each server it knows. It also notes in
// which conversations a turn is under way.
//
//   discover (list_tools) → select → call (call_method) → return
//
// Threads: event loop only.
#pragma once

#include "chat/assistant/servers/hosted_server.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rkllm_mcp::chat {

class ServerClient {
 public:
  explicit ServerClient(std::unique_ptr<HostedServer> server) : server_(std::move(server)) {}

  const std::string& name() const { return server_->name(); }
  std::unique_ptr<HostCall> call_method(const std::string& method, const Json& params, const Principal& who,
                                        mcp::DoneFunction done) {
    return server_->call(method, params, who, std::move(done));
  }
  // Gives the array of the server's tools.
  std::unique_ptr<HostCall> list_tools(const Principal& who, mcp::DoneFunction done);

 private:
  const std::unique_ptr<HostedServer> server_;
};

class McpHost {
 public:
  void register_server(std::unique_ptr<HostedServer> server);
  // Null: it knows no such server.
  ServerClient* client(std::string_view server) const;
  std::vector<std::string> servers() const;

  // A turn takes this conversation of that token's holder; false: another turn has it.
  bool begin(const std::string& holder, const std::string& conversation) {
    return under_way_.emplace(holder, conversation).second;
  }
  void end(const std::string& holder, const std::string& conversation) { under_way_.erase({holder, conversation}); }

 private:
  std::map<std::string, std::unique_ptr<ServerClient>, std::less<>> clients_;
  std::set<std::pair<std::string, std::string>> under_way_;
};

}  // namespace rkllm_mcp::chat
