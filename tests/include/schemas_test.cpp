#include "fake_library.hpp"
#include "support/catch.hpp"

#include <rkllm_mcp/abi_sets.hpp>

#include <set>
#include <string>
#include <string_view>
#include <vector>

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

// Codex takes the descriptions out of a tool whose schema is longer, in bytes.
constexpr std::size_t kWhatHostsKeepWhole = 5000;

// What Codex, Gemini, LangChain.js and others take as it is: one type everywhere, and only keywords that all know.
void check_for_hosts(const Json& schema, const std::string& at) {
  INFO(at);
  static const std::set<std::string> kKnown{"type",     "description", "enum",    "items",   "properties",
                                            "required", "default",     "minimum", "maximum", "additionalProperties"};
  for (const auto& [keyword, rule] : schema.items()) {
    INFO(keyword);
    CHECK(kKnown.count(keyword) == 1);
  }
  REQUIRE(schema.at("type").is_string());
  if (schema.contains("enum")) {
    CHECK(schema.at("type") == "string");
    for (const Json& name : schema.at("enum")) CHECK(name.is_string());
  }
  CHECK(schema.contains("items") == (schema.at("type") == "array"));
  if (schema.contains("items")) check_for_hosts(schema.at("items"), at + "[]");
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, member] : properties.items()) check_for_hosts(member, at + "/" + name);
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

TEST_CASE("what lists of tools show is for all hosts") {
  for (const AbiSet* set : kAbiSets) {
    for (const Method& method : set->methods) {
      INFO(set->version << " " << method.name);
      for (const std::string_view text : {method.tool_input_schema, method.tool_output_schema}) {
        const Json schema = Json::parse(text);
        CHECK(schema.at("type") == "object");
        check_for_hosts(schema, "");
      }
      CHECK(Json::parse(method.tool_input_schema).at("additionalProperties") == false);
      CHECK(method.tool_input_schema.size() <= kWhatHostsKeepWhole);
    }
  }
}

TEST_CASE("a tool takes what its method takes, as far as it is shown") {
  for (const AbiSet* set : kAbiSets) {
    for (const Method& method : set->methods) {
      INFO(set->version << " " << method.name);
      const Json whole = Json::parse(method.input_schema);
      const Json shown = Json::parse(method.tool_input_schema);
      CHECK(shown.value("required", Json()) == whole.value("required", Json()));
      for (const auto& [name, property] : whole.at("properties").items()) CHECK(shown.at("properties").contains(name));
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

TEST_CASE("every method is a tool, of the two runs one") {
  std::vector<std::string_view> left_out;
  for (const Method& method : v1_3_0::kAbiSet.methods) {
    if (!method.listed) left_out.push_back(method.name);
  }
  CHECK(left_out == std::vector<std::string_view>{"rkllm_run_async"});
  CHECK(Json::parse(test::method_named("rkllm_createDefaultParam").tool_input_schema) ==
        Json::parse(R"({"type":"object","properties":{},"additionalProperties":false})"));
}
