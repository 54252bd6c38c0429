#include "fixtures.hpp"

#include <utility>

namespace rkllm_mcp::conformance {
namespace {

Json from_user(Json content) { return Json{{"role", "user"}, {"content", std::move(content)}}; }

void finish(mcp::Invocation& invocation, std::initializer_list<Json> blocks) {
  Json messages = Json::array();
  for (const Json& block : blocks) messages.push_back(from_user(block));
  invocation.result(Json{{"messages", std::move(messages)}});
}

std::string argument_of(const mcp::Invocation& invocation, const char* name) {
  return invocation.arguments().at(name).get<std::string>();
}

void simple(mcp::Invocation& invocation) {
  finish(invocation, {mcp::text_block("This is a simple prompt for testing.")});
}

void with_arguments(mcp::Invocation& invocation) {
  finish(invocation, {mcp::text_block("Prompt with arguments: arg1='" + argument_of(invocation, "arg1") + "', arg2='" +
                                      argument_of(invocation, "arg2") + "'")});
}

void with_document(mcp::Invocation& invocation) {
  finish(invocation, {embedded_block(argument_of(invocation, "resourceUri"), "text/plain",
                                     "Embedded resource content for testing."),
                      mcp::text_block("Please process the embedded resource above.")});
}

void with_image(mcp::Invocation& invocation) {
  finish(invocation, {image_block(), mcp::text_block("Please analyze the image above.")});
}

void with_context(mcp::Invocation& invocation) {
  const Json* const answer = form_answer(invocation, "user_context");
  if (answer == nullptr) {
    return invocation.ask({question("user_context", "What context should the prompt use?", "context")});
  }
  finish(invocation, {mcp::text_block("Use this context: " + text_of(*answer, "context"))});
}

std::vector<std::string> places(std::string_view /*so_far*/, const Json& /*others*/) {
  return {"paris", "park", "party", "test"};
}

}  // namespace

void add_prompts(mcp::Catalogue& catalogue) {
  catalogue.add(mcp::Prompt{"test_simple_prompt", "", "One message", {}, simple});
  catalogue.add(mcp::Prompt{"test_prompt_with_arguments",
                            "",
                            "A message that takes two values",
                            {{"arg1", "", "The first", true, places}, {"arg2", "", "The second", true}},
                            with_arguments});
  catalogue.add(mcp::Prompt{"test_prompt_with_embedded_resource",
                            "",
                            "A message about a document",
                            {{"resourceUri", "", "The document's address", true}},
                            with_document});
  catalogue.add(mcp::Prompt{"test_prompt_with_image", "", "A message about an image", {}, with_image});
  catalogue.add(
      mcp::Prompt{"test_input_required_result_prompt", "", "A message that asks the user first", {}, with_context});
}

}  // namespace rkllm_mcp::conformance
