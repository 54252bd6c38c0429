#include "fake_library.hpp"
#include "support/catch.hpp"

#include <fstream>
#include <string>

using namespace rkllm_mcp;

namespace {

// No reference leaves the schema, and every object says that it holds nothing else.
void check_schema(const Json& schema, const std::string& at) {
  INFO(at);
  if (!schema.is_structured()) return;
  if (schema.is_object()) {
    if (schema.contains("$ref")) CHECK(schema.at("$ref").get<std::string>().rfind("#/$defs/", 0) == 0);
    const bool is_struct = schema.contains("type") && schema.at("type") == "object" && schema.contains("properties");
    if (is_struct) CHECK(schema.value("additionalProperties", true) == false);
  }
  for (const auto& [key, member] : schema.items()) check_schema(member, at + "/" + key);
}

}  // namespace

TEST_CASE("schemas are closed, self-contained, rooted at an object, and on one line") {
  for (const Method& method : v1_3_0::kAbiSet.methods) {
    for (const std::string_view text : {method.input_schema, method.output_schema}) {
      const Json schema = Json::parse(text);
      CHECK(schema.at("type") == "object");
      CHECK(schema.at("additionalProperties") == false);
      CHECK(text.find('\n') == std::string_view::npos);
      check_schema(schema, std::string(method.name));
    }
  }
}

TEST_CASE("the schema of a method has its parameters, in their order, and the options of streams") {
  for (const Method& method : v1_3_0::kAbiSet.methods) {
    INFO(method.name);
    std::vector<std::string> wanted(method.params.begin(), method.params.end());
    if (method.streams) wanted.insert(wanted.end(), {"include", "encoding", "progress_message"});
    std::vector<std::string> names;
    const Json properties = Json::parse(method.input_schema).at("properties");
    for (const auto& [name, property] : properties.items()) names.push_back(name);
    CHECK(names == wanted);
  }
}

TEST_CASE("every property of a schema is described") {
  const Json schema = Json::parse(test::method_named("rkllm_init").input_schema);
  const Json param = schema.at("properties").at("param");
  for (const auto& [name, property] : param.at("properties").items()) {
    INFO(name);
    CHECK_FALSE(property.value("description", "").empty());
  }
}

TEST_CASE("the complete answer of a run is described") {
  const Json schema = Json::parse(test::method_named("rkllm_run_async").output_schema);
  CHECK(schema.at("required") == Json({"status", "text", "state"}));
  CHECK(schema.at("properties").at("state").at("enum") == Json({"RKLLM_RUN_FINISH", "RKLLM_RUN_ERROR"}));
  for (const char* name : {"perf", "aborted", "token_ids", "texts", "last_hidden_layer", "logits"}) {
    CHECK(schema.at("properties").contains(name));
  }
}

TEST_CASE("tools.json holds what the method table holds") {
  std::ifstream file(TOOLS_FILE);
  const Json tools = Json::parse(file).at("tools");
  REQUIRE(tools.size() == v1_3_0::kAbiSet.methods.size());
  for (std::size_t i = 0; i < tools.size(); ++i) {
    const Method& method = v1_3_0::kAbiSet.methods[i];
    CHECK(tools[i].at("name") == method.name);
    CHECK(tools[i].at("title") == method.title);
    CHECK(tools[i].at("description") == method.description);
    CHECK(tools[i].at("inputSchema") == Json::parse(method.input_schema));
    CHECK(tools[i].at("outputSchema") == Json::parse(method.output_schema));
    CHECK(tools[i].at("annotations").at("readOnlyHint") == method.annotations.read_only);
    CHECK(tools[i].at("annotations").at("destructiveHint") == method.annotations.destructive);
  }
  CHECK(tools[0].at("inputSchema") == Json::parse(R"({"type":"object","properties":{},"additionalProperties":false})"));
}
