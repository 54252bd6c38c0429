#include "fixtures.hpp"

#include <algorithm>

namespace rkllm_mcp::conformance {
namespace {

using namespace std::chrono_literals;

void need_sampling(mcp::Invocation& invocation) {
  if (invocation.input("reply") == nullptr) return invocation.ask({sampling("reply", "Say something.", 10)});
  invocation.result(mcp::text_result(sampled_text(invocation, "reply")));
}

// Asks in the middle of a stream, where a handshake would have allowed a request to the client.
void ask_while_streaming(asio::io_context& loop, mcp::Invocation& invocation) {
  const Json* const answer = form_answer(invocation, "user_name");
  if (answer != nullptr) return invocation.result(mcp::text_result("Hello, " + text_of(*answer, "name") + "!"));
  invocation.progress(1, 2, "about to ask");
  after(loop, 50ms, invocation, [invocation = invocation.shared_from_this()] {
    invocation->ask({question("user_name", "What is your name?", "name")});
  });
}

// Heard by nobody who has not asked for log messages.
void log_every_severity(mcp::Invocation& invocation) {
  for (const auto name : mcp::kSeverityNames) {
    invocation.log(mcp::severity_named(name).value(), "conformance", "A message of severity " + std::string(name));
  }
  invocation.result(mcp::text_result("Messages of every severity were logged."));
}

// Takes the entry of that name out of the list; false if there is none.
template <class Entries>
bool remove(Entries& entries, std::string_view name) {
  return std::erase_if(entries, [name](const auto& each) { return each->name == name; }) > 0;
}

// Each call makes the list another one: the entry comes, or goes.
void change_tools(mcp::Catalogue& catalogue, mcp::Server& server, mcp::Invocation& invocation) {
  constexpr const char* kName = "test_changing_tool";
  if (!remove(catalogue.tools, kName)) {
    catalogue.add(
        make_tool(kName, "Comes and goes", [](mcp::Invocation& each) { each.result(mcp::text_result("here")); }));
  }
  server.announce(mcp::Listed::kTools);
  invocation.result(mcp::text_result("The tools have changed."));
}

void change_prompts(mcp::Catalogue& catalogue, mcp::Server& server, mcp::Invocation& invocation) {
  constexpr const char* kName = "test_changing_prompt";
  if (!remove(catalogue.prompts, kName)) {
    catalogue.add(mcp::Prompt{kName, "", "Comes and goes", {}, [](mcp::Invocation& each) {
                                each.result(Json{{"messages", Json::array()}});
                              }});
  }
  server.announce(mcp::Listed::kPrompts);
  invocation.result(mcp::text_result("The prompts have changed."));
}

}  // namespace

void add_diagnostic_tools(mcp::Catalogue& catalogue, asio::io_context& loop, mcp::Server& server) {
  catalogue.add(make_tool("test_missing_capability", "Needs a client with a model", need_sampling));
  catalogue.add(make_tool("test_streaming_elicitation", "Asks after it has begun to answer",
                          [&loop](mcp::Invocation& invocation) { ask_while_streaming(loop, invocation); }));
  catalogue.add(make_tool("test_logging_tool", "Logs a message of every severity", log_every_severity));
  catalogue.add(
      make_tool("test_trigger_tool_change", "Changes the list of tools",
                [&catalogue, &server](mcp::Invocation& invocation) { change_tools(catalogue, server, invocation); }));
  catalogue.add(
      make_tool("test_trigger_prompt_change", "Changes the list of prompts",
                [&catalogue, &server](mcp::Invocation& invocation) { change_prompts(catalogue, server, invocation); }));
}

}  // namespace rkllm_mcp::conformance
