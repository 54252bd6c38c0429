// What HTTP headers repeat of a message, for servers of MCP 2026-07-28.
#pragma once

#include <rkllm_mcp/json.hpp>

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace rkllm_mcp::client {

// The headers Mcp-Param-*: what a server wants repeated of a tool's arguments, as the schemas in its answers to
// tools/list say with "x-mcp-header". Threads: any; one lock guards what has been learnt.
class ParamHeaders {
 public:
  static constexpr std::size_t kMostTools = 1000;  // with such headers; more are not remembered

  // From an answer to tools/list. Anything else teaches nothing.
  void learn(std::string_view answer);
  bool knows(const std::string& tool) const;
  // The headers for a request tools/call: one for each such argument that is given and is text, a number or a boolean.
  std::multimap<std::string, std::string> headers_of(std::string_view call) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Json> schemas_;  // with annotations, by the tool's name
};

// Text from a message as the value of an HTTP header, the way MCP 2026-07-28 wants it in Mcp-Name: as it is if a header
// can carry it, else =?base64?...?=.
std::string header_value(std::string_view text);

}  // namespace rkllm_mcp::client
