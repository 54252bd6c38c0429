// The tool server: runs the tools of offered/ beside the event loop, with a limit of time, answers that are kept, and a
// limit of how often the network is asked; what went wrong is a result with "isError" that says why.
//
// Event loop only, but for end().
#pragma once

#include "clock.hpp"
#include "immutable.hpp"
#include "mcp/service.hpp"
#include "run_loop.hpp"
#include "settings/settings.hpp"
#include "threads/fair_threads.hpp"
#include "tools/answer_cache.hpp"
#include "tools/offered_tool.hpp"
#include "tools/rate_limit.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace rkllm_mcp {

inline constexpr std::string_view kToolServerName = "tool-server";

class ToolServer {
 public:
  // What tests replace.
  struct Options {
    std::string program = "/proc/self/exe";  // that reads pages, see PageReading
    std::chrono::seconds page_computing = PageReading::kComputing;
    ResolveFunction resolve = resolve_by_system;
    std::function<Clock::time_point()> clock = Clock::now;
    std::function<std::chrono::system_clock::time_point()> wall_clock = time_of_day;
    std::vector<OfferedTool> more{};  // beside those that there are
  };

  ToolServer(asio::io_context& loop, const ToolSettings& settings) : ToolServer(loop, settings, Options()) {}
  ToolServer(asio::io_context& loop, const ToolSettings& settings, Options options);
  ToolServer(const ToolServer&) = delete;
  ToolServer& operator=(const ToolServer&) = delete;
  ~ToolServer();

  const Immutable<mcp::Service>& service() const { return service_; }
  // Calls under way are told to stop, and end as failed; none is begun any more.
  void stop();
  // After stop(): waits until nothing is done any more; false if that takes too long, since the system is looking up a
  // name, say. Any thread.
  bool end(Clock::time_point deadline) { return threads_.end(deadline); }

 private:
  class Call;

  void start(const OfferedTool& tool, mcp::Invocation& invocation);
  void begin(const OfferedTool& tool, const Json& arguments, mcp::Invocation& invocation);
  mcp::Service make_service();
  mcp::Tool served(std::size_t index);

  asio::io_context& loop_;
  const ToolSettings settings_;
  const Options options_;
  const std::vector<OfferedTool> tools_;
  const WayToLoop way_to_loop_;  // of the threads, which may outlive this
  AnswerCache cache_;
  RateLimit limit_;
  FairThreads threads_;
  std::set<std::shared_ptr<Call>> calls_;  // that have not been answered yet
  bool stopping_ = false;
  const Immutable<mcp::Service> service_;
};

}  // namespace rkllm_mcp
