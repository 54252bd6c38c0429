#include "fixtures.hpp"

namespace rkllm_mcp::conformance {
namespace {

Json content_of(std::initializer_list<Json> blocks) { return Json{{"content", Json(Json::array_t(blocks))}}; }

Json audio_block() {
  constexpr std::string_view kNoSamples = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";
  return Json{{"type", "audio"}, {"data", kNoSamples}, {"mimeType", "audio/wav"}};
}

// Says the same whoever calls.
mcp::Tool constant_tool(std::string name, std::string description, Json result) {
  return make_tool(std::move(name), std::move(description),
                   [result = std::move(result)](mcp::Invocation& invocation) { invocation.result(result); });
}

// Every keyword in here has to reach the client as it is.
constexpr std::string_view kManyKeywords = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {
    "address": {
      "$anchor": "addressDef",
      "type": "object",
      "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
    }
  },
  "properties": {
    "name": {"type": "string"},
    "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"},
    "email": {"type": "string"}
  },
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false
})";

// An argument that HTTP clients send as a header, too.
constexpr std::string_view kRegion = R"({
  "type": "object",
  "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
  "additionalProperties": false
})";

void tell_arguments(mcp::Invocation& invocation) {
  invocation.result(mcp::text_result("Called with " + invocation.arguments().dump() + "."));
}

}  // namespace

void add_content_tools(mcp::Catalogue& catalogue) {
  catalogue.add(constant_tool("test_simple_text", "Says one text",
                              mcp::text_result("This is a simple text response for testing.")));
  catalogue.add(constant_tool("test_image_content", "Shows an image", content_of({image_block()})));
  catalogue.add(constant_tool("test_audio_content", "Plays nothing, as audio", content_of({audio_block()})));
  catalogue.add(constant_tool(
      "test_embedded_resource", "Holds a document",
      content_of({embedded_block("test://embedded-resource", "text/plain", "This is an embedded resource content.")})));
  catalogue.add(constant_tool("test_multiple_content_types", "Says a text, shows an image, holds a document",
                              content_of({mcp::text_block("Multiple content types test:"), image_block(),
                                          embedded_block("test://mixed-content-resource", "application/json",
                                                         R"({"test":"data","value":123})")})));
  Json failure = mcp::text_result("This tool intentionally returns an error for testing");
  failure["isError"] = true;
  catalogue.add(constant_tool("test_error_handling", "Fails", std::move(failure)));
  catalogue.add(make_tool("json_schema_2020_12_tool", "Has arguments that take many keywords to describe",
                          tell_arguments, Json::parse(kManyKeywords)));
  catalogue.add(
      make_tool("test_x_mcp_header", "Has an argument that is a header, too", tell_arguments, Json::parse(kRegion)));
}

}  // namespace rkllm_mcp::conformance
