// One of the tools that there are, without a server around it: what it says of itself, and what it answers.
#pragma once

#include "mcp/tools/invocation.hpp"
#include "support/paths.hpp"
#include "support/web_server.hpp"
#include "tools/offered_tool.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp::test {

struct OfferedBench {
  explicit OfferedBench(const std::string& name, const ToolSettings& settings = Settings().tools,
                        std::chrono::system_clock::time_point now = {})
      : tool(named(name, {settings, Immutable<WebClient>(WebClient(of_loopback())),
                          Immutable<PageReading>(PageReading(kProgram)), [now] { return now; }})) {}

  // With arguments as the tool server has checked them.
  ToolAnswer run(const Json& arguments) {
    ToolRun run(stop, [this](double done, std::optional<double> total, const std::string& message) {
      progress.push_back(Json{done, total ? Json(*total) : Json(), message});
    });
    return tool.run(mcp::checked_arguments(tool.input_schema, arguments), run);
  }
  // The words of the ToolFailure; "none" if there is none.
  std::string failure(const Json& arguments) {
    try {
      run(arguments);
    } catch (const ToolFailure& error) {
      return error.what();
    }
    return "none";
  }

  OfferedTool tool;
  StopSignal stop;
  std::vector<Json> progress;  // [done, total, message]

 private:
  static WebClient::Options of_loopback() {
    WebClient::Options options;
    options.user_agent = "test/1";
    options.allowed = {*IpNetwork::parse("127.0.0.0/8")};
    return options;
  }
  static OfferedTool named(const std::string& name, const ToolSurroundings& surroundings) {
    for (OfferedTool& each : offered_tools(surroundings)) {
      if (each.name == name) return std::move(each);
    }
    throw std::logic_error("no tool " + name);
  }
};

}  // namespace rkllm_mcp::test
