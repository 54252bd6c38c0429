// A server of conversations alone, in a place of its own, as clients reach it.
#pragma once

#include "support/http_client.hpp"
#include "support/live_server.hpp"
#include "support/process.hpp"
#include "support/rpc_client.hpp"

#include <string>
#include <vector>

namespace rkllm_mcp::test {

inline LiveServer::Options memory_only(const std::string& database, std::vector<std::string> set = {}) {
  LiveServer::Options options;
  options.runtime = {"--only", "memory-server"};
  options.set = std::move(set);
  for (const char* const transport : {"tcp", "http", "ws", "udp"}) {
    options.set.push_back(std::string(transport) + ".enabled=true");
  }
  options.set.insert(options.set.end(), {"services.port=0", "memory.database=" + database});
  return options;
}

// Its methods, by the names that the documentation has.
inline const std::string kPrefix = "memory-server/memory/";

inline Json of_chat(const std::string& id, Json more = Json::object()) {
  Json params{{"conversation_id", id}};
  params.update(more);
  return params;
}

// The contents of a conversation, in order.
inline std::vector<std::string> contents_there(RpcClient& client, const std::string& id) {
  std::vector<std::string> contents;
  const Json result = client.result(kPrefix + "get_all_messages", of_chat(id));
  for (const Json& message : result["messages"]) contents.push_back(message["content"].get<std::string>());
  return contents;
}

}  // namespace rkllm_mcp::test
