#include "fixtures.hpp"

#include <rkllm_mcp/errors.hpp>

namespace rkllm_mcp::conformance {
namespace {

constexpr const char* kReply = "reply";

std::string text_argument(const mcp::Invocation& invocation, const char* name) {
  const auto found = invocation.arguments().find(name);
  if (found == invocation.arguments().end() || !found->is_string()) {
    throw InvalidParams(std::string("params.arguments.") + name, "expected string");
  }
  return found->get<std::string>();
}

Json one_text(const char* name, std::string_view description) {
  return Json{{"type", "object"},
              {"properties", {{name, {{"type", "string"}, {"description", description}}}}},
              {"required", Json::array({name})}};
}

void sample(mcp::Invocation& invocation) {
  if (invocation.input(kReply) == nullptr) {
    return invocation.ask({sampling(kReply, text_argument(invocation, "prompt"), 100)});
  }
  invocation.result(mcp::text_result("LLM response: " + sampled_text(invocation, kReply)));
}

// Asks once, and tells what it was told.
void ask_form(mcp::Invocation& invocation, std::string_view message, const Json& properties, const Json& required) {
  const Json* const answer = form_answer(invocation, kReply);
  if (answer == nullptr) return invocation.ask({form(kReply, message, properties, required)});
  invocation.result(mcp::text_result("Elicitation completed: action=" + (*answer)["action"].get<std::string>() +
                                     ", content=" + answer->value("content", Json::object()).dump()));
}

mcp::Tool asking_tool(std::string name, std::string description, std::string_view properties) {
  return make_tool(std::move(name), std::move(description),
                   [wanted = Json::parse(properties)](mcp::Invocation& invocation) {
                     ask_form(invocation, "Please look at these values.", wanted, Json::array());
                   });
}

constexpr std::string_view kContact = R"({
  "username": {"type": "string", "description": "User's response"},
  "email": {"type": "string", "description": "User's email address"}
})";

// SEP-1034: every primitive type may have a default.
constexpr std::string_view kDefaults = R"({
  "name": {"type": "string", "default": "John Doe"},
  "age": {"type": "integer", "default": 30},
  "score": {"type": "number", "default": 95.5},
  "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
  "verified": {"type": "boolean", "default": true}
})";

// SEP-1330: the five ways to offer a choice.
constexpr std::string_view kChoices = R"({
  "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
  "titledSingle": {"type": "string", "oneOf": [
    {"const": "value1", "title": "First Option"},
    {"const": "value2", "title": "Second Option"},
    {"const": "value3", "title": "Third Option"}]},
  "legacyEnum": {"type": "string", "enum": ["opt1", "opt2", "opt3"],
    "enumNames": ["Option One", "Option Two", "Option Three"]},
  "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
  "titledMulti": {"type": "array", "items": {"anyOf": [
    {"const": "value1", "title": "First Choice"},
    {"const": "value2", "title": "Second Choice"},
    {"const": "value3", "title": "Third Choice"}]}}
})";

}  // namespace

void add_asking_tools(mcp::Catalogue& catalogue) {
  catalogue.add(make_tool("test_sampling", "Lets the client's model answer a prompt", sample,
                          one_text("prompt", "What the model is asked")));
  catalogue.add(make_tool(
      "test_elicitation", "Asks the user for a name and an address",
      [wanted = Json::parse(kContact)](mcp::Invocation& invocation) {
        ask_form(invocation, text_argument(invocation, "message"), wanted, Json::array({"username", "email"}));
      },
      one_text("message", "What the user is told")));
  catalogue.add(asking_tool("test_elicitation_sep1034_defaults", "Asks for values that have defaults", kDefaults));
  catalogue.add(asking_tool("test_elicitation_sep1330_enums", "Asks for choices of every kind", kChoices));
}

}  // namespace rkllm_mcp::conformance
