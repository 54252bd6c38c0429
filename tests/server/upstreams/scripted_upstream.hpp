// Another MCP server that says what the test wants.
#pragma once

#include "clock.hpp"
#include "tests/runtime/client/scripted_connection.hpp"

#include <rkllm_mcp/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace rkllm_mcp::test {

enum class ScriptedEra { kLegacy, kModern };

inline Json plain_tool(const std::string& name) { return {{"name", name}, {"inputSchema", {{"type", "object"}}}}; }

// Greets, and leaves the rest to `answer`.
inline std::function<void(Script&, const Json&)> greeting(ScriptedEra era,
                                                          std::function<void(Script&, const Json&)> answer,
                                                          const Json& capabilities = {
                                                              {"tools", {{"listChanged", true}}}}) {
  return [era, answer = std::move(answer), capabilities](Script& script, const Json& message) {
    const std::string method = message.value("method", "");
    if (method == "server/discover" && era == ScriptedEra::kModern) {
      return script.result(
          message, {{"supportedVersions", {"2026-07-28"}}, {"capabilities", capabilities}, {"resultType", "complete"}});
    }
    if (method == "server/discover") return script.error(message, -32601);
    if (method == "initialize") {
      return script.result(message, {{"protocolVersion", "2025-11-25"},
                                     {"capabilities", capabilities},
                                     {"serverInfo", {{"name", "x"}, {"version", "1"}}}});
    }
    if (message.contains("id")) answer(script, message);
  };
}

// A connection to the script, once.
inline std::function<std::unique_ptr<client::Connection>(Clock::time_point)> once_to(Script& script) {
  return [&script, used = std::make_shared<bool>(false)](Clock::time_point) -> std::unique_ptr<client::Connection> {
    if (std::exchange(*used, true)) throw client::ConnectionError("the script is over");
    return std::make_unique<ScriptedConnection>(script);
  };
}

}  // namespace rkllm_mcp::test
