// A tool of the tool server, in one file: server/tools/offered/NAME.cpp defines
//
//   OfferedTool rkllm_mcp::offered::NAME(const ToolSurroundings&)
//
// and that is all: the build finds the file. (docs/tools.md has the whole story.)
#pragma once

#include "clock.hpp"
#include "immutable.hpp"
#include "settings/settings.hpp"
#include "threads/stop_signal.hpp"
#include "tools/html/page_reading.hpp"
#include "tools/tool_failure.hpp"
#include "tools/web/web_client.hpp"

#include <rkllm_mcp/json.hpp>
#include <rkllm_mcp/method.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rkllm_mcp {

struct ToolAnswer {
  std::string text;  // for models and people
  Json structured;   // for programs: an object, as the tool's output_schema says
};

// One call as the tool sees it.
class ToolRun {
 public:
  using ProgressFunction = std::function<void(double done, std::optional<double> total, std::string message)>;

  ToolRun(StopSignal& stop, ProgressFunction progress) : stop_(stop), progress_(std::move(progress)) {}

  // A tool that waits for a socket gives it to watch(), and asks is_stopped() between two steps that take long.
  StopSignal& stop() { return stop_; }
  void progress(double done, std::optional<double> total, std::string message) {
    if (progress_) progress_(done, total, std::move(message));
  }

 private:
  StopSignal& stop_;
  const ProgressFunction progress_;
};

struct OfferedTool {
  // Whether it asks somebody on the network: such calls are limited (tools.per_minute) and their answers kept for a
  // while (tools.cache_s).
  enum class Reach { kMachine, kNetwork };

  std::string name, title, description;
  Json input_schema;   // what mcp::checked_arguments() understands; arguments are checked before `run` gets them
  Json output_schema;  // of the structured answer
  ToolAnnotations annotations{.read_only = true};
  Reach reach = Reach::kMachine;
  std::string missing{};  // the settings without which it cannot do anything; empty: none. It is listed all the same
  // Runs beside the event loop, on one of tools.workers threads: it may wait, but has to end soon once it is stopped.
  // Throws ToolFailure; InvalidParams for arguments that only it can judge. May be called by several threads at once.
  std::function<ToolAnswer(const Json& arguments, ToolRun& run)> run{};
};

// The schema of a value that may be null. (Some hosts do not take a list of types.)
inline Json or_null_schema(const char* type, const char* description) {
  return Json{{"anyOf", {{{"type", type}}, {{"type", "null"}}}}, {"description", description}};
}

// What tools are made with, and may keep.
struct ToolSurroundings {
  ToolSettings settings;
  Immutable<WebClient> web;
  Immutable<PageReading> pages;
  std::function<std::chrono::system_clock::time_point()> now = time_of_day;
};

// All that there are; made by the build, from the files in offered/, in the order of their names.
std::vector<OfferedTool> offered_tools(const ToolSurroundings& surroundings);

}  // namespace rkllm_mcp
