#include "fixtures.hpp"

namespace rkllm_mcp::conformance {
namespace {

using namespace std::chrono_literals;

// The pause shows that messages arrive when they are sent, not with the result.
constexpr auto kBetweenMessages = 50ms;

void log_thrice(asio::io_context& loop, mcp::Invocation& invocation) {
  const auto tell = [invocation = invocation.shared_from_this()](std::string_view text) {
    invocation->log(mcp::Severity::kInfo, "conformance", text);
  };
  tell("Tool execution started");
  after(loop, kBetweenMessages, invocation, [&loop, invocation = invocation.shared_from_this(), tell] {
    tell("Tool processing data");
    after(loop, kBetweenMessages, *invocation, [invocation, tell] {
      tell("Tool execution completed");
      invocation->result(mcp::text_result("Three messages were logged."));
    });
  });
}

void progress_thrice(asio::io_context& loop, mcp::Invocation& invocation) {
  invocation.progress(0, 100, "begun");
  after(loop, kBetweenMessages, invocation, [&loop, invocation = invocation.shared_from_this()] {
    invocation->progress(50, 100, "half done");
    after(loop, kBetweenMessages, *invocation, [&loop, invocation] {
      invocation->progress(100, 100, "all done");
      // The official clients drop an update that they read together with the result.
      after(loop, kBetweenMessages, *invocation,
            [invocation] { invocation->result(mcp::text_result("All is done.")); });
    });
  });
}

// Its stream ends long before its result: the client has to come back.
void release_and_finish(asio::io_context& loop, mcp::Invocation& invocation) {
  invocation.release_stream(200ms);
  after(loop, 100ms, invocation,
        [invocation = invocation.shared_from_this()] { invocation->result(mcp::text_result("You have come back.")); });
}

}  // namespace

void add_timed_tools(mcp::Catalogue& catalogue, asio::io_context& loop) {
  catalogue.add(make_tool("test_tool_with_logging", "Logs three messages",
                          [&loop](mcp::Invocation& invocation) { log_thrice(loop, invocation); }));
  catalogue.add(make_tool("test_tool_with_progress", "Reports progress three times",
                          [&loop](mcp::Invocation& invocation) { progress_thrice(loop, invocation); }));
  catalogue.add(make_tool("test_reconnection", "Lets its client come back for the result",
                          [&loop](mcp::Invocation& invocation) { release_and_finish(loop, invocation); }));
}

}  // namespace rkllm_mcp::conformance
