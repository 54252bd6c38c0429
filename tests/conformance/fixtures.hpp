// What the conformance suite of the Model Context Protocol expects a server under test to have: tools, resources and
// prompts by agreed names, each of which does one thing that the suite looks at.
//
// Nothing here looks at revisions or transports: the library has to see to them.
#pragma once

#include "mcp/catalogue.hpp"
#include "mcp/protocol/mcp_server.hpp"
#include "mcp/tools/invocation.hpp"

#include <rkllm_mcp/json.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace rkllm_mcp::conformance {

// Results with every kind of content. The first tool can be called without arguments, as the suite wants it.
void add_content_tools(mcp::Catalogue& catalogue);
// Tools that take a while: progress, log messages, a stream that ends before its result.
void add_timed_tools(mcp::Catalogue& catalogue, asio::io_context& loop);
// Tools that need something of their client, with the keys and words of the handshake era's scenarios.
void add_asking_tools(mcp::Catalogue& catalogue);
// The same with those of the stateless era's.
void add_input_required_tools(mcp::Catalogue& catalogue);
// Tools that provoke what is hard to see otherwise: refusals, silence, changes of lists.
void add_diagnostic_tools(mcp::Catalogue& catalogue, asio::io_context& loop, mcp::Server& server);
// Tools that go on as tasks.
void add_task_tools(mcp::Catalogue& catalogue, asio::io_context& loop);
void add_resources(mcp::Catalogue& catalogue);
void add_prompts(mcp::Catalogue& catalogue);

// --- what the fixtures share ----------------------------------------------------------------------------------------

// A tool without arguments, unless there is a schema for them.
mcp::Tool make_tool(std::string name, std::string description, mcp::InvokeFunction run, Json input_schema = nullptr);
// Blocks of content; the image is one red pixel.
Json image_block();
Json embedded_block(std::string_view uri, std::string_view mime_type, std::string_view text);

mcp::InputRequest form(std::string key, std::string_view message, Json properties, Json required);
// A form with one text.
mcp::InputRequest question(std::string key, std::string_view message, std::string field);
mcp::InputRequest sampling(std::string key, std::string_view prompt, int max_tokens);
mcp::InputRequest roots(std::string key);

// The client's answer to the form of that key: {"action","content"?}; null if there is none. Throws InvalidParams for
// what is no such answer.
const Json* form_answer(const mcp::Invocation& invocation, std::string_view key);
// A text of an answered form, or what was done in its place: "(decline)".
std::string text_of(const Json& answer, std::string_view field);
// What a model said. Throws InvalidParams for what is no such answer.
std::string sampled_text(const mcp::Invocation& invocation, std::string_view key);

// Calls `then` after `time`, unless the client cancels first. What it throws becomes the invocation's error.
void after(asio::io_context& loop, std::chrono::milliseconds time, mcp::Invocation& invocation,
           std::function<void()> then);

}  // namespace rkllm_mcp::conformance
