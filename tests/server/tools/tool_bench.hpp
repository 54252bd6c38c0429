// A tool server behind a dispatcher, without sockets of its own: what a client asks, and what it is answered.
#pragma once

#include "mcp/tools/invocation.hpp"
#include "runtime/fake_client.hpp"
#include "support/paths.hpp"
#include "tools/tool_server.hpp"

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace rkllm_mcp::test {

struct ToolBench {
  explicit ToolBench(ToolSettings settings = Settings().tools, ToolServer::Options options = {})
      : tools(client.loop, settings, with_program(std::move(options))) {
    mcp::add_service(client.catalogue, tools.service());
  }

  static ToolServer::Options with_program(ToolServer::Options options) {
    options.program = kProgram;
    return options;
  }

  void send(const std::string& message) {
    client.peer->sent.clear();
    client.receive(std::string_view(message));
  }
  // The next message that the client gets.
  Json receive() {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (client.peer->sent.empty()) {
      client.loop.restart();
      client.loop.run_one_until(deadline);
      if (std::chrono::steady_clock::now() >= deadline) throw std::runtime_error("no answer");
    }
    Json first = Json::parse(client.peer->sent.front());
    client.peer->sent.erase(client.peer->sent.begin());
    return first;
  }
  void run_until(const std::function<bool()>& done) {
    while (!done()) {
      client.loop.restart();
      client.loop.run_one_for(std::chrono::milliseconds(10));
    }
  }

  // In the direct dialect: the result or the error.
  Json call(const std::string& tool, const Json& arguments) {
    send(test::call("1", "tool-server/tools/call", Json{{"name", tool}, {"arguments", arguments}}.dump()));
    Json answer = receive();
    return answer.contains("error") ? answer["error"] : answer["result"];
  }
  std::string text(const std::string& tool, const Json& arguments) {
    const Json result = call(tool, arguments);
    return result.contains("content") ? result["content"][0]["text"].get<std::string>() : result.dump();
  }

  Client client;
  ToolServer tools;
};

// A tool of a test's own.
inline OfferedTool tool_named(const std::string& name, decltype(OfferedTool::run) run) {
  OfferedTool tool;
  tool.name = name;
  tool.input_schema = Json{{"type", "object"}, {"properties", {{"x", {{"type", "integer"}}}}}};
  tool.output_schema = Json{{"type", "object"}};
  tool.run = std::move(run);
  return tool;
}

}  // namespace rkllm_mcp::test
