// Another MCP server that says what the test wants, and an event loop that runs as long as the test waits.
#pragma once

#include "tests/runtime/client/scripted_connection.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
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

class WaitingLoop {
 public:
  asio::io_context& loop() { return loop_; }
  // Runs the loop until that is so.
  template <typename Condition>
  void until(Condition condition, const std::string& complaint) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);  // of a busy machine
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(complaint);
      loop_.run_one_for(std::chrono::milliseconds(5));
    }
  }
  void run_for(std::chrono::milliseconds time) { loop_.run_for(time); }

 private:
  asio::io_context loop_;
  const asio::executor_work_guard<asio::io_context::executor_type> work_{loop_.get_executor()};
};

// A connection to the script, once.
inline std::function<std::unique_ptr<client::Connection>(client::Deadline)> once_to(Script& script) {
  return [&script, used = std::make_shared<bool>(false)](client::Deadline) -> std::unique_ptr<client::Connection> {
    if (std::exchange(*used, true)) throw client::ConnectionError("the script is over");
    return std::make_unique<ScriptedConnection>(script);
  };
}

}  // namespace rkllm_mcp::test
